package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/vault"
)

// EnvDSN names the variable with the DSN of a ClickHouse server.
const envDSN = "WINDLASS_CLICKHOUSE_DSN"

// databaseOptions says which ClickHouse a command works with: the server of the environment, else that of
// windlass.json, else the embedded engine.
func databaseOptions(home string, cfg *config.Config) (clickhouse.Options, error) {
	cache, err := config.CacheDir()
	if err != nil {
		return clickhouse.Options{}, err
	}
	dsn := vault.Getenv(envDSN)
	if dsn == "" {
		dsn = cfg.ClickHouseDSN
	}
	return clickhouse.Options{DSN: dsn, Home: home, CacheDir: cache, RequireSandbox: cfg.RequireSandbox}, nil
}

// database is ClickHouse as a run uses it: opened once, in the background, while the run already goes on.
type database struct {
	options clickhouse.Options
	cancel  context.CancelFunc // ends the first attempt
	ready   chan struct{}      // closed when the first attempt has ended
	first   sync.Once          // hands the outcome of that attempt to the sink
	db      *clickhouse.DB
	err     error
	warning string // what a person should know of the engine that was started; valid when ready is closed
}

// openDatabase begins to open ClickHouse. The end of ctx does not end that: also an interrupted run has rows to deliver.
func openDatabase(ctx context.Context, o clickhouse.Options) *database {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d := &database{options: o, cancel: cancel, ready: make(chan struct{})}
	go func() {
		defer close(d.ready)
		o.Warn = func(text string) { d.warning = text }
		d.db, d.err = clickhouse.Open(ctx, o)
	}()
	return d
}

// open is what the sink calls. The first call gets what was begun; later ones try again.
func (d *database) open(ctx context.Context) (db *clickhouse.DB, err error) {
	again := true
	d.first.Do(func() {
		again = false
		select {
		case <-d.ready:
			db, err = d.db, d.err
		case <-ctx.Done():
			err = ctx.Err()
		}
	})
	if again {
		return clickhouse.Open(ctx, d.options)
	}
	return db, err
}

// another opens ClickHouse for a use beside the sink's, once the first attempt has ended: so that one starts the engine.
func (d *database) another(ctx context.Context) (*clickhouse.DB, error) {
	select {
	case <-d.ready:
		return clickhouse.Open(ctx, d.options)
	case <-ctx.Done():
		return nil, fmt.Errorf("open ClickHouse: %w", ctx.Err())
	}
}

// close ends what is still under way, after the sink has ended.
func (d *database) close() error {
	d.cancel()
	<-d.ready
	var err error
	d.first.Do(func() {
		if d.db != nil {
			err = d.db.Close()
		}
	})
	return err
}

// settleTime is how long a run waits for ClickHouse to open before it begins. A running engine answers within it; a
// cold one, or a server that is away, is waited for behind the run.
const settleTime = 300 * time.Millisecond

// settle waits for the first attempt: shortly, or as long as an engine is being fetched, which happens once. Who
// interrupts that does not want to wait for it.
func (d *database) settle(ctx context.Context, fetching func() bool) {
	t := time.NewTicker(settleTime)
	defer t.Stop()
	for {
		select {
		case <-d.ready:
			return
		case <-ctx.Done():
			if fetching() {
				d.cancel()
			}
			return
		case <-t.C:
			if !fetching() {
				return
			}
		}
	}
}

// sessionQuerier answers the SQL of models: as a user that can read the rows of one session and nothing else. The
// reader is made when the first query comes. Its queries run one at a time.
type sessionQuerier struct {
	options clickhouse.Options

	mu     sync.Mutex
	db     *clickhouse.DB
	reader *clickhouse.Reader
}

// QuerySession implements tool.Querier. A database that was lost since the query before is opened again, once.
func (q *sessionQuerier) QuerySession(ctx context.Context, sessionID, sql string) ([]string, [][]any, error) {
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

// open makes the reader if there is none. The caller holds the mutex.
func (q *sessionQuerier) open(ctx context.Context, sessionID string) error {
	if q.reader != nil {
		return nil
	}
	db, err := clickhouse.Open(ctx, q.options)
	if err != nil {
		return fmt.Errorf("open ClickHouse: %w", err)
	}
	reader, err := db.SessionReader(ctx, sessionID)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	q.db, q.reader = db, reader
	return nil
}

// Close drops the user that was made. What is left of a database that was lost went with it, or is dropped by a later run.
func (q *sessionQuerier) Close(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.shut(ctx)
	if clickhouse.IsLost(err) {
		return nil
	}
	return err
}

// shut closes the reader, if there is one. The caller holds the mutex.
func (q *sessionQuerier) shut(ctx context.Context) error {
	if q.reader == nil {
		return nil
	}
	err := q.reader.Close(ctx)
	q.reader = nil
	return errors.Join(err, q.db.Close())
}
