package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// The files of an engine folder.
const (
	endpointFile  = "endpoint.json"
	socketFile    = "engine.sock"
	runLockFile   = "run.lock"
	startLockFile = "start.lock"
	logFile       = "engine.log"
	configFile    = "config.xml"
	usersFile     = "users.xml"
	dataDir       = "data"
)

// Endpoint is where a running engine is reached. Password is a secret.
type Endpoint struct {
	Socket   string `json:"socket"` // the path that windlass connects to; only the owner's processes can
	Host     string `json:"host"`   // where ClickHouse itself listens
	Port     int    `json:"port"`
	PID      int    `json:"pid"` // of the engine process
	User     string `json:"user"`
	Password string `json:"password"`
	Version  string `json:"version"` // of ClickHouse
	Engine   string `json:"engine"`  // path of the library or the binary

	Started bool `json:"-"` // by the call of [Start] that returned it
}

// Addr returns host:port.
func (e Endpoint) Addr() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// EndpointPath returns the path of the file, for its owner only, that has the endpoint of the engine in
// a folder as JSON.
func EndpointPath(dir string) string { return filepath.Join(dir, endpointFile) }

// Running returns the endpoint of the engine that runs in dir, nil when none or one of an older
// windlass does. It does not connect: who then cannot connect, as the engine ends, calls [Start].
func Running(dir string) (*Endpoint, error) {
	alive, err := lockHeld(filepath.Join(dir, runLockFile))
	if err != nil || !alive {
		return nil, err
	}
	e, err := readEndpoint(dir)
	if err != nil || e == nil || e.isOlder() {
		return nil, err
	}
	return e, nil
}

// isOlder reports whether a windlass wrote the endpoint whose engines have no socket.
func (e Endpoint) isOlder() bool { return e.Socket == "" }

func lockHeld(path string) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY|source.NonBlock))
	free, err := l.TryRLock()
	if err != nil {
		return false, fmt.Errorf("look at the engine's lock: %w", err)
	}
	if free {
		return false, l.Unlock()
	}
	return true, nil
}

const maxEndpoint = 1 << 16

func readEndpoint(dir string) (*Endpoint, error) {
	b, err := source.ReadFile(EndpointPath(dir), maxEndpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there need not be one
	}
	if err != nil {
		return nil, fmt.Errorf("read the engine's endpoint: %w", err)
	}
	var e Endpoint
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, fmt.Errorf("read the engine's endpoint %s: %w", EndpointPath(dir), err)
	}
	return &e, nil
}

func writeEndpoint(dir string, e Endpoint) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode the engine's endpoint: %w", err)
	}
	return writePrivate(EndpointPath(dir), b)
}

func writePrivate(path string, content []byte) error {
	if err := wholefile.Write(path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// askTimeout is how long an engine that runs may take to answer.
const askTimeout = 2 * time.Second

// Dial connects to the engine, and sends nothing to a process of another user in its place.
func (e Endpoint) Dial(ctx context.Context) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", e.Socket)
	if err != nil {
		return nil, err
	}
	if err := checkPeer(c.(*net.UnixConn)); err != nil { //nolint:forcetypeassert // it was dialled as one
		_ = c.Close()
		return nil, fmt.Errorf("connect to %s: %w", e.Socket, err)
	}
	return c, nil
}

// checkPeer returns an error when the process at the other end is not this user's.
func checkPeer(c *net.UnixConn) error {
	uid, err := peerUser(c)
	if err != nil {
		return fmt.Errorf("find out whose process is at the other end: %w", err)
	}
	if own := os.Geteuid(); int64(uid) != int64(own) {
		return fmt.Errorf("the process at the other end belongs to user %d, not to user %d who asks: nothing was sent to it", uid, own)
	}
	return nil
}

// Options returns how to connect to the engine as its full user, through its socket.
func (e Endpoint) Options() *clickhouse.Options {
	return &clickhouse.Options{
		Addr:        []string{e.Addr()},
		Auth:        clickhouse.Auth{Username: e.User, Password: e.Password},
		DialContext: func(ctx context.Context, _ string) (net.Conn, error) { return e.Dial(ctx) },
	}
}

func askOptions(e Endpoint) *clickhouse.Options {
	o := e.Options()
	o.DialTimeout, o.ReadTimeout = askTimeout, 10*time.Second
	o.MaxOpenConns, o.MaxIdleConns = 1, 1
	return o
}

func connect(e Endpoint) (clickhouse.Conn, error) { return clickhouse.Open(askOptions(e)) }

// ping fails unless an engine answers at e and knows its password.
func ping(ctx context.Context, e Endpoint) error { return pingWith(ctx, askOptions(e)) }

// pingPort fails unless ClickHouse answers at its port. For the engine process only: see holdPort.
func pingPort(ctx context.Context, e Endpoint) error {
	o := askOptions(e)
	o.DialContext, o.DialTimeout, o.ReadTimeout = nil, probeTimeout, probeTimeout
	return pingWith(ctx, o)
}

func pingWith(ctx context.Context, o *clickhouse.Options) error {
	c, err := clickhouse.Open(o)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
	defer cancel()
	return c.Ping(ctx)
}
