package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// sentRow is a row of sent_messages.
type sentRow struct {
	Key             string `ch:"key"`
	Position        int64  `ch:"position"`
	HistoryPosition uint32 `ch:"history_position"`
	MessageSeq      uint64 `ch:"message_seq"`
	Role            string `ch:"role"`
	Form            string `ch:"form"`
	Reason          string `ch:"reason"`
	ContentHash     string `ch:"content_hash"`
	ContentText     string `ch:"content_text"`
	ContentJSON     string `ch:"content_json"`
	ToolCallsJSON   string `ch:"tool_calls_json"`
	ToolCallID      string `ch:"tool_call_id"`
}

// TestSentMessagesAreTheMessagesOfTheRequest holds the view against what the record says was sent,
// message by message, for a session with hostile texts, stand-ins of every number, and a model
// without tool calling.
func TestSentMessagesAreTheMessagesOfTheRequest(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	entries := entriesOf(11, "sent", 400)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	var rows []sentRow
	require.NoError(t, clickhouse.Conn(db).Select(t.Context(), &rows, `SELECT key, position, history_position, message_seq, role, form, reason,
		content_hash, content_text, content_json, tool_calls_json, tool_call_id
		FROM sent_messages WHERE session_id = 'sent' ORDER BY key, position`))
	byKey := map[string][]sentRow{}
	for _, r := range rows {
		byKey[r.Key] = append(byKey[r.Key], r)
	}
	reader := record.NewRequests()
	requests, messages := 0, 0
	for _, e := range entries {
		req, err := reader.Read(e)
		require.NoError(t, err)
		if req == nil {
			continue
		}
		requests++
		got := byKey[req.Key().String()]
		for i, s := range req.Sent {
			for _, m := range req.Rendered(i) {
				require.NotEmpty(t, got, "%s has more messages", req.Key())
				row := got[0]
				got = got[1:]
				messages++
				require.Equal(t, int64(len(byKey[req.Key().String()])-len(got)), row.Position)
				require.Equal(t, []any{uint32(i + 1), req.History[i].Seq, s.Form, s.Reason, string(s.Hash)},
					[]any{row.HistoryPosition, row.MessageSeq, row.Form, row.Reason, row.ContentHash})
				require.JSONEq(t, string(m.JSON()), row.wire(t))
				var text string
				if json.Unmarshal(m.ContentJSON(), &text) == nil && text != "" {
					require.Equal(t, text, row.ContentText)
				}
			}
		}
		require.Empty(t, got, "%s has fewer messages", req.Key())
	}
	require.Greater(t, requests, 50)
	require.Greater(t, messages, 1000)
}

// wire puts the columns together as the message of a request.
func (r *sentRow) wire(t *testing.T) string {
	t.Helper()
	m := map[string]any{"role": r.Role, "content": json.RawMessage(r.ContentJSON)}
	if r.ToolCallsJSON != "" {
		m["tool_calls"] = json.RawMessage(r.ToolCallsJSON)
	}
	if r.Role == "tool" {
		m["tool_call_id"] = r.ToolCallID
	}
	b, err := json.Marshal(m)
	require.NoError(t, err)
	return string(b)
}

// TestUnreadableSelection gives the sink a selection that does not fit: it is said, counted, and in
// no table of selections, and everything else is delivered.
func TestUnreadableSelection(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	entries := entriesOf(12, "bent", 60)
	last := len(entries) - 1
	for entries[last].NodeType != echo.NodeSelection {
		last--
	}
	e := *entries[last]
	e.Selection = &echo.Selection{ContextSize: 77}
	entries[last] = &e
	s := clickhouse.NewSink(opener(o), clickhouse.SinkOptions{})
	for _, e := range entries {
		require.NoError(t, s.Write(e))
	}
	err := s.Close(t.Context())
	require.ErrorContains(t, err, "1 selection of the session is not in ClickHouse: session bent: entry ")
	require.ErrorContains(t, err, "the selection names 0 messages, the history has ")
	require.Equal(t, int64(len(entries)-1), s.Stats().Written)
	db, err := clickhouse.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.Equal(t, "60", scalar(t, db, "SELECT count() FROM logs"))
	require.Equal(t, "77", scalar(t, db, "SELECT context_size FROM logs ORDER BY node_type = 'context_selection' AND context_size = 77 DESC LIMIT 1"))
	require.Equal(t, "0", scalar(t, db, "SELECT count() FROM context_selections WHERE context_size = 77"))
}

// TestSelectionAfterAnUnreadableOne gives the sink a selection that names a message before it is in
// the history, and then one that changes something else: its row has what both of them say.
func TestSelectionAfterAnUnreadableOne(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	st := &story{session: "late"}
	st.mark(echo.NodePhaseStart, "p", nil)
	st.say("p", 0, echo.RoleUser, echo.KindTask, "first")
	second := echo.NewText(echo.RoleUser, echo.KindNotice, "second")
	selected := func(turn int, delta bool, spans ...echo.Span) {
		st.add(echo.Entry{
			NodeType: echo.NodeSelection, Key: echo.MustKey(fmt.Sprintf("p/attempt1/turn%d/context", turn)),
			Selection: &echo.Selection{Delta: delta, Spans: spans},
		})
	}
	span := func(at int, m *echo.Message, reason string) echo.Span {
		return echo.Span{From: at, Count: 1, Form: "full", Reason: reason, Hashes: []echo.Hash{m.Hash()}, Tokens: []int64{1}}
	}
	first := st.history["p"][0]
	selected(1, false, span(0, first, "one"))
	selected(2, true, span(0, first, "two"), span(1, second, "two"))
	st.add(echo.Entry{NodeType: echo.NodeMessage, Key: echo.MustKey("p/attempt1/notice"), Message: second})
	selected(3, true, span(1, second, "three"))
	selected(4, true, span(0, first, "four"))
	s := clickhouse.NewSink(opener(o), clickhouse.SinkOptions{})
	for _, e := range st.entries {
		require.NoError(t, s.Write(e))
	}
	require.ErrorContains(t, s.Close(t.Context()), "the selection names 2 messages, the history has 1")
	db, err := clickhouse.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.Equal(t, "1: one; 3: two,three; 4: four,three", scalar(t, db, `SELECT arrayStringConcat(groupArray(
		concat(toString(turn), ': ', arrayStringConcat(reason, ','))), '; ') FROM (SELECT * FROM context_selections ORDER BY seq)`))
}
