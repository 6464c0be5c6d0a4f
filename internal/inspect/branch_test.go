package inspect_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
)

// list is a session with a phase that ran for three elements, each a conversation of its own, and a
// phase of a graph.
func list(t *testing.T) *inspect.Record {
	t.Helper()
	var entries []*echo.Entry
	add := func(e *echo.Entry) {
		e.Seq, e.SessionID = uint64(len(entries)+1), "s1"
		e.SetKeyFields()
		entries = append(entries, e)
	}
	add(echo.NewEntry(echo.MustKey("each/start"), echo.PhaseStart{Visit: 1, Context: &echo.PhaseContext{Dialect: "native"}}))
	add(echo.NewEntry(echo.MustKey("fetch/node2/begin"), echo.PhaseStart{Visit: 1, Context: &echo.PhaseContext{Dialect: "native"}}))
	for _, of := range []string{"each/item1", "each/item2", "fetch/node2", "each/item3"} {
		task := echo.NewText(echo.RoleUser, echo.KindTask, "Read "+of)
		add(&echo.Entry{NodeType: echo.NodeMessage, Key: echo.MustKey(of + "/task"), Message: task})
		for turn := 1; turn <= 2; turn++ {
			at := fmt.Sprintf("%s/attempt1/turn%d", of, turn)
			span := echo.Span{Count: 1, Form: "full", Reason: "current", Hashes: []echo.Hash{task.Hash()}, Tokens: []int64{5}}
			selection := &echo.Selection{FullHistorySize: 5, ContextSize: 5, MessageCount: 1, Spans: []echo.Span{span}}
			answer := echo.NewText(echo.RoleAssistant, echo.KindAnswer, at)
			if turn == 2 {
				selection.Delta = true
				first := echo.NewText(echo.RoleAssistant, echo.KindAnswer, of+"/attempt1/turn1")
				selection.Spans = []echo.Span{{From: 1, Count: 1, Form: "full", Reason: "current", Hashes: []echo.Hash{first.Hash()}, Tokens: []int64{5}}}
			}
			add(&echo.Entry{NodeType: echo.NodeSelection, Key: echo.MustKey(at + "/context"), Selection: selection})
			add(&echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey(at + "/model"), Message: answer, Usage: &echo.Usage{In: 5}})
		}
	}
	r, err := inspect.New("s1", entries)
	require.NoError(t, err)
	return r
}

// A call of an element is found by the element's number and by its key, and is a conversation of its own.
func TestPickOfAList(t *testing.T) {
	t.Parallel()
	r := list(t)
	require.Len(t, r.Calls, 8)
	for name, tt := range map[string]struct {
		pick inspect.Pick
		want string
	}{
		"the last element":       {inspect.Pick{Phase: "each"}, "each/item3/attempt1/turn2"},
		"an element":             {inspect.Pick{Phase: "each", Item: 2}, "each/item2/attempt1/turn2"},
		"of whatever phase":      {inspect.Pick{Item: 1, Turn: 1}, "each/item1/attempt1/turn1"},
		"by its branch":          {inspect.Pick{Phase: "each/item1", Turn: 1}, "each/item1/attempt1/turn1"},
		"by its key":             {inspect.Pick{Call: "each/item2"}, "each/item2/attempt1/turn2"},
		"a turn by its key":      {inspect.Pick{Call: "each/item2/attempt1/turn1"}, "each/item2/attempt1/turn1"},
		"a phase of a graph":     {inspect.Pick{Phase: "fetch"}, "fetch/node2/attempt1/turn2"},
		"a phase of it by a key": {inspect.Pick{Call: "fetch/node2"}, "fetch/node2/attempt1/turn2"},
		"a visit by its key":     {inspect.Pick{Call: "each"}, "each/item3/attempt1/turn2"},
	} {
		c, err := r.Pick(tt.pick)
		require.NoError(t, err, name)
		require.Equal(t, tt.want, c.Place(), name)
	}
	_, err := r.Pick(inspect.Pick{Phase: "each", Item: 4})
	require.ErrorContains(t, err, `session s1 has no model call of phase "each" of element 4; it has 8 calls, the nearest are `)
	require.Equal(t, failure.UnknownCall, failure.KindOf(err))
	_, err = r.Pick(inspect.Pick{Item: -1})
	require.ErrorContains(t, err, "attempts, turns, elements, candidates and steps of refinement are counted from 1")

	one, err := r.Call("each/item1")
	require.NoError(t, err)
	other, err := r.Call("each/item2")
	require.NoError(t, err)
	require.Equal(t, "each/item1", one.Branch)
	d, err := r.Diff(one, other)
	require.NoError(t, err)
	require.Zero(t, d.Prefix.Messages)
	for _, c := range d.Messages {
		require.NotEqual(t, inspect.Same, c.Change, "messages of two elements are not the same")
	}
	before, err := r.Call("each/item1/attempt1/turn1")
	require.NoError(t, err)
	d, err = r.Diff(before, one)
	require.NoError(t, err)
	require.Equal(t, 1, d.Prefix.Messages)
}
