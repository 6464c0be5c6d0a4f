package views

import (
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/withheld"
)

// history returns the history of the visit with what persons have taken out of it. The task stays: without it the phase has nothing
// to do. What it quotes of an answer that was taken out is not sent.
func history(v *Views) []echo.Item {
	marked := v.Session.Marked(v.Record)
	out := withheld.Of(v.Session)
	if out == nil {
		return marked
	}
	marked = slices.Clone(marked)
	for i := range marked {
		marked[i].Instead = out.Quoted(marked[i].Message)
		if it := &marked[i]; it.Withdrawn != echo.InView && it.Order > 0 && it.Message.Kind() == echo.KindTask {
			it.Withdrawn = echo.InView
		}
	}
	return marked
}

// Changed makes the next view anew after persons have taken messages out of views, or back into them: were is the history as
// [echo.Session.Marked] had it before, and before what persons had taken out then. A summary that tells of such a message, or of one
// that quotes it, is none any more.
func Changed(v *Views, were []echo.Item, before *echo.Withdrawals) {
	first := -1
	session := *v.Session
	session.Withdrawals = before
	then, now := withheld.Of(&session), withheld.Of(v.Session)
	for i, it := range v.Session.Marked(v.Record) {
		if i >= len(were) || it.Withdrawn != were[i].Withdrawn || !same(then.Quoted(it.Message), now.Quoted(it.Message)) {
			first = i
			break
		}
	}
	if first < 0 {
		return
	}
	v.Builder = autocontext.NewBuilder(v.Settings)
	c := &v.Carry
	c.BeginAnew()
	if c.Summary != nil && first < c.Summary.Covers {
		c.Summary = nil
	}
}

func same(a, b *echo.Message) bool {
	return a == b || a != nil && b != nil && a.Hash() == b.Hash()
}
