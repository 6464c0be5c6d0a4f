package simulate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

// Each element of a list, and each phase of a graph, is a conversation of its own, also when their
// calls take turns.
func TestConversationsOfBranches(t *testing.T) {
	t.Parallel()
	rec := &journal.Recording{}
	add := func(e *echo.Entry) {
		e.Seq = uint64(len(rec.Entries) + 1)
		e.SetKeyFields()
		rec.Entries = append(rec.Entries, e)
	}
	add(echo.NewEntry(echo.MustKey("each/start"), echo.PhaseStart{Visit: 1, Context: &echo.PhaseContext{Dialect: "native"}}))
	add(echo.NewEntry(echo.MustKey("fetch/node2/begin"), echo.PhaseStart{Visit: 1, Context: &echo.PhaseContext{Dialect: "prompted"}}))
	parts := []string{"each/item1", "each/item2", "fetch/node2"}
	tasks, spans := map[string]*echo.Message{}, map[string][]*echo.Message{}
	for _, of := range parts {
		tasks[of] = echo.NewText(echo.RoleUser, echo.KindTask, "Read "+of)
		spans[of] = []*echo.Message{tasks[of]}
		add(&echo.Entry{NodeType: echo.NodeMessage, Key: echo.MustKey(of + "/task"), Message: tasks[of]})
	}
	for turn := 1; turn <= 2; turn++ {
		for _, of := range parts {
			at := fmt.Sprintf("%s/attempt1/turn%d", of, turn)
			span := echo.Span{Count: len(spans[of]), Form: "full", Reason: "current"}
			for _, m := range spans[of] {
				span.Hashes, span.Tokens = append(span.Hashes, m.Hash()), append(span.Tokens, 5)
			}
			add(&echo.Entry{NodeType: echo.NodeSelection, Key: echo.MustKey(at + "/context"), Selection: &echo.Selection{Spans: []echo.Span{span}}})
			answer := echo.NewText(echo.RoleAssistant, echo.KindAnswer, at)
			spans[of] = append(spans[of], answer)
			add(&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey(at + "/model"), Message: answer})
		}
	}
	all, err := FromRecording("s", rec)
	require.NoError(t, err)
	var names []string
	for _, c := range all {
		names = append(names, fmt.Sprintf("%s: %d calls, %d messages, %s", c.Name, c.Calls(), len(c.Items), c.Dialect))
	}
	require.Equal(t, []string{"fetch/node2: 2 calls, 3 messages, prompted", "each/item1: 2 calls, 3 messages, native", "each/item2: 2 calls, 3 messages, native"}, names)
}
