package clickhouse

import (
	"context"
	"fmt"
	"strings"

	batches "github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// column is one column of a table with rows of T: for the schema, for writing and for reading.
type column[T any] struct {
	name string
	sql  string       // its type, and what may follow it in CREATE TABLE
	at   func(*T) any // where a row has its value: it is written from there and read into there
}

func lift[T, P any](part func(*T) *P, columns []column[P]) []column[T] {
	lifted := make([]column[T], len(columns))
	for i, c := range columns {
		lifted[i] = column[T]{c.name, c.sql, func(row *T) any { return c.at(part(row)) }}
	}
	return lifted
}

type table[T any] struct {
	name    string
	what    string // a row, in errors
	columns []column[T]
}

func (t table[T]) join(separator string, text func(column[T]) string) string {
	texts := make([]string, len(t.columns))
	for i, c := range t.columns {
		texts[i] = text(c)
	}
	return strings.Join(texts, separator)
}

func (t table[T]) names() string { return t.join(", ", func(c column[T]) string { return c.name }) }

func (t table[T]) ddl() string {
	return t.join(",\n", func(c column[T]) string { return fmt.Sprintf("    %-20s %s", c.name, c.sql) })
}

func (t table[T]) selected() string {
	return t.join(", ", func(c column[T]) string {
		if _, ok := c.at(new(T)).(packed); ok {
			return "formatRow('RowBinary', " + c.name + ")"
		}
		return c.name
	})
}

func (t table[T]) destinations(row *T) []any {
	list := make([]any, len(t.columns))
	for i, c := range t.columns {
		list[i] = c.at(row)
		if p, ok := list[i].(packed); ok {
			list[i] = p.text
		}
	}
	return list
}

// packed is a list that is written as it is and read as a text, see [unpackTexts].
type packed struct {
	list any // its address
	text *string
}

// encoder gives the driver rows of a table, one after the other. It belongs to one goroutine. The
// driver takes values as interfaces: every row has the same place, as a pointer into it is no
// allocation, and the driver has read a row before the next one takes the place.
type encoder[T any] struct {
	table[T]
	current T
	at      []any
	values  []any
	texts   []names    // of each column that has few different texts; nil: it has many
	lists   *cellLists // what the columns have that are [elements]; nil: none is
}

func newEncoder[T any](t table[T]) *encoder[T] {
	e := &encoder[T]{table: t, values: make([]any, len(t.columns)), texts: make([]names, len(t.columns))}
	e.at = make([]any, len(t.columns))
	for i, c := range t.columns {
		e.at[i] = c.at(&e.current)
		if p, ok := e.at[i].(packed); ok {
			e.at[i] = p.list
		}
		if _, text := e.at[i].(*string); text && strings.HasPrefix(c.sql, few) {
			e.texts[i] = names{}
		}
	}
	return e
}

// row returns the values of the current row. The driver reflects on pointers to slices.
func (e *encoder[T]) row() []any {
	for i, at := range e.at {
		switch at := at.(type) {
		case *string:
			e.values[i] = at
			if e.texts[i] != nil {
				e.values[i] = e.texts[i].of(*at)
			}
		case **float64:
			e.values[i] = *at // nil: NULL
		case *[]string:
			e.values[i] = *at
		case *[]float32:
			e.values[i] = *at
		default:
			e.values[i] = at
		}
	}
	return e.values
}

// names holds each of a few texts once: the driver tells LowCardinality texts apart by address.
type names map[string]*string

func (n names) of(text string) *string {
	if p := n[text]; p != nil {
		return p
	}
	kept := text // text itself would be an allocation on every call
	n[text] = &kept
	return &kept
}

// few begins the type of a column that has few different texts.
const few = "LowCardinality(String)"

// writeRows writes all rows or none. set puts one into the place of the current row.
func writeRows[T, R any](ctx context.Context, db *DB, e *encoder[T], rows []R, set func(*T, R)) error {
	if len(rows) == 0 {
		return nil
	}
	ctx, over := beginWriting(ctx)
	defer over()
	batch, err := db.conn.PrepareBatch(ctx, "INSERT INTO "+db.layout.table(e.name)+" ("+e.names()+")")
	if err != nil {
		return fmt.Errorf("begin a batch of %d %s rows: %w", len(rows), e.what, err)
	}
	defer func() { _ = batch.Close() }() // after Send there is nothing left to close
	if err := appendRows(batch, e, rows, set); err != nil {
		return err
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("write %d %s rows: %w", len(rows), e.what, err)
	}
	return nil
}

func appendRows[T, R any](batch batches.Batch, e *encoder[T], rows []R, set func(*T, R)) error {
	if e.lists != nil {
		return appendLists(batch, e, rows, set)
	}
	for n, r := range rows {
		set(&e.current, r)
		if err := batch.Append(e.row()...); err != nil {
			return fmt.Errorf("encode %s row %d of %d: %w", e.what, n+1, len(rows), err)
		}
	}
	return nil
}

// appendLists gives the driver lists for all rows at once, and the other values row by row.
func appendLists[T, R any](batch batches.Batch, e *encoder[T], rows []R, set func(*T, R)) error {
	to := batch.Columns()
	for n, r := range rows {
		set(&e.current, r)
		for i, value := range e.row() {
			if _, ok := value.(elements); ok {
				continue
			}
			if err := to[i].AppendRow(value); err != nil {
				return fmt.Errorf("encode %s row %d of %d: %s: %w", e.what, n+1, len(rows), to[i].Name(), err)
			}
		}
	}
	for i, at := range e.at {
		if l, ok := at.(elements); ok {
			if err := e.lists.give(to[i], e.columns[i].sql, l); err != nil {
				return err
			}
		}
	}
	return nil
}

func eachRow(ctx context.Context, db *DB, sql string, take func(rowSource) error, args ...any) error {
	rows, err := db.conn.Query(ctx, sql, args...)
	if err != nil {
		return queryError(ctx, err)
	}
	defer func() { _ = rows.Close() }() // what went wrong is in Err
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	if over := ended(ctx); over != nil { // the driver may end a cancelled result like a complete one
		return over
	}
	if err := rows.Err(); err != nil {
		return queryError(ctx, err)
	}
	return nil
}
