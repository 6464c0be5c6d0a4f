package engine

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// TestCallsOfALaterPhaseStayCalls: a model numbers its calls from 1 in every phase. Since rules 3 those
// of the later phase stay calls, sent with ids of their own; the record has the model's. Before they
// were sent as text.
func TestCallsOfALaterPhaseStayCalls(t *testing.T) {
	t.Parallel()
	for rules := 2; rules <= 3; rules++ {
		b := setup(t, call("echo", `{"n":1}`), say("one"), call("echo", `{"n":2}`), say("two"))
		b.rules = rules
		b.tools.addEcho("echo")
		_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"First.","tackle":["echo"]},
			{"name":"q","instructions":"Then.","tackle":["echo"],"context":{"from":[{"phase":"p","include":["messages"]}]}}]}`, nil)
		require.NoError(t, err)

		var calls, results []string
		for _, m := range b.model.requests[3].Messages {
			for _, c := range m.ToolCalls() {
				calls = append(calls, c.ID)
			}
			if m.Role() == echo.RoleTool {
				results = append(results, m.ToolCallID())
			}
		}
		last := lastOf(b, 3)
		if rules < 3 {
			require.Equal(t, []string{"a1t1#0"}, calls)
			require.Equal(t, "Tool result of echo (a1t1#0):\necho:{\"n\":2}", last)
			require.Equal(t, []string{"text repaired", "text repaired"}, lastForms(b))
			continue
		}
		require.Len(t, calls, 2)
		require.Equal(t, "a1t1#0", calls[0])
		require.Regexp(t, `^[0-9a-z]{9}$`, calls[1])
		require.Equal(t, calls, results)
		require.Equal(t, `echo:{"n":2}`, last)
		require.Equal(t, []string{"full no_policy", "full no_policy"}, lastForms(b))

		tools := b.entries.of(echo.NodeToolCall)
		require.Equal(t, []string{"a1t1#0", "a1t1#0"}, []string{tools[0].Tool.CallID, tools[1].Tool.CallID})
		require.Equal(t, "a1t1#0", tools[1].Message.ToolCallID())
		selections := b.entries.of(echo.NodeSelection)
		span := selections[len(selections)-1].Selection.Spans
		sent := span[len(span)-1].Sent
		require.Equal(t, calls[1], sent[len(sent)-1][0].ToolCallID(), "the record has what is sent")
	}
}

// lastForms returns the forms of the last two messages of the newest request.
func lastForms(b *testBundle) (out []string) {
	selections := b.entries.of(echo.NodeSelection)
	for _, span := range selections[len(selections)-1].Selection.Spans {
		for range span.Count {
			out = append(out, fmt.Sprint(span.Form, " ", span.Reason))
		}
	}
	return out[len(out)-2:]
}
