package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/clickhouse/sqltext"
	"github.com/windlass-run/windlass/internal/clickhouse/value"
)

// Value is one value of a result.
type Value = value.Value

// Column is a column of a result.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // as ClickHouse writes it
}

// Rows are the rows of a result, read one by one. They must be closed.
type Rows struct {
	Columns []Column
	Format  string // of the query's FORMAT clause, which the caller is asked to honour; empty when there was none

	rows  rowSource // nil: a statement without a result
	types []value.Type
	dest  []any
	cut   error           // why the rows ended early
	ctx   context.Context //nolint:containedctx // it is the query's, whose end explains a failing read
}

// rowSource is what is used of the driver's rows.
type rowSource interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// QueryOptions say what a query may do.
type QueryOptions struct {
	Write bool // it may change data; otherwise the server refuses that
}

// Query runs one statement. Without Write the server lets it change nothing, and nothing that
// reaches files, programs or the network is sent to it; with Write it may reach what a server
// grants. Errors are [SQLError]s, or a [RefusedError] for what was not sent. The end of ctx cancels
// the query.
func (db *DB) Query(ctx context.Context, sql string, o QueryOptions) (*Rows, error) {
	st, err := sqltext.Parse(sql)
	if err != nil {
		return nil, err
	}
	conn := db.conn
	if !o.Write {
		db.warm.Wait()
		conn = db.reading
	}
	if err := check(ctx, conn, sqltext.Guard{Write: o.Write, Embedded: db.endpoint != nil}, st); err != nil {
		return nil, explainReading(db, err)
	}
	if o.Write || db.endpoint != nil {
		return run(ctx, conn, st, nil)
	}
	return queryServer(ctx, conn, st)
}

func run(ctx context.Context, conn driver.Conn, st sqltext.Statement, settings driver.Settings) (*Rows, error) {
	if settings != nil {
		ctx = driver.Context(ctx, driver.WithSettings(settings))
	}
	if !st.ReturnsRows() {
		if err := conn.Exec(ctx, st.SQL); err != nil {
			return nil, queryError(ctx, err)
		}
		return &Rows{ctx: ctx}, nil
	}
	rows, err := conn.Query(ctx, st.SQL)
	if err != nil {
		return nil, queryError(ctx, err)
	}
	r := &Rows{rows: rows, ctx: ctx, Format: st.Format}
	for _, t := range rows.ColumnTypes() {
		r.Columns = append(r.Columns, Column{Name: t.Name(), Type: t.DatabaseTypeName()})
		r.types = append(r.types, value.Parse(t.DatabaseTypeName()))
		r.dest = append(r.dest, reflect.New(t.ScanType()).Interface())
	}
	return r, nil
}

// queryError prefers the caller's own cancellation to whatever the driver made of it.
func queryError(ctx context.Context, err error) error {
	if over := ended(ctx); over != nil {
		return over
	}
	if ex := exception(err); ex != nil {
		return sqlError(ex)
	}
	return fmt.Errorf("run the query: %w", err)
}

// ended returns why the context is over, or nil. The driver gives its deadline to the connection,
// where a read can run into it a moment before the context itself does.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// Next reports whether there is another row.
func (r *Rows) Next() bool {
	if r.rows == nil {
		return false
	}
	if r.rows.Next() {
		return true
	}
	r.cut = ended(r.ctx) // the driver may end a cancelled result like a complete one
	return false
}

// Cut reports whether the rows ended because the query was cancelled; Close says why.
func (r *Rows) Cut() bool { return r.cut != nil }

// Row returns the current row.
func (r *Rows) Row() ([]Value, error) {
	if err := r.rows.Scan(r.dest...); err != nil {
		return nil, fmt.Errorf("read a row: %w", err)
	}
	values := make([]Value, len(r.dest))
	for i, d := range r.dest {
		v, err := r.types[i].Convert(reflect.ValueOf(d).Elem())
		if err != nil {
			return nil, fmt.Errorf("read column %q of type %s: %w (toString(...) makes it readable)",
				r.Columns[i].Name, r.Columns[i].Type, err)
		}
		values[i] = v
	}
	return values, nil
}

// Close ends the query and returns the error that cut it short, if any.
func (r *Rows) Close() error {
	if r.rows == nil {
		return nil
	}
	err := r.rows.Close()
	if r.cut != nil {
		return r.cut
	}
	err = cmp.Or(r.rows.Err(), err)
	if err != nil {
		return queryError(r.ctx, err)
	}
	return nil
}

// IsNumber reports whether the column holds numbers, which tables show right-aligned.
func (c Column) IsNumber() bool {
	name := value.Parse(c.Type).Name()
	for _, prefix := range []string{"Int", "UInt", "Float", "Decimal", "BFloat"} {
		if strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, "Interval") {
			return true
		}
	}
	return false
}

// RefusedError is returned for a statement that windlass does not hand to the server.
type RefusedError = sqltext.RefusedError

