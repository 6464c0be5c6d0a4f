package autocontext

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

func TestRecordedInTheWordsOfTheDialect(t *testing.T) {
	t.Parallel()
	call := echo.ToolCall{ID: "c1", Name: "look", Arguments: `{"at":1}`}
	history := []*echo.Message{
		echo.NewText(echo.RoleUser, echo.KindTask, "task"),
		echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call}}),
		echo.NewToolResult(call, echo.Text("a long result"), true),
	}
	masked := echo.NewToolResult(call, echo.Text("[masked]"), true)
	for data, want := range map[string][]string{
		`{"visit": 1}`: {"user task", "assistant ", "tool [masked]"},
		`{"visit": 1, "context": {"dialect": "native"}}`:     {"user task", "assistant ", "tool [masked]"},
		`{"visit": 1, "context": "of another shape"}`:        {"user task", "assistant ", "tool [masked]"},
		`{"visit": 1, "context": {"dialect": "prompted"}}`:   {"user task", "assistant ```json\n{\"tool\": \"look\", \"arguments\": {\"at\":1}}\n```", "user Tool error of look (c1):\n[masked]"},
		`{"visit": 1, "context": {"dialect": "prompted"} } `: {"user task", "assistant ```json\n{\"tool\": \"look\", \"arguments\": {\"at\":1}}\n```", "user Tool error of look (c1):\n[masked]"},
	} {
		r := NewRecordReader()
		read := func(e *echo.Entry) *Recorded {
			rec, err := r.Read(e)
			require.NoError(t, err)
			return rec
		}
		require.Nil(t, read(&echo.Entry{NodeType: echo.NodePhaseStart, Key: echo.MustKey("p/start"), Data: json.RawMessage(data)}))
		read(&echo.Entry{NodeType: echo.NodeMessage, Key: echo.MustKey("p/task"), Message: history[0]})
		read(&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("p/attempt1/turn1/model"), Message: history[1]})
		result := &echo.Entry{NodeType: echo.NodeToolCall, Key: echo.MustKey("p/attempt1/turn1/tool1"), Message: history[2]}
		read(result)
		rec := read(&echo.Entry{NodeType: echo.NodeSelection, Key: echo.MustKey("p/attempt1/turn2/context"), Selection: &echo.Selection{Spans: []echo.Span{
			{From: 0, Count: 2, Form: "full", Reason: "recent", Hashes: []echo.Hash{history[0].Hash(), history[1].Hash()}, Tokens: []int64{1, 2}},
			{
				From: 2, Count: 1, Form: "masked", Reason: "aged", Hashes: []echo.Hash{history[2].Hash()}, Tokens: []int64{3},
				Sent: [][]*echo.Message{{masked}},
			},
		}}})
		var got []string
		for i := range rec.Sent {
			for _, m := range rec.Messages(i) {
				got = append(got, string(m.Role())+" "+m.Text())
			}
		}
		require.Equal(t, want, got, data)
		if rec.Dialect == dialect.Native {
			require.Same(t, history[2], r.Worded(result))
		} else {
			require.Equal(t, "Tool error of look (c1):\na long result", r.Worded(result).Text())
		}
	}
}
