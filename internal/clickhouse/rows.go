package clickhouse

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// row is an entry as it is written: to unified_logs, and a selection to unified_selections as well.
type row struct {
	*echo.Entry
	worded    *echo.Message // the entry's message as the visit's model is sent it
	selection *selectionRow // nil: the entry is no selection
}

// selectionJSON is the entry's selection as the journal has it.
func (r *row) selectionJSON() string {
	if r.Selection == nil {
		return ""
	}
	b, err := json.Marshal(r.Selection)
	if err != nil {
		return "" // texts and numbers, which the journal has written already
	}
	return string(b)
}

// column is one column of a table and where its value comes from. The driver takes values in interfaces: one of a pointer
// holds it as it is, one of a text or a number is an allocation, so wherever a value has an address it is given by it. What
// is pointed at is read before the next row's value is asked for.
type column[T any] struct {
	name  string
	value func(T) any
}

// logColumns lists every column of unified_logs that is written, once, so that names and values cannot get out of step.
func logColumns() []column[*row] {
	list := []column[*row]{{"prompted_json", func(r *row) any {
		if r.Message == nil || r.worded == r.Message {
			return ""
		}
		return r.worded.ContentJSON()
	}}, {"selection_json", func(r *row) any { return r.selectionJSON() }}}
	for _, c := range slices.Concat(entryColumns(), sizeColumns()) {
		list = append(list, column[*row]{c.name, func(r *row) any { return c.value(r.Entry) }})
	}
	return list
}

// sizeColumns are what both tables have of a selection.
func sizeColumns() []column[*echo.Entry] {
	return []column[*echo.Entry]{
		{"full_history_size", func(e *echo.Entry) any { return &selection(e).FullHistorySize }},
		{"context_size", func(e *echo.Entry) any { return &selection(e).ContextSize }},
		{"tokens_saved", func(e *echo.Entry) any { return &selection(e).TokensSaved }},
		{"message_count", func(e *echo.Entry) any { return int64(selection(e).MessageCount) }},
		{"masked_count", func(e *echo.Entry) any { return int64(selection(e).MaskedCount) }},
		{"shared_size", func(e *echo.Entry) any { return &selection(e).SharedSize }},
		{"full_shared_size", func(e *echo.Entry) any { return &selection(e).FullSharedSize }},
		{"sent_usd", func(e *echo.Entry) any { return selection(e).SentUSD }},
		{"full_usd", func(e *echo.Entry) any { return selection(e).FullUSD }},
		{"request_size", func(e *echo.Entry) any { return &selection(e).RequestSize }},
		{"request_limit", func(e *echo.Entry) any { return &selection(e).Limit }},
	}
}

// entryColumns are what every entry has, and the parts that some have.
func entryColumns() []column[*echo.Entry] {
	few := ofFew(names{})
	return []column[*echo.Entry]{
		{"session_id", func(e *echo.Entry) any { return &e.SessionID }},
		{"seq", func(e *echo.Entry) any { return &e.Seq }},
		{"at", func(e *echo.Entry) any { return &e.At }},
		{"node_type", few(func(e *echo.Entry) string { return string(e.NodeType) })},
		{"key", asText(func(e *echo.Entry) string { return e.Key.String() })},
		{"cascade_id", few(func(e *echo.Entry) string { return e.CascadeID })},
		{"phase_name", few(func(e *echo.Entry) string { return e.Phase })},
		{"attempt", func(e *echo.Entry) any { return int32(e.Attempt) }},
		{"turn", func(e *echo.Entry) any { return int32(e.Turn) }},
		{"sounding", func(e *echo.Entry) any { return int32(e.Sounding) }},
		{"role", few(ofMessage(func(m *echo.Message) string { return string(m.Role()) }))},
		{"kind", few(ofMessage(func(m *echo.Message) string { return string(m.Kind()) }))},
		{"content_hash", func(e *echo.Entry) any { return (*string)(&e.ContentHash) }},
		{"content_json", asText(ofMessage((*echo.Message).ContentJSON))},
		{"tool_calls_json", asText(ofMessage((*echo.Message).ToolCallsJSON))},
		{"tool_name", few(func(e *echo.Entry) string { return toolUse(e).Name })},
		{"tool_call_id", asText(func(e *echo.Entry) string { return toolUse(e).CallID })},
		{"tool_arguments", asText(func(e *echo.Entry) string { return toolUse(e).Arguments })},
		{"failed", func(e *echo.Entry) any { return e.Message != nil && e.Message.Failed() }},
		{"model", few(func(e *echo.Entry) string { return e.Model })},
		{"provider", few(func(e *echo.Entry) string { return e.Provider })},
		{"scripted", func(e *echo.Entry) any { return e.Scripted }},
		{"has_usage", func(e *echo.Entry) any { return e.Usage != nil }},
		{"tokens_in", func(e *echo.Entry) any { return &usage(e).In }},
		{"tokens_cached", func(e *echo.Entry) any { return &usage(e).Cached }},
		{"tokens_out", func(e *echo.Entry) any { return &usage(e).Out }},
		{"tokens_reasoning", func(e *echo.Entry) any { return &usage(e).Reasoning }},
		{"usage_estimated", func(e *echo.Entry) any { return usage(e).Estimated }},
		{"cost_usd", func(e *echo.Entry) any { return e.CostUSD }},
		{"duration_ms", func(e *echo.Entry) any { return &e.DurationMS }},
		{"request_hash", func(e *echo.Entry) any { return &e.RequestHash }},
		{"error_kind", few(func(e *echo.Entry) string { return failure(e).Kind })},
		{"error", func(e *echo.Entry) any { return &failure(e).Message }},
		{"data_json", asText(func(e *echo.Entry) string { return string(e.Data) })},
	}
}

