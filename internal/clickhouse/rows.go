package clickhouse

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// column is one column of unified_logs and where its value comes from.
type column struct {
	name  string
	value func(*echo.Entry) any
}

// columns lists every column that is written, once, so that names and values cannot get out of step.
func columns() []column {
	return []column{
		{"session_id", func(e *echo.Entry) any { return e.SessionID }},
		{"seq", func(e *echo.Entry) any { return e.Seq }},
		{"at", func(e *echo.Entry) any { return e.At }},
		{"node_type", func(e *echo.Entry) any { return string(e.NodeType) }},
		{"key", func(e *echo.Entry) any { return e.Key }},
		{"cascade_id", func(e *echo.Entry) any { return e.CascadeID }},
		{"phase_name", func(e *echo.Entry) any { return e.Phase }},
		{"attempt", func(e *echo.Entry) any { return int32(e.Attempt) }},
		{"turn", func(e *echo.Entry) any { return int32(e.Turn) }},
		{"sounding", func(e *echo.Entry) any { return int32(e.Sounding) }},
		{"role", ofMessage(func(m *echo.Message) string { return string(m.Role()) })},
		{"kind", ofMessage(func(m *echo.Message) string { return string(m.Kind()) })},
		{"content_hash", func(e *echo.Entry) any { return string(e.ContentHash) }},
		{"content_json", ofMessage((*echo.Message).ContentJSON)},
		{"tool_calls_json", ofMessage((*echo.Message).ToolCallsJSON)},
		{"tool_name", func(e *echo.Entry) any { return toolUse(e).Name }},
		{"tool_call_id", func(e *echo.Entry) any { return toolUse(e).CallID }},
		{"tool_arguments", func(e *echo.Entry) any { return toolUse(e).Arguments }},
		{"failed", func(e *echo.Entry) any { return e.Message != nil && e.Message.Failed() }},
		{"model", func(e *echo.Entry) any { return e.Model }},
		{"provider", func(e *echo.Entry) any { return e.Provider }},
		{"scripted", func(e *echo.Entry) any { return e.Scripted }},
		{"has_usage", func(e *echo.Entry) any { return e.Usage != nil }},
		{"tokens_in", func(e *echo.Entry) any { return usage(e).In }},
		{"tokens_cached", func(e *echo.Entry) any { return usage(e).Cached }},
		{"tokens_out", func(e *echo.Entry) any { return usage(e).Out }},
		{"tokens_reasoning", func(e *echo.Entry) any { return usage(e).Reasoning }},
		{"usage_estimated", func(e *echo.Entry) any { return usage(e).Estimated }},
		{"cost_usd", func(e *echo.Entry) any { return e.CostUSD }},
		{"duration_ms", func(e *echo.Entry) any { return e.DurationMS }},
		{"request_hash", func(e *echo.Entry) any { return e.RequestHash }},
		{"full_history_size", func(e *echo.Entry) any { return selection(e).FullHistorySize }},
		{"context_size", func(e *echo.Entry) any { return selection(e).ContextSize }},
		{"tokens_saved", func(e *echo.Entry) any { return selection(e).TokensSaved }},
		{"message_count", func(e *echo.Entry) any { return int64(selection(e).MessageCount) }},
		{"masked_count", func(e *echo.Entry) any { return int64(selection(e).MaskedCount) }},
		{"span_from", ofSpans(func(s echo.Span) int64 { return int64(s.From) })},
		{"span_count", ofSpans(func(s echo.Span) int64 { return int64(s.Count) })},
		{"span_form", ofSpans(func(s echo.Span) string { return s.Form })},
		{"span_reason", ofSpans(func(s echo.Span) string { return s.Reason })},
		{"error_kind", func(e *echo.Entry) any { return failure(e).Kind }},
		{"error", func(e *echo.Entry) any { return failure(e).Message }},
		{"data_json", func(e *echo.Entry) any { return string(e.Data) }},
	}
}

func ofMessage(get func(*echo.Message) string) func(*echo.Entry) any {
	return func(e *echo.Entry) any {
		if e.Message == nil {
			return ""
		}
		return get(e.Message)
	}
}

func ofSpans[T any](get func(echo.Span) T) func(*echo.Entry) any {
	return func(e *echo.Entry) any {
		spans := selection(e).Spans
		values := make([]T, len(spans))
		for i, s := range spans {
			values[i] = get(s)
		}
		return values
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

func usage(e *echo.Entry) echo.Usage {
	if e.Usage == nil {
		return echo.Usage{}
	}
	return *e.Usage
}

func selection(e *echo.Entry) echo.Selection {
	if e.Selection == nil {
		return echo.Selection{}
	}
	return *e.Selection
}

func failure(e *echo.Entry) echo.Failure {
	if e.Error == nil {
		return echo.Failure{}
	}
	return *e.Error
}

// Insert writes entries, all or none of them. Entries that are there already are written again, which changes nothing.
func (db *DB) Insert(ctx context.Context, entries []*echo.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	cols := columns()
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.name
	}
	query := "INSERT INTO " + db.layout.table("unified_logs") + " (" + strings.Join(names, ", ") + ")"
	batch, err := db.conn.PrepareBatch(ctx, query)
	if err != nil {
		return fmt.Errorf("begin a batch of %d log rows: %w", len(entries), err)
	}
	defer func() { _ = batch.Close() }() // after Send there is nothing left to close
	values := make([]any, len(cols))
	for _, e := range entries {
		for i, c := range cols {
			values[i] = c.value(e)
		}
		if err := batch.Append(values...); err != nil {
			return fmt.Errorf("encode log row %s/%d: %w", e.SessionID, e.Seq, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("write %d log rows: %w", len(entries), err)
	}
	return nil
}
