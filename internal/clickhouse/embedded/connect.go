package embedded

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// askTimeout is how long an engine that runs may take to answer.
const askTimeout = 2 * time.Second

// Dial connects to the engine, and to no process of another user: nothing is sent to that.
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

// askOptions is how the engine is asked whether it is well.
func askOptions(e Endpoint) *clickhouse.Options {
	o := e.Options()
	o.DialTimeout, o.ReadTimeout = askTimeout, 10*time.Second
	o.MaxOpenConns, o.MaxIdleConns = 1, 1
	return o
}

// connect opens one connection to the engine as its full user.
func connect(e Endpoint) (clickhouse.Conn, error) { return clickhouse.Open(askOptions(e)) }

// ping fails unless an engine answers at e and knows its password.
func ping(ctx context.Context, e Endpoint) error { return pingWith(ctx, askOptions(e)) }

// pingPort fails unless ClickHouse answers at its own port. Only the engine process may use it,
// which holds the port: see holdPort.
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
