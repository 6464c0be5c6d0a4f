package clickhouse_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// conversation is a session of which a person has taken messages out, put some back, and taken an answer back with an audible.
func conversation(t *testing.T) []*echo.Entry {
	t.Helper()
	r := &relative{t: t, session: "talk"}
	message := func(key string, node echo.NodeType, m *echo.Message) echo.Spot {
		k := echo.MustKey(key)
		e := &echo.Entry{NodeType: node, Key: k, Message: m}
		if node == echo.NodeModelCall {
			e.Set(echo.ModelCall{})
			e.Model = "m"
		}
		e.ContentHash = m.Hash()
		r.put(e)
		p := k.Path()
		return echo.Spot{Phase: p.Phase, Visit: p.Visit, Hash: m.Hash(), Nth: 1}
	}
	user := func(kind echo.Kind, text string) *echo.Message { return echo.NewText(echo.RoleUser, kind, text) }
	answer := func(text string) *echo.Message {
		return echo.NewText(echo.RoleAssistant, echo.KindAnswer, text)
	}
	r.start(map[string]any{})
	message("one/system", echo.NodeMessage, echo.NewText(echo.RoleSystem, echo.KindSystem, "You are one."))
	task := message("one/task", echo.NodeMessage, user(echo.KindTask, "Go."))
	call := echo.ToolCall{ID: "c1", Name: "look", Arguments: "{}"}
	calls := message("one/attempt1/turn1/model", echo.NodeModelCall, echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call}}))
	message("one/attempt1/turn1/tool1", echo.NodeToolCall, echo.NewToolResult(call, echo.Text("seen"), false))
	same := message("one/attempt1/turn2/model", echo.NodeModelCall, answer("same"))
	message("one/attempt1/turn2/validate/fair/model", echo.NodeModelCall, answer(`{"valid":false}`))
	message("one/attempt2/retry", echo.NodeMessage, user(echo.KindRetry, "Again."))
	message("one/attempt2/turn1/model", echo.NodeModelCall, answer("same"))
	same.Nth = 2
	message("two/context1", echo.NodeMessage, user(echo.KindContext, "From one."))
	last := message("two/task", echo.NodeMessage, user(echo.KindTask, "On."))
	message("two/attempt1/turn1/model", echo.NodeModelCall, answer("taken back"))
	message("two/attempt1/turn1/audible1", echo.NodeMessage, user(echo.KindRetract, "Not so."))
	r.say("two/attempt1/turn1/change1", echo.ViewChange{Number: 1, Action: echo.ViewDrop, Messages: []echo.Spot{task, calls, same}})
	r.say("two/attempt1/turn1/change2", echo.ViewChange{Number: 2, Action: echo.ViewRemove, Messages: []echo.Spot{last, task}})
	r.say("two/attempt1/turn2/model/change1", echo.ViewChange{Number: 3, Action: echo.ViewRestore, Messages: []echo.Spot{calls}})
	message("two/attempt1/turn2/model", echo.NodeModelCall, answer("right"))
	return r.entries
}

// Every message of the conversations is a row, with the number of its group and whether later requests have it.
func TestMessageRows(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, conversation(t)))
	require.Equal(t, strings.Join([]string{
		"group_id | role | kind | content | tool_name | tool_call_id | status | model | phase",
		"0 | system | system | You are one. |  |  | active |  | one",
		"1 | user | task | Go. |  |  | removed |  | one",
		"1 | assistant | answer |  |  |  | active | m | one",
		"1 | tool | tool_result | seen | look | c1 | active |  | one",
		"1 | assistant | answer | same |  |  | active | m | one",
		"2 | user | retry | Again. |  |  | active |  | one",
		"2 | assistant | answer | same |  |  | dropped | m | one",
		"3 | user | task | On. |  |  | removed |  | two",
		"3 | assistant | answer | taken back |  |  | dropped | m | two",
		"4 | user | retract | Not so. |  |  | active |  | two",
		"4 | assistant | answer | right |  |  | active | m | two", "",
	}, "\n"), result(t, db, "SELECT group_id, role, kind, content, tool_name, tool_call_id, status, model, phase FROM messages WHERE session_id = 'talk' ORDER BY id"))
	require.Equal(t, "1", scalar(t, db, "SELECT min(tokens > 0) FROM messages WHERE content != ''"))
}
