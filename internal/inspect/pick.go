package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// Pick says which call is meant; the zero value means the last one.
type Pick struct {
	Call    string // its number or key; nothing else counts then
	Phase   string // a phase, a visit or a branch, such as research~2 or each/item3
	Item    int    // the element of a list, from 1; 0: any
	Attempt int    // from 1; 0: any
	Turn    int    // from 1; 0: any

	Sounding int // the candidate, from 1; 0: any. Without Reforge it is one of the first ones
	Reforge  int // the step of refinement, from 1; 0: any
}

// String says what is picked.
func (p Pick) String() string {
	s := "model call"
	if p.Phase != "" {
		s += fmt.Sprintf(" of phase %q", p.Phase)
	}
	if p.Item > 0 {
		s += fmt.Sprintf(" of element %d", p.Item)
	}
	if p.Sounding > 0 {
		s += fmt.Sprintf(" of candidate %d", p.Sounding)
	}
	if p.Reforge > 0 {
		s += fmt.Sprintf(" in step %d of refinement", p.Reforge)
	}
	if p.Attempt > 0 {
		s += fmt.Sprintf(" in attempt %d", p.Attempt)
	}
	if p.Turn > 0 {
		s += fmt.Sprintf(" in turn %d", p.Turn)
	}
	return s
}

// Pick returns the last call that fits.
func (r *Record) Pick(p Pick) (*Call, error) {
	if min(p.Attempt, p.Turn, p.Item, p.Sounding, p.Reforge) < 0 {
		return nil, failure.New(failure.InvalidRequest, errors.New("attempts, turns, elements, candidates and steps of refinement are counted from 1"), "")
	}
	if p.Call != "" {
		return r.Call(p.Call)
	}
	for i := range slices.Backward(r.Calls) {
		c := &r.Calls[i]
		if p.isOf(c) && p.isIn(c) && (p.Attempt == 0 || p.Attempt == c.Attempt) && (p.Turn == 0 || p.Turn == c.Turn) {
			return c, nil
		}
	}
	return nil, r.noCall(p.String(), p.Phase)
}

// isOf reports whether a call is of the phase, the visit or the branch.
func (p *Pick) isOf(c *Call) bool {
	return slices.Contains([]string{"", c.Phase, c.Visit.String(), c.Branch}, p.Phase)
}

// isIn reports whether a call is of the element and of the candidate.
func (p *Pick) isIn(c *Call) bool {
	step, candidate := c.in(echo.StepReforge), c.in(echo.StepSounding)
	return (p.Item == 0 || p.Item == c.in(echo.StepItem)) && (p.Sounding == 0 || p.Sounding == candidate) &&
		(p.Reforge == step || p.Reforge == 0 && p.Sounding == 0)
}

// Call returns the call with this number or key; for a place with several requests the last one, and
// for a visit or a branch its last one.
// The key may also be that of a request to choose what comes in, whose number is 0.
func (r *Record) Call(name string) (*Call, error) {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(r.Calls) {
			return nil, r.noCall(fmt.Sprintf("model call number %d", n), "")
		}
		return &r.Calls[n-1], nil
	}
	key, err := echo.ParseKey(strings.TrimSuffix(name, "/"))
	for i := range slices.Backward(r.Calls) {
		c := &r.Calls[i]
		if err == nil && (c.Key == key.ModelKey() || c.Key.Place() == key) {
			return c, nil
		}
	}
	if m := r.menu(key); err == nil && m != nil {
		return &m.call, nil
	}
	for i := range slices.Backward(r.Calls) {
		if c := &r.Calls[i]; err == nil && !key.IsZero() && (c.Visit == key || c.Branch == key.String()) {
			return c, nil
		}
	}
	return nil, r.noCall(fmt.Sprintf("model call %q", name), name)
}

func (r *Record) noCall(what, like string) error {
	if len(r.Calls) == 0 {
		return failure.New(failure.UnknownCall, errors.New(r.WithoutCalls()), "")
	}
	msg := fmt.Sprintf("session %s has no %s; it has %s", r.ID, what, quantity.Of(len(r.Calls), "call"))
	if like != "" {
		places := make([]string, len(r.Calls))
		for i := range r.Calls {
			places[i] = r.Calls[i].Place()
		}
		msg += ", the nearest are " + strings.Join(suggestion.Nearest(like, places, 3), ", ")
	}
	return failure.New(failure.UnknownCall, errors.New(msg), "")
}
