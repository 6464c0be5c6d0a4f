package handoff

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// The handoff of a graph says how each of its phases stands, how far lists have come, and which
// children are under way or failed.
func TestHandoffOfATree(t *testing.T) {
	t.Parallel()
	c := &cascade.Cascade{CascadeID: "research", Phases: []cascade.Phase{
		{Name: "plan", Instructions: "x"},
		{Name: "each", Instructions: "x", After: []string{"plan"}, ForEach: &cascade.ForEach{Items: json.RawMessage(`"outputs.plan"`)}},
		{Name: "news", Instructions: "x"},
		{Name: "report", Instructions: "x", After: []string{"plan", "each", "news"}},
	}}
	b := &recordBuilder{t: t, cascade: "research"}
	mark := func(key string) { b.put(&echo.Entry{NodeType: echo.NodeBranchStart, Key: echo.MustKey(key)}) }
	start := func(key string) { b.add(echo.MustKey(key), echo.PhaseStart{Visit: 1}) }
	failed := func(key, why string) {
		e := echo.NewEntry(echo.MustKey(key), echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError})
		e.Error = &echo.Failure{Kind: "error", Message: why}
		b.put(e)
	}
	b.add(echo.MustKey("run/start"), echo.RunStart{})
	for _, key := range []string{"plan/node1/start", "each/node2/start", "news/node3/start", "report/node4/start"} {
		mark(key)
	}
	start("plan/node1/begin")
	start("news/node3/begin")
	b.add(echo.MustKey("news/node3/child/facts"), echo.ChildStart{Session: "c1", Name: "facts", How: echo.ChildSub})
	b.add(echo.MustKey("plan/node1/finish"), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Output: "three files"})
	start("each/node2/begin")
	for _, key := range []string{"each/node2/item1/start", "each/node2/item2/start", "each/node2/item3/start"} {
		mark(key)
	}
	b.answer(echo.MustKey("each/node2/item1/attempt1/turn1"), echo.NewText(echo.RoleAssistant, echo.KindAnswer, "- [x] read it\n- [ ] sum it up"))
	b.add(echo.MustKey("each/node2/item1/finish"), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Output: "read"})
	failed("each/node2/item2/finish", "the file is empty")
	end := echo.NewEntry(echo.MustKey("news/node3/child/facts"), echo.ChildEnd{Session: "c1", Status: echo.StatusFailed, Reason: echo.StopError})
	end.Error = &echo.Failure{Kind: "error", Message: "no answer"}
	b.put(end)
	b.add(echo.MustKey("news/node3/async/late"), echo.ChildStart{Session: "c2", Name: "late", How: echo.ChildAsync})

	h := FromFold(record.Of(b.entries), c, nil)
	require.Equal(t, "each", h.Phase)
	require.Equal(t, []echo.HandoffItem{{Source: "phase plan", Text: "three files"}, {Source: "checklist", Text: "read it"}}, h.Done, "what an element ticked, too")
	require.Equal(t, []echo.HandoffItem{
		{Source: "checklist", Text: "sum it up"},
		{Source: "phase each", Text: "is under way: 1 of 3 elements done, 1 failed"},
		{Source: "phase news", Text: "is under way"},
		{Source: "child late", Text: "is under way, in session c2"},
		{Source: "phase report", Text: "has not begun, comes after each, news"},
	}, h.Remaining)
	require.Equal(t, []echo.HandoffItem{
		{Source: "phase each item 2", Text: "the file is empty"},
		{Source: "child facts", Text: "no answer (session c1)"},
	}, h.Blocking)

	soon := echo.NewEntry(echo.MustKey("news/node3/finish"), echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError})
	soon.Error = &echo.Failure{Kind: "error", Message: "nothing is new"}
	soon.SetKeyFields()
	h = FromFold(record.Of(b.entries), c, nil, soon)
	require.Equal(t, "news", h.Phase, "of the phase that is about to end")
	require.Equal(t, echo.StatusFailed, h.Status)
	require.Equal(t, []echo.HandoffItem{{Source: "phase news", Text: "failed"}, {Source: "phase each", Text: "is under way: 1 of 3 elements done, 1 failed"}}, h.Remaining[1:3])
	require.Contains(t, h.Blocking, echo.HandoffItem{Source: "stop", Text: "nothing is new"})

	failed("each/node2/finish", "element 2 failed")
	h = FromFold(record.Of(b.entries), c, nil, soon)
	require.Contains(t, h.Blocking, echo.HandoffItem{Source: "phase each", Text: "element 2 failed"})
}
