package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse/sqltext"
)

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
	types []valueType
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

// Query runs one statement. Without Write nothing can be changed: the statement runs as a user that
// may only read (embedded) or with readonly = 1 (a server). What reaches files, programs or the
// network is refused, on a server only without Write. Cancelling ctx cancels the query on the
// server. Errors of the SQL are [SQLError]s; the error is a [RefusedError] for a statement that the
// server was not asked to run.
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
		r.types = append(r.types, parseType(t.DatabaseTypeName()))
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
		v, err := r.types[i].convert(reflect.ValueOf(d).Elem())
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
	name := parseType(c.Type).name
	for _, prefix := range []string{"Int", "UInt", "Float", "Decimal", "BFloat"} {
		if strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, "Interval") {
			return true
		}
	}
	return false
}
