package echo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func changeOf(number int, action echo.ViewAction, spots ...echo.Spot) *echo.ViewChange {
	return &echo.ViewChange{Number: number, Action: action, Messages: spots}
}

// TestWithdrawals: changes count once and in their order, and make other withdrawals: those before stay as they were.
func TestWithdrawals(t *testing.T) {
	t.Parallel()
	history := []echo.Item{
		{Message: echo.NewText(echo.RoleUser, echo.KindTask, "go"), Order: 1},
		{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "same"), Order: 2},
		{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "same"), Order: 3},
		{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "same")}, // it was brought in
	}
	spots := echo.Spots("p", 1, history)
	require.Equal(t, []int{1, 1, 2, 0}, []int{spots[0].Nth, spots[1].Nth, spots[2].Nth, spots[3].Nth})
	of := func(w *echo.Withdrawals, visit int) (out []echo.Withdrawn) {
		for _, it := range w.Mark("p", visit, history) {
			out = append(out, it.Withdrawn)
		}
		return out
	}
	var none *echo.Withdrawals
	require.True(t, none.Whole())
	require.Zero(t, none.Last())
	dropped := none.With(changeOf(1, echo.ViewDrop, spots[2]))
	require.Equal(t, []echo.Withdrawn{"", "", "dropped", "dropped"}, of(dropped, 1), "of equal messages the one that is named, and copies")
	require.Equal(t, []echo.Withdrawn{"", "", "", "dropped"}, of(dropped, 2), "of another visit no message of its own")
	require.Same(t, dropped, dropped.With(changeOf(1, echo.ViewRestore, spots[2])), "a change counts once")
	require.Same(t, dropped, dropped.With(changeOf(3, echo.ViewRestore, spots[2])), "and in its order")
	require.Same(t, dropped, dropped.With(&echo.ViewChange{Number: 2, Problem: "torn"}))
	both := dropped.With(changeOf(2, echo.ViewUndo, spots[1]))
	require.Equal(t, []echo.Withdrawn{"", "undone", "dropped", "undone"}, of(both, 1))
	restored := both.With(changeOf(3, echo.ViewRestore, spots[1], spots[2]))
	require.True(t, restored.Whole())
	require.Equal(t, 3, restored.Last())
	require.Equal(t, []echo.Withdrawn{"", "", "dropped", "dropped"}, of(dropped, 1))
	require.Len(t, echo.Present(both.Mark("p", 1, history)), 1)
	require.Empty(t, history[2].Withdrawn, "the history stays")

	from := spots[1]
	history[3].Origin = &from
	require.Equal(t, []echo.Withdrawn{"", "", "dropped", ""}, of(dropped, 1), "a copy that knows its original goes with that")
}

// TestWithdrawnGoesTogether: a call with its results, under rules before a lookup with what it shows, the notice of a resumption with any message.
func TestWithdrawnGoesTogether(t *testing.T) {
	t.Parallel()
	answer := func(ids ...string) *echo.Message {
		d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
		for _, id := range ids {
			d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: id, Name: "look", Arguments: "{}"})
		}
		return echo.Seal(d)
	}
	result := func(id, tool, text string) *echo.Message {
		return echo.NewToolResult(echo.ToolCall{ID: id, Name: tool}, echo.Text(text), false)
	}
	found := result("a", "look", "found it")
	history := []echo.Item{
		{Message: echo.NewText(echo.RoleUser, echo.KindTask, "go")},
		{Message: answer("a", "b")},
		{Message: found},
		{Message: result("b", "look", "nothing")},
		{Message: echo.NewText(echo.RoleUser, echo.KindNotice, echo.ResumedHead+": it found it.")},
		{Message: answer("c")},
		{Message: result("c", echo.ToolRecall, "["+string(found.Hash())+", result of look]\nfound it")},
		{Message: answer("d")},
		{Message: result("d", "read_file", "about "+string(found.Hash()))},
		{Message: answer("e")},
		{Message: result("e", echo.ToolSearch, "1 of 7 messages, the best first:\n0000000000000000 | tool")},
	}
	for i := range history {
		history[i].Order = i + 1
	}
	for _, named := range []int{1, 2} {
		var none *echo.Withdrawals
		w := none.With(changeOf(1, echo.ViewRemove, echo.Spots("p", 1, history)[named]))
		var gone []int
		for i, it := range w.MarkWithLookups("p", 1, history) {
			if it.Withdrawn != echo.InView {
				gone = append(gone, i)
			}
		}
		want := []int{1, 2, 3, 4}
		if named == 2 {
			want = append(want, 5, 6)
		}
		require.Equal(t, want, gone)
		for i, it := range w.Mark("p", 1, history) {
			require.Equal(t, i > 0 && i < 5, it.Withdrawn != echo.InView, "a lookup stays")
		}
	}
}

// TestWithdrawnElements: of equal messages of elements the one goes that is named, also while others have not ended; the list of
// their answers goes with the last. A change of before elements were named counts as it did.
func TestWithdrawnElements(t *testing.T) {
	t.Parallel()
	item := func(order, element int, text string) echo.Item {
		return echo.Item{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, text), Order: order, Element: element}
	}
	history := []echo.Item{item(1, 1, "same"), item(2, 2, "same"), item(3, 0, `["same","same"]`)}
	spots := echo.Spots("p", 1, history)
	require.Equal(t, echo.Spot{Phase: "p", Visit: 1, Item: 2, Hash: history[1].Message.Hash(), Nth: 1}, spots[1])
	require.Equal(t, spots[1], echo.Spots("p", 1, history[1:2])[0], "it is the same where the element runs by itself")
	before := echo.SpotsBefore("p", 1, history)
	require.Equal(t, echo.Spot{Phase: "p", Visit: 1, Hash: history[1].Message.Hash(), Nth: 2}, before[1])
	require.Nil(t, echo.SpotsBefore("p", 1, history[2:]))
	of := func(w *echo.Withdrawals) (out []echo.Withdrawn) {
		for _, it := range w.Mark("p", 1, history) {
			out = append(out, it.Withdrawn)
		}
		return out
	}
	var none *echo.Withdrawals
	second := none.With(changeOf(1, echo.ViewDrop, spots[1]))
	require.Equal(t, []echo.Withdrawn{"", "dropped", ""}, of(second))
	require.Equal(t, of(second), of(none.With(changeOf(1, echo.ViewDrop, before[1]))))
	both := second.With(changeOf(2, echo.ViewRemove, spots[0]))
	require.Equal(t, []echo.Withdrawn{"removed", "dropped", "removed"}, of(both))
	require.Equal(t, []echo.Withdrawn{"removed", "", ""}, of(both.With(changeOf(3, echo.ViewRestore, spots[1]))))
}
