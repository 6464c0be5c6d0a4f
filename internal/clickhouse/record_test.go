package clickhouse_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestRecordIsThatOfTheJournal reads a session's record from ClickHouse: its entries are those that
// were written, and its calls were sent the same.
func TestRecordIsThatOfTheJournal(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	entries := entriesOf(21, "back", 500)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	got, err := db.Record(t.Context(), "back")
	require.NoError(t, err)
	require.Len(t, got, len(entries))
	want, back := record.NewRequests(), record.NewRequests()
	for i, e := range entries {
		r, err := want.Read(e)
		require.NoError(t, err)
		b, err := back.Read(got[i])
		require.NoError(t, err)
		require.Equal(t, r == nil, b == nil)
		if r != nil {
			require.Equal(t, sentBy(r), sentBy(b))
		}
		require.JSONEq(t, bare(t, e), bare(t, got[i]))
	}
}

// sentBy writes out what a request was.
func sentBy(r *record.Request) []string {
	out := []string{r.Key().String()}
	for i, s := range r.Sent {
		// A text that is not UTF-8 is mended on its way, byte by byte.
		out = append(out, string(s.Hash), s.Form, string([]rune(s.Reason)), string(rune(s.Tokens)))
		for _, m := range r.Rendered(i) {
			out = append(out, string(m.JSON()))
		}
	}
	return out
}

// bare writes an entry without what a row holds only of a tool call.
func bare(t *testing.T, e *echo.Entry) string {
	t.Helper()
	c := *e
	if c.NodeType != echo.NodeToolCall {
		c.Tool = nil
	} else if c.Tool == nil {
		c.Tool = &echo.ToolUse{}
		if c.Message != nil {
			c.Tool.Name, c.Tool.CallID = c.Message.Tool(), c.Message.ToolCallID()
		}
	}
	b, err := json.Marshal(&c)
	require.NoError(t, err)
	return string(b)
}

func TestRecordThatIsDamaged(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		`content_json = '"other"'`:     "entry 3 (research/task): the content has the hash ",
		`selection_json = '{'`:         "entry 3 (research/task): read the selection: ",
		`selection_json = ''`:          "entry 4 (research/attempt1/turn1/context): the selection is missing",
		`key = 'research//task'`:       "entry 3 (research//task): ",
		`key = ''`:                     "entry 3 (): it has no key",
		`turn = 7`:                     "entry 3 (research/task): its turn is 7, but its key research/task says 0",
		`content_json = '{'`:           "entry 3 (research/task): read the content: ",
		`tool_calls_json = '[{"id":]'`: "entry 3 (research/task): read the tool calls: ",
	} {
		db := fill(t)
		seq := want[len("entry "):][:1]
		require.NoError(t, clickhouse.Conn(db).Exec(t.Context(),
			"ALTER TABLE unified_logs UPDATE "+change+" WHERE seq = "+seq+" AND session_id = 's1' SETTINGS mutations_sync = 1"))
		_, err := db.Record(t.Context(), "s1")
		require.ErrorContains(t, err, "read the record of session s1: "+want)
	}
}
