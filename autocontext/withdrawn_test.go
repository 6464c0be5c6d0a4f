package autocontext_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
)

// withdrawSome takes groups of a history out at random, each call with its results.
func (w *world) withdrawSome(items []echo.Item) (marked, rest []echo.Item) {
	groups := echo.Groups(items)
	out := map[int]bool{}
	for range 1 + w.IntN(3) {
		out[2+w.IntN(max(groups[len(groups)-1], 1))] = true
	}
	for i, it := range items {
		if it.Message.Kind() == echo.KindRetract {
			it.Message = echo.NewText(echo.RoleUser, echo.KindAudible, it.Message.Text())
		}
		if out[groups[i]] && !it.Message.Kind().Stands() {
			it.Withdrawn = []echo.Withdrawn{echo.Undone, echo.Dropped, echo.Removed}[w.IntN(3)]
		} else {
			rest = append(rest, it)
		}
		marked = append(marked, it)
	}
	return marked, rest
}

// TestWithdrawnIsNotSent: what a person has taken out is in no request, whatever the settings, and what is left is valid. Without
// settings the request is that of a history which never had it.
func TestWithdrawnIsNotSent(t *testing.T) {
	t.Parallel()
	reasons := map[echo.Withdrawn]autocontext.Reason{
		echo.Undone: autocontext.ReasonUndone, echo.Dropped: autocontext.ReasonDropped, echo.Removed: autocontext.ReasonRemovedByPerson,
	}
	for seed := range uint64(200) {
		w := newWorld(seed, seed%2 == 0)
		items, _ := w.conversation(3 + w.IntN(15))
		marked, rest := w.withdrawSome(items)
		render := func(s autocontext.Settings, history []echo.Item) ([]*echo.Message, *autocontext.View) {
			step, err := autocontext.NewBuilder(s).Build(history, echo.Carry{})
			if err != nil || step.Ask != nil {
				return nil, nil
			}
			return autocontext.NewRenderer(s.Dialect).Render(step.View), step.View
		}
		sent, _ := render(autocontext.Settings{OwnIDs: true}, marked)
		want, _ := render(autocontext.Settings{OwnIDs: true}, rest)
		require.Equal(t, texts(want), texts(sent), "seed %d", seed)
		s := w.settings()
		sent, v := render(s, marked)
		if v == nil {
			continue // it does not fit, or something is to be summed up first
		}
		validSequence(t, sent)
		for i, it := range v.Items {
			if marked[i].Withdrawn != echo.InView {
				require.Equal(t, autocontext.FormDropped, it.Form)
				require.Equal(t, reasons[marked[i].Withdrawn], it.Reason)
				require.Nil(t, it.Sent)
				require.Empty(t, it.After)
			}
		}
	}
}

// TestWithdrawnRetraction: an answer that was taken back does not come again when the words that took it back are taken out.
func TestWithdrawnRetraction(t *testing.T) {
	t.Parallel()
	items := []echo.Item{
		user(echo.KindTask, "go", 0, 0),
		{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "wrong"), Attempt: 1, Turn: 1},
		user(echo.KindRetract, "not so", 1, 1),
		{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "right"), Attempt: 1, Turn: 2},
	}
	items[2].Withdrawn = echo.Dropped
	step, err := autocontext.NewBuilder(autocontext.Settings{}).Build(items, echo.Carry{})
	require.NoError(t, err)
	require.Nil(t, step.View.Items[1].Sent)
	require.Len(t, echo.Present(items), 2)
}

func texts(messages []*echo.Message) (out []string) {
	for _, m := range messages {
		out = append(out, fmt.Sprintf("%s %s", m.Role(), m.JSON()))
	}
	return out
}