// ErrManyStatements is returned for a text of more than one statement.
var ErrManyStatements = sqltext.ErrMany

// CheckStatement reports what makes a text no single statement, before a database is opened for it.
func CheckStatement(sql string) error {
	_, err := sqltext.Parse(sql)
	return err
}

func check(ctx context.Context, conn driver.Conn, g sqltext.Guard, st sqltext.Statement) error {
	g.Settable = embedded.ReadonlySettings()
	err := g.Check(st, func(sql string) (string, error) { return canonical(ctx, conn, sql) })
	var more sqltext.ReadonlyError
	if errors.As(err, &more) {
		return &SQLError{Code: codeReadonly, Name: "READONLY", Message: string(more)}
	}
	return err
}

const maxQuerySize = 8 << 20

// canonical returns a statement as the server's parser writes it. Its errors are the statement's.
func canonical(ctx context.Context, conn driver.Conn, sql string) (text string, err error) {
	checked := ctx
	if len(sql) > 64<<10 { // ClickHouse parses 256 KiB, and quoting can make it longer
		checked = driver.Context(ctx, driver.WithSettings(driver.Settings{"max_query_size": maxQuerySize}))
	}
	err = conn.QueryRow(checked, "SELECT formatQuerySingleLine("+quoteString(sql)+")").Scan(&text)
	if err == nil {
		return text, nil
	}
	err = queryError(ctx, err)
	var se *SQLError
	if errors.As(err, &se) { // what speaks of the function that called the parser is left out
		se.Message, _, _ = strings.Cut(se.Message, ": In scope SELECT formatQuerySingleLine(")
		se.Message = strings.TrimSuffix(strings.TrimSpace(se.Message), ": .")
	}
	return "", err
}

// explainReading says why the read-only user cannot log in.
func explainReading(db *DB, err error) error {
	if db.endpoint == nil || !hasCode(err, codeAuthFailed) {
		return err
	}
	return &UnavailableError{Where: db.endpoint.Addr(), Err: fmt.Errorf("the engine that runs (process %d) was started by a windlass "+
		"without a read-only user: it ends by itself a minute after its last use, and the next command starts a new one: %w",
		db.endpoint.PID, err)}
}

// queryServer runs a statement on a server with readonly = 1. SETTINGS at the end of the statement
// are sent beside it: behind readonly = 1 the server would refuse them.
func queryServer(ctx context.Context, conn driver.Conn, st sqltext.Statement) (*Rows, error) {
	bare, settings := st.TakeSettings(embedded.ReadonlySettings())
	settings["readonly"] = 1
	rows, err := run(ctx, conn, bare, settings)
	if hasCode(err, codeReadonly) && strings.Contains(err.Error(), "Cannot modify 'readonly'") {
		// The user of the DSN is read-only on the server, which also forbids to say so once more.
		return run(ctx, conn, st, nil)
	}
	return rows, err
}

// ReadingRights say how statements that may only read are kept from more.
type ReadingRights struct {
	How     string   `json:"how"`
	Outward []string `json:"outward,omitempty"` // what the user of a server may reach outside of it, such as FILE
}

// sources are the privileges of ClickHouse by which SQL reaches outside of it.
func sources() []string {
	return []string{
		"FILE", "URL", "REMOTE", "MONGO", "REDIS", "MYSQL", "POSTGRES", "SQLITE", "ODBC", "JDBC", "HDFS", "S3", "HIVE", "AZURE",
		"KAFKA", "NATS", "RABBITMQ", "BACKUP", "CREATE FUNCTION", "CREATE NAMED COLLECTION",
	}
}

// ReadingRights asks the database for the rights; unknown ones are left out.
func (db *DB) ReadingRights(ctx context.Context) (ReadingRights, error) {
	if db.endpoint != nil {
		name, _ := embedded.ReadonlyUser(*db.endpoint)
		return ReadingRights{How: "as the user " + name + ", which may only read"}, nil
	}
	user := db.target.options.Auth.Username
	rights := ReadingRights{How: fmt.Sprintf("readonly = 1 with every statement; otherwise the rights of the user %q decide", user)}
	var readonly uint64
	if err := db.conn.QueryRow(ctx, "SELECT toUInt64(getSetting('readonly'))").Scan(&readonly); err != nil {
		return rights, queryError(ctx, err)
	}
	if readonly != 0 {
		rights.How = fmt.Sprintf("the user %q is read-only on the server", user)
	}
	rights.Outward = granted(ctx, db.conn, sources())
	return rights, nil
}

func granted(ctx context.Context, conn driver.Conn, privileges []string) []string {
	var has []string
	for _, p := range privileges {
		var yes uint8
		if err := conn.QueryRow(ctx, "CHECK GRANT "+p+" ON *.*").Scan(&yes); err == nil && yes == 1 {
			has = append(has, p)
		}
	}
	return has
}
