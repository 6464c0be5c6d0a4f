package autocontext

import "github.com/windlass-run/windlass/echo"

// Ages tells what a history would be sent as for every frontier. It belongs to one goroutine.
type Ages struct{ d *draft }

// NewAges reads a history.
func NewAges(s Settings, history []echo.Item) *Ages {
	d := newDraft(&s, NewRenderer(s.Dialect))
	d.read(history)
	return &Ages{d: d}
}

// At returns the view with ages taken as of a turn; 0: nothing is old. It is valid until the next
// call, and costs least when turns are asked for in order.
func (a *Ages) At(asOf int) *View {
	a.d.carry.AsOf = asOf
	a.d.reshape()
	a.d.view.touched = a.d.view.touched[:0]
	return &a.d.view
}
