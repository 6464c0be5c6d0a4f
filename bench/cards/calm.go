package main

import (
	"context"
	"errors"
	"fmt"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

// calm keeps ClickHouse from merging what the runs before have written while the next one is measured: on the same two
// cores that would be most of what differs between runs. So that parts do not pile up, the tables are emptied between
// rounds.
type calm struct {
	conn   driver.Conn
	tables []string
}

func newCalm(ctx context.Context, db *clickhouse.DB, o clickhouse.Options) (*calm, error) {
	conn, err := connect(db, o)
	if err != nil {
		return nil, err
	}
	c := &calm{conn: conn}
	const query = "SELECT name FROM system.tables WHERE database = ? AND engine LIKE '%MergeTree' AND name NOT LIKE '%migration%'"
	var rows []struct {
		Name string `ch:"name"`
	}
	err = conn.Select(ctx, &rows, query, o.Database)
	if err == nil && len(rows) == 0 {
		err = errors.New("it has no tables")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("list the tables of %s: %w", o.Database, err), conn.Close())
	}
	for _, r := range rows {
		c.tables = append(c.tables, "`"+o.Database+"`.`"+r.Name+"`")
	}
	return c, c.each(ctx, "SYSTEM STOP MERGES ")
}

func (c *calm) empty(ctx context.Context) error { return c.each(ctx, "TRUNCATE TABLE ") }

func (c *calm) end(ctx context.Context) error {
	return errors.Join(c.each(ctx, "SYSTEM START MERGES "), c.conn.Close())
}

func (c *calm) each(ctx context.Context, statement string) error {
	for _, t := range c.tables {
		if err := c.conn.Exec(ctx, statement+t); err != nil {
			return fmt.Errorf("%s%s: %w", statement, t, err)
		}
	}
	return nil
}
