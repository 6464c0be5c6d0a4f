// Package figures has what the screens of all sessions show: lists of runs, what they cost and what was saved. Each figure of
// ClickHouse comes from a statement that a person can copy: it is of the documented views, and has its values in it.
//
//   - ask.go, text.go: statements, and their rows.
//   - runs.go, here.go: lists of runs, those of this machine among them.
//   - costs.go, budgets.go, versions.go: money.
package figures

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
)

// Desk answers questions about all sessions of an archive. It is safe for concurrent use.
type Desk struct {
	archive *archive.Archive

	mu   sync.Mutex
	seen map[string]seen // what journals came to that were read, by session
}

// New returns a desk.
func New(a *archive.Archive) *Desk { return &Desk{archive: a, seen: map[string]seen{}} }

// ErrNoDatabase says that the archive has no ClickHouse.
var ErrNoDatabase = errors.New("this server runs without ClickHouse")

// ask returns the rows of a statement. The columns are the members of T in JSON.
func ask[T any](ctx context.Context, d *Desk, statement string) (rows []T, err error) {
	if d.archive.Database == nil {
		return nil, ErrNoDatabase
	}
	err = d.archive.Database(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
		rows, err = Rows[T](ctx, db, statement)
		return err
	})
	return rows, err
}

// Rows returns the rows of a statement that only reads. The columns are the members of T in JSON.
func Rows[T any](ctx context.Context, db *clickhouse.DB, statement string) (out []T, err error) {
	rows, err := db.Query(ctx, statement, clickhouse.QueryOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var buf []byte
	for rows.Next() {
		values, err := rows.Row()
		if err != nil {
			return nil, err
		}
		buf = object(buf[:0], rows.Columns, values)
		var row T
		if err := json.Unmarshal(buf, &row); err != nil {
			return nil, fmt.Errorf("read a row: %w", err)
		}
		out = append(out, row)
	}
	return out, nil
}

// object appends a row in JSON, with times in the form that JSON has for them.
func object(to []byte, columns []clickhouse.Column, values []clickhouse.Value) []byte {
	to = append(to, '{')
	for i, c := range columns {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(echo.AppendString(to, c.Name), ':')
		if strings.HasPrefix(c.Type, "DateTime64(") {
			to = echo.AppendString(to, strings.Replace(values[i].String(), " ", "T", 1)+"Z")
			continue
		}
		to = values[i].AppendJSON(to)
	}
	return append(to, '}')
}
