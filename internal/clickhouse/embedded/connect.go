package embedded

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Dial connects to the engine. It returns a connection only to a process of this user, so that nothing is sent to anyone
// else: neither the password nor the rows of a run.
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

// connect opens one connection to the engine as its full user.
func connect(e Endpoint) (clickhouse.Conn, error) {
	return clickhouse.Open(&clickhouse.Options{
		Addr:         []string{e.Addr()},
		Auth:         clickhouse.Auth{Username: e.User, Password: e.Password},
		DialContext:  func(ctx context.Context, _ string) (net.Conn, error) { return e.Dial(ctx) },
		DialTimeout:  2 * time.Second,
		ReadTimeout:  10 * time.Second,
		MaxOpenConns: 1,
		MaxIdleConns: 1,
	})
}

// pingPort reports whether ClickHouse answers at its own port. Only the engine process may use it, which holds the port: see
// holdPort.
func (e Endpoint) pingPort(ctx context.Context) error {
	c, err := clickhouse.Open(&clickhouse.Options{
		Addr: []string{e.Addr()}, Auth: clickhouse.Auth{Username: e.User, Password: e.Password},
		DialTimeout: probeTimeout, ReadTimeout: probeTimeout, MaxOpenConns: 1,
	})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return c.Ping(ctx)
}

// ping reports whether an engine answers at e and knows its password.
func ping(ctx context.Context, e Endpoint) error {
	c, err := connect(e)
	if err != nil {
		return fmt.Errorf("connect to the engine: %w", err)
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := c.Ping(ctx); err != nil {
		return fmt.Errorf("ask the engine at %s: %w", e.Socket, err)
	}
	return nil
}
