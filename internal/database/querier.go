package database

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

// Querier answers the SQL of models: as a user that can read the rows of one session and nothing
// else. The reader is made when the first query comes. Its queries run one at a time.
type Querier struct {
	pool *Pool

	mu     sync.Mutex
	handle *Handle // nil: nothing was asked yet
	reader *clickhouse.Reader
}

// NewQuerier returns a querier that must be closed. It opens nothing yet.
func NewQuerier(p *Pool) *Querier { return &Querier{pool: p} }

// QuerySession answers a query about a session. A lost database is opened again, once.
func (q *Querier) QuerySession(ctx context.Context, sessionID, sql string) ([]string, [][]any, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	fresh := q.reader == nil
	if err := q.open(ctx, sessionID); err != nil {
		return nil, nil, err
	}
	columns, rows, err := q.reader.Query(ctx, sql)
	if fresh || !clickhouse.IsLost(err) {
		return columns, rows, err
	}
	_ = q.shut(ctx) // it fails, too: nobody is there
	if err := q.open(ctx, sessionID); err != nil {
		return nil, nil, err
	}
	return q.reader.Query(ctx, sql)
}

func (q *Querier) open(ctx context.Context, sessionID string) error {
	if q.reader != nil {
		return nil
	}
	if q.handle == nil {
		q.handle = q.pool.Open()
	}
	db, err := q.handle.DB(ctx)
	if err != nil {
		return fmt.Errorf("open ClickHouse: %w", err)
	}
	reader, err := db.SessionReader(ctx, sessionID)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	q.reader = reader
	return db.Close()
}

// Close drops the user that was made. A lost database has lost it, or a later run drops it.
func (q *Querier) Close(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.shut(ctx)
	if clickhouse.IsLost(err) {
		return nil
	}
	return err
}

// shut closes the reader, if there is one. The caller holds the mutex.
func (q *Querier) shut(ctx context.Context) error {
	if q.reader == nil {
		return nil
	}
	err := q.reader.Close(ctx)
	q.reader = nil
	return err
}
