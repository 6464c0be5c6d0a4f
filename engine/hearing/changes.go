package hearing

import (
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Changes has what people take out of the views of a session, and back into them. It is safe for concurrent use.
type Changes interface {
	// After returns the change that follows the one of a number; nil when there is none yet. Every branch of a run takes every
	// change by itself, so nobody takes one away from others.
	After(ctx context.Context, number int) (*echo.ViewChange, error)
}

// Changing is how one visit of a phase takes such changes.
type Changing struct {
	From Changes                                       // nil: nobody changes anything
	Then func(ctx context.Context, taken *Taken) error // is called after changes

	broken bool // changes cannot be read
}

// Taken is what the changes of one place come to.
type Taken struct {
	Were    []echo.Item       // the history as [echo.Session.Marked] had it before
	Before  *echo.Withdrawals // of the session
	Rebuild int               // the number of the change by which the state block is to be rebuilt; 0: it is not
}

// Change takes what people have changed since the place before, and reports whether that is anything. It is called once with each
// place, also by [Hearing.Hear].
func (c *Hearing) Change(ctx context.Context, place echo.Key) (changed bool, err error) {
	taken := &Taken{Were: c.Session.Marked(c.Record), Before: c.Session.Withdrawals}
	if changed, err = c.takeChanges(ctx, place, taken); changed && err == nil {
		err = c.Changing.Then(ctx, taken)
	}
	return changed, err
}

func (c *Hearing) takeChanges(ctx context.Context, place echo.Key, taken *Taken) (changed bool, err error) {
	for n := 1; !c.Changing.broken; n++ {
		key := place.Numbered(echo.StepChange, n)
		change, known, err := effect.Reading[echo.ViewChange](ctx, c.Rec, key, c.Site, func() echo.Payload { return c.nextChange(ctx) })
		if err != nil || !known {
			return changed, err
		}
		if change.Problem != "" {
			c.Changing.broken = true
			return changed, c.Rec.Warn(key, "what people take out of the context cannot be read: "+change.Problem)
		}
		c.Session.Withdrawals = c.Session.Withdrawals.With(&change)
		if changed = true; change.Action == echo.ViewRebuild {
			taken.Rebuild = change.Number
		}
	}
	return changed, nil
}

// next reads the change that the session has not taken yet, nil when there is none.
func (c *Hearing) nextChange(ctx context.Context) echo.Payload {
	if c.Changing.From == nil || ctx.Err() != nil {
		return nil
	}
	change, err := c.Changing.From.After(ctx, c.Session.Withdrawals.Last())
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return echo.ViewChange{Problem: err.Error()}
	case change == nil:
		return nil
	}
	return *change
}
