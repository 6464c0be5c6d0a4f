package autocontext

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// The guard looks at the coming request, not at the last one's usage. Above warn_percent of what a request may have it
// warns, once. Above compact_percent it makes room, down to target_percent, so that it does not have to act again on the
// next turn: it moves the frontier fully; removes tool results by level, from the middle outward; has the older messages
// summed up; cuts tool results that alone would not fit. What is still too large then cannot be sent, and the error says
// which message it is.

// guard makes room when the request needs it. An ask has to be answered before the view can be sent.
func (b *Builder) guard() (*Ask, []echo.Guard, error) {
	g := &b.settings.Policy.Guard
	limit := b.limit()
	if limit <= 0 || !g.Enabled {
		return nil, nil, nil
	}
	warnAt, actAt := percent(limit, g.WarnPercent), percent(limit, g.CompactPercent)
	if b.surelyBelow(warnAt) || b.size() < warnAt {
		b.carry.Warned, b.carry.Acting = false, 0
		return nil, nil, nil
	}
	var events []echo.Guard
	if !b.carry.Warned {
		b.carry.Warned = true
		events = append(events, echo.Guard{Event: echo.GuardWarning, Tokens: b.size(), Limit: limit})
	}
	if b.size() < actAt {
		return nil, events, nil
	}
	if g.Recount == cascade.RecountProbe && b.carry.Answered == nil {
		return b.askRecount(), events, nil
	}
	if b.size() < actAt {
		return nil, events, nil
	}
	if b.settings.Strategy == cascade.BudgetFail {
		if b.size() <= limit {
			return nil, events, nil
		}
		return nil, events, b.doesNotFit(limit, `token_budget has the strategy "fail"`)
	}
	if b.carry.Acting == 0 {
		b.carry.Acting = b.size()
		events = append(events, echo.Guard{Event: echo.GuardActing, Tokens: b.size(), Limit: limit})
	}
	ask, did, err := b.makeRoom(percent(limit, g.TargetPercent), actAt)
	if ask != nil || err != nil || did == "" { // without room it goes on acting, and says so once
		return ask, events, err
	}
	events = append(events, echo.Guard{
		Event: echo.GuardComplete, Tokens: b.size(), Before: b.carry.Acting, Limit: limit, Detail: did,
	})
	b.carry.Acting = 0
	b.carry.Warned = b.size() >= warnAt
	return nil, events, nil
}

// percent returns p percent of n, also of an n that is near the largest there is.
func percent(n int64, p int) int64 { return n/100*int64(p) + n%100*int64(p)/100 }

// limit is what a request may have; 0: not known.
func (b *Builder) limit() int64 {
	switch l, c := b.settings.Limit, b.carry.Ceiling; {
	case c > 0 && (l <= 0 || c < l):
		return c
	default:
		return max(l, 0)
	}
}

// makeRoom brings the request down to target, or at least below most, and says what it did, the last step of it. It says
// nothing when it could not, but the request fits as it is.
func (b *Builder) makeRoom(target, most int64) (*Ask, string, error) {
	did := "old tool results were masked"
	if b.moveFully(); b.size() <= target {
		return nil, did, nil
	}
	var ask *Ask
	cut := b.carry.Cut
	switch b.settings.Strategy {
	case cascade.BudgetSlidingWindow:
		b.slideFurther(target, &did)
	case cascade.BudgetPruneOldest:
		if b.removeOldest(target) {
			did = "the oldest tool results were removed"
		}
		b.slideFurther(target, &did)
	default:
		ask = b.summarize(target, most, &did)
	}
	if ask != nil {
		return ask, "", nil
	}
	if b.cutOversize(most); !slices.Equal(b.carry.Cut, cut) {
		did = "tool results that alone did not fit were cut"
	}
	switch {
	case b.size() < most:
		return nil, did, nil
	case b.size() < b.limit():
		return nil, "", nil
	}
	return nil, "", b.doesNotFit(b.limit(), "nothing more can be left out")
}

// slideFurther leaves out the oldest turns as far as that is needed to have target tokens.
func (b *Builder) slideFurther(target int64, did *string) {
	if b.slide(target) {
		*did = "the oldest turns were left out"
	}
}

// summarize removes tool results from the middle outward, and has the older messages summed up when that frees too little.
// It returns the ask for a summary until it is answered.
func (b *Builder) summarize(target, most int64, did *string) *Ask {
	if level := b.removeByLevel(target); level > 0 {
		*did = fmt.Sprintf("%d %% of the tool results were removed", level)
	}
	if b.size() <= (target+most)/2 {
		return nil
	}
	ask, done := b.compact(target, most)
	if ask == nil && done {
		*did = "older messages were summed up by " + b.carry.Summary.By
	}
	return ask
}

// moveFully moves the frontier to the coming turn, whatever it costs.
func (b *Builder) moveFully() {
	if b.carry.AsOf == b.coming() {
		return
	}
	b.carry.AsOf, b.carry.Debt = b.coming(), 0
	b.reshape()
}

// doesNotFit explains a request that cannot be made smaller.
func (b *Builder) doesNotFit(limit int64, why string) error {
	e := &FitError{Tokens: b.size(), Limit: limit, Why: why}
	for i := range b.nodes {
		n := &b.nodes[i]
		if size := b.scaled(b.countMade(&n.cur)); n.cur.sent != nil && size > e.LargestTokens {
			e.Largest, e.LargestTokens, e.LargestIndex = n.msg, size, i
		}
	}
	return e
}

// Refused returns the carry after a call that the provider refused as too long: the next Build makes room. It reports
// false when that has not helped before, or when there is no guard to do it.
func (b *Builder) Refused(c echo.Carry) (echo.Carry, bool) {
	const most = 3
	if !b.settings.Policy.Guard.Enabled || b.settings.Strategy == cascade.BudgetFail || c.Refused >= most {
		return c, false
	}
	c.Refused++
	c.Ceiling = b.size()
	return c, true
}
