package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

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

// DSN returns the address of ClickHouse's own port as a data source name, password included. It is
// for programs that cannot use the socket: unlike that, a port is no proof of who listens on it.
func (e Endpoint) DSN(database string) string {
	u := url.URL{Scheme: "clickhouse", User: url.UserPassword(e.User, e.Password), Host: e.Addr(), Path: "/" + database}
	return u.String()
}

// Running returns the endpoint of the engine that runs in dir, or nil when none does. It costs two
// system calls and no connection: an engine that is about to end may still be reported, so a caller
// that then fails to connect asks again through [Start], which also replaces an engine of an older
// windlass; that one is not reported.
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

// lockHeld reports whether another process holds path exclusively.
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

// maxEndpoint bounds the endpoint file, which has some hundred bytes.
const maxEndpoint = 1 << 16

// readEndpoint returns nil when there is no endpoint file.
func readEndpoint(dir string) (*Endpoint, error) {
	b, err := source.ReadFile(filepath.Join(dir, endpointFile), maxEndpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there need not be one
	}
	if err != nil {
		return nil, fmt.Errorf("read the engine's endpoint: %w", err)
	}
	var e Endpoint
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, fmt.Errorf("read the engine's endpoint %s: %w", filepath.Join(dir, endpointFile), err)
	}
	return &e, nil
}

func writeEndpoint(dir string, e Endpoint) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode the engine's endpoint: %w", err)
	}
	return writePrivate(filepath.Join(dir, endpointFile), b)
}

// writePrivate writes a file that only its owner can read.
func writePrivate(path string, content []byte) error {
	if err := wholefile.Write(path, content, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
