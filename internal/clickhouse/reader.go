package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/clickhouse/sqltext"
)

const (
	readerPrefix = "windlass_reader_"
	readerMaxAge = 24 * time.Hour // after which a reader that a dead run left on a server is dropped
	readerWait   = 15 * time.Second
)

// Reader answers SQL that a model wrote, which is hostile: it runs with limits as a user that may
// read one database, a copy of the rows of one session. It is safe for concurrent use; queries run
// one at a time.
type Reader struct {
	session string
	source  layout // where the rows come from
	copy    layout // where the reader sees them
	guard   sqltext.Guard

	mu      sync.Mutex
	admin   driver.Conn // as the user of the DB
	conn    driver.Conn // as the reader
	release func(context.Context) error
}

// SessionReader makes a reader for the rows of one session. It must be closed. On a server the DB's
// user must be allowed to create users and databases.
func (db *DB) SessionReader(ctx context.Context, sessionID string) (*Reader, error) {
	o := *db.target.options
	o.Addr = o.Addr[:1] // the copy lives on one node
	o.MaxOpenConns, o.MaxIdleConns = 2, 2
	o.Auth.Database = db.layout.database
	admin, err := driver.Open(&o)
	if err != nil {
		return nil, fmt.Errorf("open ClickHouse for a session reader: %w", err)
	}
	r := &Reader{session: sessionID, source: db.layout, admin: admin}
	if err := r.prepare(ctx, db, o); err != nil {
		return nil, errors.Join(fmt.Errorf("make a session reader: %w", err), r.Close(context.WithoutCancel(ctx)))
	}
	return r, nil
}

func (r *Reader) prepare(ctx context.Context, db *DB, o driver.Options) error {
	name, password, err := r.user(ctx, db)
	if err != nil {
		return err
	}
	r.copy = layout{database: name}
	if err := r.copy.run(ctx, r.admin, []string{"DROP DATABASE IF EXISTS " + quoteName(name) + " SYNC"}); err != nil {
		return sqlError(err)
	}
	if err := prepare(ctx, r.admin, r.copy, currentSchema()); err != nil {
		return sqlError(err)
	}
	own, err := r.ownFunctions(ctx)
	if err != nil {
		return err
	}
	r.guard = sqltext.Guard{Guest: true, Own: own, Embedded: db.endpoint != nil}
	o.Auth = driver.Auth{Database: name, Username: name, Password: password}
	o.Settings = nil // a read-only user may not set any
	r.conn, err = driver.Open(&o)
	return err
}

// ownFunctions returns the functions of the server's own, in lower case, which may run programs.
func (r *Reader) ownFunctions(ctx context.Context) ([]string, error) {
	own, err := r.names(ctx, "SELECT lower(name) AS name FROM system.functions WHERE origin != 'System'")
	if err != nil {
		return nil, fmt.Errorf("list the server's own functions: %w", err)
	}
	return own, nil
}

func (r *Reader) names(ctx context.Context, query string) (names []string, err error) {
	var rows []struct {
		Name string `ch:"name"`
	}
	err = sqlError(r.admin.Select(ctx, &rows, query))
	for _, row := range rows {
		names = append(names, row.Name)
	}
	return names, err
}

// user returns a user for the reader: one of the embedded engine's, or a new one of the server.
func (r *Reader) user(ctx context.Context, db *DB) (name, password string, err error) {
	if db.endpoint != nil {
		er, err := embedded.ClaimReader(db.dir, *db.endpoint)
		if err != nil {
			return "", "", err
		}
		r.release = func(context.Context) error { return er.Release() }
		return er.Name, er.Password, nil
	}
	if err := r.dropOld(ctx, time.Now()); err != nil {
		return "", "", err
	}
	name = readerPrefix + strconv.FormatInt(time.Now().Unix(), 10) + "_" + embedded.NewPassword()[:12]
	password = embedded.NewPassword()
	r.release = func(ctx context.Context) error { return r.admin.Exec(ctx, "DROP USER IF EXISTS "+quoteName(name)) }
	return name, password, r.createUser(ctx, name, password)
}

