package live

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/term"
)

// load is what the calls of a visit took, and how full they made the model's window.
type load struct {
	spent  record.Totals
	window int64 // of the model that is asked now; 0: not known
	last   int64 // tokens of the last request that was answered
}

// add takes an entry of the visit; own is whether the session has paid for it.
func (l *load) add(e *echo.Entry, own bool) {
	switch e.NodeType {
	case echo.NodePhaseStart:
		d, _ := echo.Read[echo.PhaseStart](e) // one that cannot be read names no window
		*l = load{}
		l.moveTo(d.Context)
	case echo.NodeWarning:
		if f := record.FallbackOf(e); f != nil {
			l.moveTo(f.Context)
		}
	case echo.NodeModelCall:
		if own {
			l.spent.Add(e)
		}
		if e.Key.Purpose() == "" && e.Error == nil && e.Usage != nil {
			l.last = e.Usage.In
		}
	}
}

// moveTo has requests go to the model of a context from now on.
func (l *load) moveTo(c *echo.PhaseContext) {
	l.last, l.window = 0, 0
	if c != nil {
		l.window = c.Window
	}
}

// full is the share of the window that the last request took, "" when it is not known.
func (l *load) full() string {
	if l.window <= 0 || l.last <= 0 {
		return ""
	}
	return term.Share(l.last, l.window)
}

// cachedShare is the part of the tokens that were sent which came from the provider's cache, "" when
// nothing was sent.
func cachedShare(u echo.Usage) string {
	if u.In <= 0 {
		return ""
	}
	return term.Share(u.Cached, u.In)
}
