package autocontext

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// The guard looks at the coming request, not at the last one's usage. Above warn_percent of what a
// request may have it warns, once. Above compact_percent it makes room, down to target_percent, so
// that it does not have to act again on the next turn: it moves the frontier fully; removes tool
// results by level, from the middle outward; has the older messages summed up; cuts tool results
// that alone would not fit. What is still too large then cannot be sent, and the error says which
// message it is.

// guard makes room in a draft.
type guard struct{ d *draft }

// act makes room when the request needs it. An ask has to be answered before the view can be sent.
func (g *guard) act() (*Ask, []echo.Guard, error) {
	d := g.d
	p := &d.settings.Policy.Guard
	limit := d.limit()
	if limit <= 0 || !p.Enabled {
		return nil, nil, nil
	}
	warnAt, actAt := percent(limit, p.WarnPercent), percent(limit, p.CompactPercent)
	if d.surelyBelow(warnAt) || d.size() < warnAt {
		d.carry.Warned, d.carry.Acting = false, 0
		return nil, nil, nil
	}
	var events []echo.Guard
	if !d.carry.Warned {
		d.carry.Warned = true
		events = append(events, echo.Guard{Event: echo.GuardWarning, Tokens: d.size(), Limit: limit})
	}
	if d.size() < actAt {
		return nil, events, nil
	}
	if p.Recount == cascade.RecountProbe && d.carry.Answered == nil {
		return g.askRecount(), events, nil
	}
	if d.size() < actAt {
		return nil, events, nil
	}
	if d.settings.Strategy == cascade.BudgetFail {
		if d.size() <= limit {
			return nil, events, nil
		}
		return nil, events, g.doesNotFit(limit, `token_budget has the strategy "fail"`)
	}
	if d.carry.Acting == 0 {
		d.carry.Acting = d.size()
		events = append(events, echo.Guard{Event: echo.GuardActing, Tokens: d.size(), Limit: limit})
	}
	ask, did, err := g.makeRoom(percent(limit, p.TargetPercent), actAt)
	if ask != nil || err != nil || did == "" { // without room it goes on acting, and says so once
		return ask, events, err
	}
	events = append(events, echo.Guard{
		Event: echo.GuardComplete, Tokens: d.size(), Before: d.carry.Acting, Limit: limit, Detail: did,
	})
	d.carry.Acting = 0
	d.carry.Warned = d.size() >= warnAt
	return nil, events, nil
}

// percent returns p percent of n, also of an n that is near the largest there is.
func percent(n int64, p int) int64 { return n/100*int64(p) + n%100*int64(p)/100 }

// limit is what a request may have; 0: not known.
func (d *draft) limit() int64 {
	switch l, c := d.settings.Limit, d.carry.Ceiling; {
	case c > 0 && (l <= 0 || c < l):
		return c
	default:
		return max(l, 0)
	}
}

// makeRoom brings the request down to target, or at least below most, and says what it did, the
// last step of it. It says nothing when it could not, but the request fits as it is.
func (g *guard) makeRoom(target, most int64) (*Ask, string, error) {
	d := g.d
	did := "old tool results were masked"
	if g.moveFully(); d.size() <= target {
		return nil, did, nil
	}
	var ask *Ask
	cut := d.carry.Cut
	switch d.settings.Strategy {
	case cascade.BudgetSlidingWindow:
		g.slideFurther(target, &did)
	case cascade.BudgetPruneOldest:
		if g.removeOldest(target) {
			did = "the oldest tool results were removed"
		}
		g.slideFurther(target, &did)
	default:
		ask = g.summarize(target, most, &did)
	}
	if ask != nil {
		return ask, "", nil
	}
	if g.cutOversize(most); !slices.Equal(d.carry.Cut, cut) {
		did = "tool results that alone did not fit were cut"
	}
	switch {
	case d.size() < most:
		return nil, did, nil
	case d.size() < d.limit():
		return nil, "", nil
	}
	return nil, "", g.doesNotFit(d.limit(), "nothing more can be left out")
}

// slideFurther leaves out the oldest turns as far as that is needed to have target tokens.
func (g *guard) slideFurther(target int64, did *string) {
	if g.slide(target) {
		*did = "the oldest turns were left out"
	}
}

// summarize removes tool results from the middle outward, and has the older messages summed up when
// that frees too little. It returns the ask for a summary until it is answered.
func (g *guard) summarize(target, most int64, did *string) *Ask {
	if level := g.removeByLevel(target); level > 0 {
		*did = fmt.Sprintf("%d %% of the tool results were removed", level)
	}
	if g.d.size() <= (target+most)/2 {
		return nil
	}
	ask, done := g.compact(target, most)
	if ask == nil && done {
		*did = "older messages were summed up by " + g.d.carry.Summary.By
	}
	return ask
}

// moveFully moves the frontier to the coming turn, whatever it costs.
func (g *guard) moveFully() {
	d := g.d
	if d.carry.AsOf == d.coming() {
		return
	}
	d.carry.AsOf, d.carry.Debt = d.coming(), 0
	d.reshape()
}

// doesNotFit explains a request that cannot be made smaller.
func (g *guard) doesNotFit(limit int64, why string) error {
	d := g.d
	e := &FitError{Tokens: d.size(), Limit: limit, Why: why}
	for i := range d.nodes {
		n := &d.nodes[i]
		if size := d.scaled(d.count.of(&n.cur)); n.cur.sent != nil && size > e.LargestTokens {
			e.Largest, e.LargestTokens, e.LargestIndex = n.msg, size, i
		}
	}
	return e
}

// Refused returns the carry after a call that the provider refused as too long: the next Build
// makes room. It reports false when that has not helped before, or when there is no guard to do it.
func (b *Builder) Refused(c echo.Carry) (echo.Carry, bool) {
	const most = 3
	if !b.settings.Policy.Guard.Enabled || b.settings.Strategy == cascade.BudgetFail || c.Refused >= most {
		return c, false
	}
	c.Refused++
	c.Ceiling = b.draft.size()
	return c, true
}
