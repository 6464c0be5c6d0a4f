// Package clickhouse stores what runs did where it can be queried, and queries it: on a server or
// cluster named by a DSN, or in the private engine of this machine (package embedded).
//
// Delivery is at least once and in order; rows are idempotent. A [Sink] never holds a run up. What
// it has not delivered when it is closed, [DB.Ship] delivers later from the journal.
package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/sandbox"
)

// DB is an open database with the current schema. It is safe for concurrent use.
type DB struct {
	conn     driver.Conn
	layout   layout
	target   target
	endpoint *embedded.Endpoint // nil for a server
	dir      string             // of the embedded engine
	reading  driver.Conn        // of the user that may only read: on a server the same as conn
	warm     sync.WaitGroup     // opens the first of these ahead
	shares   atomic.Int32       // how many users there are besides the first
	joint    joint              // of the sinks
}

// EngineDir returns the folder of the embedded engine below home.
func EngineDir(home string) string { return filepath.Join(home, "clickhouse") }

// Open connects to the database, and makes it with its schema when it does not exist. Without a DSN
// it finds, fetches and starts the embedded engine as needed. The error is an [UnavailableError],
// an [embedded.NotFoundError], a [NewerSchemaError] or an [OldSchemaError].
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.DSN != "" {
		t, err := parseDSN(o.DSN, o.Database)
		if err != nil {
			return nil, err
		}
		return openTarget(ctx, t)
	}
	return openEmbedded(ctx, o)
}

// openEmbedded first tries the engine that runs, which may end meanwhile.
func openEmbedded(ctx context.Context, o Options) (*DB, error) {
	dir := EngineDir(o.Home)
	missing := sandbox.Missing()
	if o.RequireSandbox && len(missing) > 0 {
		return nil, &UnconfinedError{Missing: missing}
	}
	if e, err := embedded.Running(dir); err == nil && e != nil {
		db, err := openEndpoint(ctx, *e, dir, o)
		if err == nil || !isGone(err) {
			return db, err
		}
	}
	config := o.Engine
	if config == (embedded.Config{}) {
		config = embedded.ConfigFromEnv(o.CacheDir)
	}
	engine, _, err := embedded.Find(ctx, config, o.Progress)
	if err != nil {
		return nil, err
	}
	e, err := embedded.Start(ctx, dir, config.Executable, engine, o.Progress)
	if err != nil {
		return nil, &UnavailableError{Where: "the embedded engine", Err: err}
	}
	if e.Started && len(missing) > 0 && o.Warn != nil {
		o.Warn("the engine is not fully confined on this system; windlass doctor says what is missing")
	}
	return openEndpoint(ctx, e, dir, o)
}

// isGone reports whether an endpoint does not lead to its engine any more.
func isGone(err error) bool { return isNetwork(err) || hasCode(err, codeAuthFailed) }

func openEndpoint(ctx context.Context, e embedded.Endpoint, dir string, o Options) (*DB, error) {
	db := &DB{target: embeddedTarget(e, o.Database), endpoint: &e, dir: dir}
	db.target.tune()
	reading, err := openReading(db.target, e)
	if err != nil {
		return nil, err
	}
	if o.Reading {
		db.warm.Go(func() { _ = reading.Ping(ctx) }) // a failure is seen again by whatever uses it
	}
	if err := db.connect(ctx); err != nil {
		db.warm.Wait()
		return nil, errors.Join(err, reading.Close())
	}
	db.reading = reading
	return db, nil
}

func openReading(t target, e embedded.Endpoint) (driver.Conn, error) {
	o := *t.options
	o.Auth.Username, o.Auth.Password = embedded.ReadonlyUser(e)
	o.Settings = nil
	conn, err := driver.Open(&o)
	if err != nil {
		return nil, fmt.Errorf("open ClickHouse to read: %w", err)
	}
	return conn, nil
}

func openTarget(ctx context.Context, t target) (*DB, error) {
	t.tune()
	db := &DB{target: t}
	if err := db.connect(ctx); err != nil {
		return nil, err
	}
	db.reading = db.conn
	return db, nil
}

func (db *DB) connect(ctx context.Context) (err error) {
	db.layout = layout{database: db.target.database, cluster: db.target.cluster}
	db.conn, err = connect(ctx, db.target, db.layout)
	return err
}

// connect opens the connections and prepares the database, which it makes by another connection.
func connect(ctx context.Context, t target, l layout) (driver.Conn, error) {
	conn, err := driver.Open(t.options)
	if err != nil {
		return nil, fmt.Errorf("open ClickHouse: %w", err)
	}
	err = prepare(ctx, conn, l, currentSchema())
	if hasCode(err, codeUnknownDatabase) {
		if err = createDatabase(ctx, t, l); err == nil {
			err = prepare(ctx, conn, l, currentSchema())
		}
	}
	if err != nil {
		return nil, errors.Join(explain(err, t), conn.Close())
	}
	return conn, nil
}

func createDatabase(ctx context.Context, t target, l layout) error {
	o := *t.options
	o.Auth.Database = "default"
	conn, err := driver.Open(&o)
	if err != nil {
		return fmt.Errorf("open ClickHouse: %w", err)
	}
	return errors.Join(conn.Exec(ctx, l.makeDatabase()), conn.Close())
}

func explain(err error, t target) error {
	where := strings.Join(t.options.Addr, ", ")
	switch {
	case hasCode(err, codeAuthFailed):
		return &UnavailableError{Where: where, Err: fmt.Errorf("user %q: wrong name or password: %w", t.options.Auth.Username, sqlError(err))}
	case isNetwork(err):
		return &UnavailableError{Where: where, Err: fmt.Errorf("no answer: %w", err)}
	case exception(err) != nil:
		return fmt.Errorf("prepare database %q at %s: %w", t.database, where, sqlError(err))
	}
	return err
}

// Share returns the database for one more user, who closes it, too.
func Share(db *DB) *DB {
	db.shares.Add(1)
	return db
}

// IsShared reports whether the database has more than one user.
func IsShared(db *DB) bool { return db.shares.Load() > 0 }

// Close ends the connections, unless the database is shared.
func (db *DB) Close() error {
	if db.shares.Add(-1) >= 0 {
		return nil
	}
	db.warm.Wait()
	db.joint.end()
	err := db.conn.Close()
	if db.endpoint != nil {
		err = errors.Join(err, db.reading.Close())
	}
	if err != nil {
		return fmt.Errorf("close ClickHouse: %w", err)
	}
	return nil
}

// Database returns the name of the database.
func (db *DB) Database() string { return db.layout.database }

// Endpoint returns where the embedded engine listens, nil for a server.
func (db *DB) Endpoint() *embedded.Endpoint { return db.endpoint }