func (r *Reader) createUser(ctx context.Context, name, password string) error {
	var settings []string
	for _, l := range embedded.ReaderLimits() {
		settings = append(settings, l.Name+" = "+l.Value+" CONST")
	}
	create := "CREATE USER " + quoteName(name) + " IDENTIFIED WITH sha256_password BY " + quoteString(password) +
		" DEFAULT DATABASE " + quoteName(name) + " SETTINGS " + strings.Join(settings, ", ")
	for _, s := range []string{create, "GRANT SELECT ON " + quoteName(name) + ".* TO " + quoteName(name)} {
		if err := r.admin.Exec(ctx, s); err != nil {
			if hasCode(err, codeAccessDenied, codeNoWritableAccess) {
				return fmt.Errorf("the ClickHouse user may not create users (GRANT CREATE USER, DROP USER, CREATE DATABASE, "+
					"DROP DATABASE is needed for sql_query): %w", sqlError(err))
			}
			return sqlError(err)
		}
	}
	return nil
}

func (r *Reader) dropOld(ctx context.Context, now time.Time) error {
	for what, query := range map[string]string{
		"USER": "SELECT name FROM system.users", "DATABASE": "SELECT name FROM system.databases",
	} {
		names, err := r.names(ctx, query+" WHERE startsWith(name, '"+readerPrefix+"')")
		if err != nil {
			return fmt.Errorf("look for old readers: %w", err)
		}
		for _, name := range names {
			if !isOldReader(name, now) {
				continue
			}
			if err := r.admin.Exec(ctx, "DROP "+what+" IF EXISTS "+quoteName(name)); err != nil {
				return fmt.Errorf("drop an old reader: %w", sqlError(err))
			}
		}
	}
	return nil
}

func isOldReader(name string, now time.Time) bool {
	stamp, _, ok := strings.Cut(strings.TrimPrefix(name, readerPrefix), "_")
	made, err := strconv.ParseInt(stamp, 10, 64)
	return ok && err == nil && now.Sub(time.Unix(made, 0)) > readerMaxAge
}

// Query runs one statement over the session's rows that are in the database now. Every value
// marshals to JSON. An error of the SQL is a [SQLError] whose text may be shown to the model.
func (r *Reader) Query(ctx context.Context, sql string) (columns []string, rows [][]any, err error) {
	st, err := sqltext.Parse(sql)
	if err != nil {
		return nil, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.check(ctx, st); err != nil {
		return nil, nil, err
	}
	if err := r.refresh(ctx); err != nil {
		return nil, nil, fmt.Errorf("bring the session's rows up to date: %w", err)
	}
	return r.read(ctx, st)
}

// refresh copies the rows of the session that have come since the last query.
func (r *Reader) refresh(ctx context.Context) error {
	for _, t := range tables() {
		err := r.admin.Exec(ctx, "INSERT INTO "+r.copy.table(t.name)+" ("+t.columns+") SELECT "+t.columns+
			" FROM "+r.source.table(t.name)+" FINAL WHERE session_id = ? AND "+t.version+" NOT IN (SELECT "+t.version+
			" FROM "+r.copy.table(t.name)+")", r.session)
		if err != nil {
			return queryError(ctx, err)
		}
	}
	return nil
}

func (r *Reader) check(ctx context.Context, st sqltext.Statement) error {
	inner, stop := readerContext(ctx)
	defer stop()
	return check(inner, r.conn, r.guard, st)
}

// readerContext returns the context for a query of the reader. The deadline of ctx is kept by
// cancelling: the driver would send it as a setting, which a read-only user may not set.
func readerContext(ctx context.Context) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	watchdog := time.AfterFunc(readerWait, func() { cancel(errors.New("the query took too long")) })
	return inner, func() {
		watchdog.Stop()
		stop()
		cancel(nil)
	}
}

func (r *Reader) read(ctx context.Context, st sqltext.Statement) ([]string, [][]any, error) {
	inner, stop := readerContext(ctx)
	defer stop()
	result, err := run(inner, r.conn, st, nil)
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, c := range result.Columns {
		names = append(names, c.Name)
	}
	var rows [][]any
	for result.Next() {
		values, err := result.Row()
		if err != nil {
			return nil, nil, errors.Join(err, result.Close())
		}
		row := make([]any, len(values))
		for i, v := range values {
			row[i] = v
		}
		rows = append(rows, row)
	}
	return names, rows, result.Close()
}

// Close drops what was made for the reader.
func (r *Reader) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.admin == nil {
		return nil
	}
	var errs []error
	if r.conn != nil {
		errs = append(errs, r.conn.Close())
	}
	if r.copy.database != "" {
		errs = append(errs, r.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+quoteName(r.copy.database)+" SYNC"))
	}
	if r.release != nil {
		errs = append(errs, r.release(ctx))
	}
	errs = append(errs, r.admin.Close())
	r.admin = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the session reader: %w", err)
	}
	return nil
}
