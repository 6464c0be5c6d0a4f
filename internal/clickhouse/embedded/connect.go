package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// connect opens one connection to the engine as its full user.
func connect(e Endpoint) (clickhouse.Conn, error) {
	return clickhouse.Open(&clickhouse.Options{
		Addr:         []string{e.Addr()},
		Auth:         clickhouse.Auth{Username: e.User, Password: e.Password},
		DialTimeout:  2 * time.Second,
		ReadTimeout:  10 * time.Second,
		MaxOpenConns: 1,
		MaxIdleConns: 1,
	})
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
		return fmt.Errorf("ask the engine at %s: %w", e.Addr(), err)
	}
	return nil
}
