// Package hearing takes what people say to a phase while it runs, and says it to its model.
package hearing

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade/people"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// Audibles has what people say to a run while it goes on. It is safe for concurrent use.
type Audibles interface {
	// Take returns the oldest that is for a phase and that no other place has taken, and takes it for the place of a key; nil
	// when there is none. The same place gets the same each time.
	Take(ctx context.Context, key echo.Key, phase string) (*echo.Audible, error)
}

// Hearing is what people say to one visit of a phase. The goroutine of the visit uses it.
type Hearing struct {
	*core.Place
	Settings *people.Audibles // nil: the phase takes none
	From     Audibles         // nil: nobody says anything
	Limit    func() int64     // tokens that a request may have; 0: that is not known
	Say      func(key echo.Key, m *echo.Message) error
	Changing Changing

	count  int   // audibles that the visit has taken
	tokens int64 // of those that its model was told, which every later request has
	broken bool  // what was said cannot be read
}

// Heard is what people have said at one place.
type Heard struct {
	Said    bool // something, or the answer was taken out of views: the model is asked again
	Retract bool // the newest answer was taken back, or out of views
}

// Hear takes what people have changed and said since the place before, and says that to the model. It is called once with each place.
func (c *Hearing) Hear(ctx context.Context, place echo.Key) (h Heard, err error) {
	changed, err := c.Change(ctx, place)
	if err != nil {
		return h, err
	}
	if changed && c.lacksAnswer() { // the model answers again
		h.Said, h.Retract = true, true
	}
	for n := 1; c.Settings != nil && !c.broken && c.count < c.Settings.Most(); n++ {
		key := place.Numbered(echo.StepAudible, n)
		a, known, err := effect.Reading[echo.Audible](ctx, c.Rec, key, c.Site, func() echo.Payload { return c.take(ctx, key) })
		if err != nil || !known {
			return h, err
		}
		if a.Problem != "" {
			c.broken = true
			return h, c.Rec.Warn(key, "what people say to the phase cannot be read: "+a.Problem)
		}
		c.count++
		if a.Unsaid != "" {
			if err := c.Rec.Warn(key, fmt.Sprintf("the model is not told what %s said: %s", a.By, a.Unsaid)); err != nil {
				return h, err
			}
			continue
		}
		retract, why := c.retracts(&a)
		if why != "" && !h.Retract { // two who say it at once mean the same answer
			if err := c.Rec.Warn(key, fmt.Sprintf("%s wanted to take the newest answer back, %s", a.By, why)); err != nil {
				return h, err
			}
		}
		h.Said, h.Retract = true, h.Retract || retract
		m := audibleMessage(&a, retract)
		c.tokens += autocontext.Tokens(m)
		if err := c.Say(key, m); err != nil {
			return h, err
		}
	}
	return h, nil
}

// retracts reports whether an audible takes the newest answer back, and why it does not where that was wanted.
func (c *Hearing) retracts(a *echo.Audible) (retract bool, why string) {
	switch {
	case !a.Retry:
		return false, ""
	case !c.Settings.Retries():
		return false, "which the phase does not allow: the answer stays"
	case !c.hasAnswer():
		return false, "and this attempt has none that could be: the model is only told"
	}
	return true, ""
}

// take takes what people have said, nil when that is nothing.
func (c *Hearing) take(ctx context.Context, key echo.Key) echo.Payload {
	if c.From == nil || ctx.Err() != nil {
		return nil
	}
	a, err := c.From.Take(ctx, key, c.Def.Name)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return echo.Audible{Problem: err.Error()}
	case a == nil:
		return nil
	}
	said, limit := *a, c.Limit()
	if tokens := autocontext.Tokens(audibleMessage(a, false)); limit > 0 && c.tokens+tokens > limit/2 {
		said.Unsaid = fmt.Sprintf("with it, %d tokens are said, more than half of the %d that a request may have", c.tokens+tokens, limit)
	}
	return said
}

// hasAnswer reports whether the attempt has an answer that can be taken back.
func (c *Hearing) hasAnswer() bool {
	next := append(slices.Clip(c.Record.History), echo.Item{Attempt: c.Attempt})
	gone := echo.Retracted(c.Record.History)
	return len(echo.Retracts(len(next)-1, func(i int) (*echo.Message, int) { return next[i].Message, next[i].Attempt },
		func(i int) bool { return gone != nil && gone[i] })) > 0
}

// lacksAnswer reports whether the newest answer of the attempt was taken out of views.
func (c *Hearing) lacksAnswer() bool {
	for _, it := range slices.Backward(c.Session.Marked(c.Record)) {
		if it.Message.Role() == echo.RoleAssistant && it.Attempt == c.Attempt && it.Order > 0 {
			return it.Withdrawn != echo.InView
		}
	}
	return false
}

// audibleMessage is what the model is told.
func audibleMessage(a *echo.Audible, retract bool) *echo.Message {
	if retract {
		return echo.NewText(echo.RoleUser, echo.KindRetract, "Your newest answer was taken back. Answer again. The person who watches this run says:\n\n"+a.Text)
	}
	return echo.NewText(echo.RoleUser, echo.KindAudible, "The person who watches this run says:\n\n"+a.Text)
}
