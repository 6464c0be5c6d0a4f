package waits

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/mailbox"
)

// Sent is what becomes of a signal that was sent.
type Sent struct {
	Wait    *Wait        // that gets it; nil: none that is open now
	Earlier *echo.Answer // that the open wait gets instead, as it was there before; nil: no wait is open for the signal
}

// Sent says what becomes of a signal of a name that was sent to a session, or to whichever waits for it first where that
// is "". Waits are looked at in the order in which they began: each gets the oldest signal that no other one gets.
func (d Desk) Sent(ctx context.Context, session, name, letter string) (*Sent, error) {
	open, err := d.List(ctx, "")
	if err != nil {
		return nil, err
	}
	out, given := &Sent{}, map[string]bool{}
	for _, w := range open {
		if w.Answer != nil || !slices.Contains(w.Signals(), name) || session != "" && w.Session != session {
			continue
		}
		first, err := d.first(w, given)
		switch {
		case err != nil:
			return nil, err
		case first == nil:
		case first.Letter == letter:
			return &Sent{Wait: w}, nil
		default:
			given[first.Letter] = true
			out.Earlier = cmp.Or(out.Earlier, first)
		}
	}
	return out, nil
}

// first returns the signal that a wait gets, besides those that are given to others; nil when there is none.
func (d Desk) first(w *Wait, given map[string]bool) (first *echo.Answer, err error) {
	var deadline time.Time
	if w.Deadline != nil {
		deadline = *w.Deadline
	}
	for _, box := range []mailbox.Box{Box(d.Home, w.Session), HomeBox(d.Home)} {
		for _, name := range w.Signals() {
			if a, err := box.Taken(name, Claimant(w.Session, w.Key)); a != nil || err != nil {
				return a, err
			}
			free, err := box.Free(name, deadline)
			if err != nil {
				return nil, err
			}
			for _, l := range free {
				if !given[l.Letter] && (first == nil || l.At.Before(first.At)) {
					first = &l.Answer
				}
			}
		}
	}
	return first, nil
}