// ofFew makes values of texts of which there are few, in a LowCardinality column: each is given by one address.
func ofFew(n names) func(get func(*echo.Entry) string) func(*echo.Entry) any {
	return func(get func(*echo.Entry) string) func(*echo.Entry) any {
		return func(e *echo.Entry) any { return n.of(get(e)) }
	}
}

// asText makes values of texts that have no address, in the same place one after the other.
func asText(get func(*echo.Entry) string) func(*echo.Entry) any {
	text := new(string)
	return func(e *echo.Entry) any {
		*text = get(e)
		return text
	}
}

func ofMessage(get func(*echo.Message) string) func(*echo.Entry) string {
	return func(e *echo.Entry) string {
		if e.Message == nil {
			return ""
		}
		return get(e.Message)
	}
}

// toolUse is the call that an entry records. A tool message without one still names its tool and call.
func toolUse(e *echo.Entry) echo.ToolUse {
	switch {
	case e.Tool != nil:
		return *e.Tool
	case e.Message != nil:
		return echo.ToolUse{Name: e.Message.Tool(), CallID: e.Message.ToolCallID()}
	}
	return echo.ToolUse{}
}

// What an entry has that has no such part. They are only read.
var (
	noUsage     echo.Usage
	noSelection echo.Selection
	noFailure   echo.Failure
)

func usage(e *echo.Entry) *echo.Usage { return cmp.Or(e.Usage, &noUsage) }

func selection(e *echo.Entry) *echo.Selection { return cmp.Or(e.Selection, &noSelection) }

func failure(e *echo.Entry) *echo.Failure { return cmp.Or(e.Error, &noFailure) }

// Insert writes the entries of sessions, in their order: all of them or, of the last batch, perhaps only the rows of
// unified_logs. Entries that are there already are written again, which changes nothing. A selection can be written only
// with all entries of its visit before it, because it says what changed since; the error names the first that does not
// fit, and nothing is written then.
func (db *DB) Insert(ctx context.Context, entries []*echo.Entry) error {
	rec := newRecorder()
	rows := make([]*row, len(entries))
	for i, e := range entries {
		var err error
		if rows[i], err = rec.row(e); err != nil {
			return fmt.Errorf("read the selections of session %s: %w", e.SessionID, err)
		}
	}
	return newWriter(db).insert(ctx, rows)
}

// writer writes rows. It keeps what writing needs from one batch to the next and belongs to one goroutine.
type writer struct {
	db         *DB
	logs       []column[*row]
	selections []column[*selectionRow]
}

func newWriter(db *DB) *writer {
	return &writer{db: db, logs: logColumns(), selections: selectionColumns()}
}

// insert writes rows. When it fails between the two tables, writing them again completes them.
func (w *writer) insert(ctx context.Context, rows []*row) error {
	var selections []*selectionRow
	for _, r := range rows {
		if r.selection != nil {
			selections = append(selections, r.selection)
		}
	}
	if err := writeRows(ctx, w.db, "unified_logs", "log", w.logs, rows); err != nil {
		return err
	}
	return writeRows(ctx, w.db, "unified_selections", "selection", w.selections, selections)
}

// writeRows writes rows to a table, all or none of them.
func writeRows[T any](ctx context.Context, db *DB, table, what string, columns []column[T], rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	ctx, over := beginWriting(ctx)
	defer over()
	batch, err := db.conn.PrepareBatch(ctx, "INSERT INTO "+db.layout.table(table)+" ("+columnNames(columns)+")")
	if err != nil {
		return fmt.Errorf("begin a batch of %d %s rows: %w", len(rows), what, err)
	}
	defer func() { _ = batch.Close() }() // after Send there is nothing left to close
	values := make([]any, len(columns))
	for n, r := range rows {
		for i, c := range columns {
			values[i] = c.value(r)
		}
		if err := batch.Append(values...); err != nil {
			return fmt.Errorf("encode %s row %d of %d: %w", what, n+1, len(rows), err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("write %d %s rows: %w", len(rows), what, err)
	}
	return nil
}

// columnNames lists the names of columns as SQL does.
func columnNames[T any](columns []column[T]) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}
