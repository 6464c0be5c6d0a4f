package windlass

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

// Column is a column of a result: its Name, and its Type as ClickHouse writes it.
type Column = clickhouse.Column

// Value is one value of a result. It is a [fmt.Stringer] and a [json.Marshaler], and keeps every
// digit of a number in both; Null says that it is NULL.
type Value = clickhouse.Value

// Rows are the rows of a query, read while they arrive. [Rows.All] or [Rows.Close] ends the query.
type Rows struct {
	Columns []Column
	rows    *clickhouse.Rows
	db      *clickhouse.DB
	cancel  context.CancelFunc
	ended   func() error // that the context of the query has ended
}

// Query runs one SQL statement that only reads, over the tables and views that docs/sql.md
// describes. The error is of [InvalidRequest] for what is not one statement, of [Failed] when
// ClickHouse refuses it, of [Interrupted] when ctx ends, or of [StorageFailed].
func (w *Windlass) Query(ctx context.Context, sql string) (*Rows, error) {
	if err := w.ready("query ClickHouse"); err != nil {
		return nil, err
	}
	if err := clickhouse.CheckStatement(sql); err != nil {
		return nil, invalid("%w", err)
	}
	if w.journals {
		return nil, errNoClickHouse
	}
	ended := ctx.Err
	ctx, cancel := context.WithCancel(ctx)
	var out *Rows
	err := w.useDatabase(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		rows, err := db.Query(ctx, sql, clickhouse.QueryOptions{})
		if err == nil {
			out = &Rows{Columns: rows.Columns, rows: rows, db: clickhouse.Share(db), cancel: cancel, ended: ended}
		}
		return err
	})
	if err != nil {
		cancel()
		return nil, explain(err)
	}
	return out, nil
}

// All returns the rows, each with a value for each column, and closes them. An error ends it. There
// are none after [Rows.Close], or after a loop over them was left.
func (r *Rows) All() iter.Seq2[[]Value, error] {
	return func(yield func([]Value, error) bool) {
		defer r.Close() //nolint:errcheck // the rows have ended, or nobody wants more of them
		for r.db != nil && r.rows.Next() {
			if row, err := r.rows.Row(); !yield(row, r.explain(err)) || err != nil {
				return
			}
		}
		if r.db == nil {
			return
		}
		if err := r.rows.Close(); err != nil {
			yield(nil, r.explain(err))
		}
	}
}

// explain is the function explain for the errors of a query: the driver has its own for one whose
// context has ended.
func (r *Rows) explain(err error) error {
	if ended := r.ended(); err != nil && ended != nil {
		return explain(fmt.Errorf("read the rows of a query: %w", ended))
	}
	return explain(err)
}

// Close ends the query, whose other rows are not read. It may be called again.
func (r *Rows) Close() error {
	r.cancel() // the driver would read the rest
	if r.db == nil {
		return nil
	}
	_ = r.rows.Close() // it was cancelled
	db := r.db
	r.db = nil
	return explain(db.Close())
}

var errNoClickHouse = invalid("query ClickHouse: there is none, see Options.NoClickHouse")

// CostBy is what [Windlass.Costs] sums up by.
type CostBy = clickhouse.CostBy

// The ways to sum up costs.
const (
	ByCascade = clickhouse.ByCascade
	ByPhase   = clickhouse.ByPhase
	ByModel   = clickhouse.ByModel
	BySession = clickhouse.BySession
	ByDay     = clickhouse.ByDay
	ByTag     = clickhouse.ByTag // a session counts for each tag of its cascade
)

// CostRow is one line of a cost report: the names that the report is by (SessionID, CascadeID,
// Phase, Model, Provider, Day, Tag), and what the model calls took (Calls, TokensIn, TokensCached,
// TokensOut, CostUSD). CostUSD leaves out the UnknownCostCalls, and is nil when no cost is known.
type CostRow = clickhouse.CostRow

// Costs sums up what the model calls of all sessions in ClickHouse cost, the most expensive first;
// days in their order. The error is of [InvalidRequest] for another way to sum up.
func (w *Windlass) Costs(ctx context.Context, by CostBy) ([]CostRow, error) {
	if err := w.ready("sum up costs"); err != nil {
		return nil, err
	}
	if !slices.Contains(clickhouse.CostBys(), by) {
		return nil, invalid("costs cannot be summed up by %q", by)
	}
	if w.journals {
		return nil, errNoClickHouse
	}
	rows, err := w.archive.Costs(ctx, by, clickhouse.Filter{})
	return rows, explain(err)
}
