package views

import (
	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
)

// history returns the history of the visit with what persons have taken out of it. The task stays: without it the phase has nothing
// to do.
func history(v *Views) []echo.Item {
	marked := v.Session.Marked(v.Record)
	for i := range marked {
		if it := &marked[i]; it.Withdrawn != echo.InView && it.Order > 0 && it.Message.Kind() == echo.KindTask {
			it.Withdrawn = echo.InView
		}
	}
	return marked
}

// Changed makes the next view anew after persons have taken messages out of views, or back into them: were is the history as
// [echo.Session.Marked] had it before. A summary that tells of such a message is none any more.
func Changed(v *Views, were []echo.Item) {
	first := -1
	for i, it := range v.Session.Marked(v.Record) {
		if i >= len(were) || it.Withdrawn != were[i].Withdrawn {
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
