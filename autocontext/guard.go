package autocontext

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// guard makes room in a draft. It looks at the coming request: above warn_percent of the limit it
// warns, once; above compact_percent it makes room down to target_percent, of the limit or, with
// compact_at_tokens, of the size of which that is compact_percent: it moves the frontier,
// removes tool results from the middle outward, has older messages summed up, and cuts tool
// results that alone would not fit. Else the error names the largest message. Where what stays is too
// large for compact_at_tokens, it makes room from a quarter above that on.
type guard struct{ *draft }

func (g *guard) act() (*Ask, []echo.Guard, error) {
	p := &g.settings.Policy.Guard
	limit := g.limit()
	if limit <= 0 || !p.Enabled {
		return nil, nil, nil
	}
	full := g.fullAt(limit)
	if !g.surelyBelow(percent(full, p.WarnPercent)) { // what stays is counted only where that matters
		full = g.fullAbove(full, limit)
	}
	warnAt, actAt := percent(full, p.WarnPercent), percent(full, p.CompactPercent)
	if g.surelyBelow(warnAt) || g.size() < warnAt {
		g.carry.Warned, g.carry.Acting = false, 0
		return nil, nil, nil
	}
	var events []echo.Guard
	if !g.carry.Warned {
		g.carry.Warned = true
		events = append(events, echo.Guard{Event: echo.GuardWarning, Tokens: g.size(), Limit: limit, Detail: g.tooSmall(limit)})
	}
	if g.size() < actAt {
		return nil, events, nil
	}
	if p.Recount == cascade.RecountProbe && g.carry.Answered == nil {
		return g.askRecount(), events, nil
	}
	if g.settings.Strategy == cascade.BudgetFail {
		if g.size() <= limit || g.guessed() {
			return nil, events, nil
		}
		return nil, events, g.doesNotFit(limit, `token_budget has the strategy "fail"`)
	}
	if g.carry.Acting == 0 {
		g.carry.Acting = g.size()
		events = append(events, echo.Guard{Event: echo.GuardActing, Tokens: g.size(), Limit: limit})
	}
	ask, did, err := g.makeRoom(percent(full, p.TargetPercent), actAt)
	if ask != nil || err != nil || did == "" { // without room it goes on acting, and says so once
		return ask, events, err
	}
	events = append(events, echo.Guard{
		Event: echo.GuardComplete, Tokens: g.size(), Before: g.carry.Acting, Limit: limit, Detail: did,
	})
	g.carry.Acting = 0
	g.carry.Warned = g.size() >= percent(g.fullAbove(g.fullAt(limit), limit), p.WarnPercent) // the newest turn may be smaller now
	return nil, events, nil
}

// fullAt returns the size that the percentages are of: the limit, or less where compact_at_tokens comes first.
func (g *guard) fullAt(limit int64) int64 {
	p := &g.settings.Policy.Guard
	if at := p.CompactAtTokens; at > 0 && at < percent(limit, p.CompactPercent) {
		return at/int64(p.CompactPercent)*100 + at%int64(p.CompactPercent)*100/int64(p.CompactPercent)
	}
	return limit
}

// overStay is the size at which room is made above what stays.
func overStay(stay int64) int64 { return stay + stay/4 }

// fullAbove is what becomes of the size of which the percentages are, where too much stays to make room for it.
func (g *guard) fullAbove(full, limit int64) int64 {
	percentage := int64(g.settings.Policy.Guard.CompactPercent)
	if !g.settings.Summary.AboveWhatStays || full >= limit {
		return full
	}
	at := overStay(g.stays(true))
	return min(max(full, at/percentage*100+at%percentage*100/percentage), limit)
}

// stays counts what cannot be left out of the coming request, with room for a summary and, if asked for, the newest turn.
func (g *guard) stays(newest bool) int64 {
	n, from := g.settings.Fixed, len(g.nodes)
	for newest && from > 0 {
		if from--; !isToolResult(&g.nodes[from]) {
			break
		}
	}
	for i := range g.nodes {
		if i >= from || g.survives(i) {
			n += g.count.of(&g.nodes[i].cur)
		}
	}
	if s := g.settings.Strategy; s == cascade.BudgetSummarize || s == "" {
		return g.scaled(n) + g.allowance()
	}
	return g.scaled(n)
}

// tooSmall says once that compact_at_tokens is too small for what stays in each request, and "" where it is not.
func (g *guard) tooSmall(limit int64) string {
	at := g.settings.Policy.Guard.CompactAtTokens
	if g.carry.Told || !g.settings.Summary.AboveWhatStays || g.fullAt(limit) >= limit {
		return ""
	}
	stay := g.stays(false)
	from := min(overStay(stay), percent(limit, g.settings.Policy.Guard.CompactPercent))
	if from <= at {
		return ""
	}
	g.carry.Told = true
	return fmt.Sprintf("%d tokens of each request cannot be left out, too many for compact_at_tokens %d: room is made from %d tokens on; "+
		"set it to that or more, or shorten the instructions, the input and the tools", stay, at, from)
}

// percent returns p percent of n without overflow.
func percent(n int64, p int) int64 { return n/100*int64(p) + n%100*int64(p)/100 }

// limit is what a request may have; 0: not known.
func (d *draft) limit() int64 {
	l, c := d.settings.Limit, d.carry.Ceiling
	if c > 0 && (l <= 0 || c < l) {
		return c
	}
	return max(l, 0)
}

// guessed reports whether nobody knows that the limit is one: a request above it is sent, and a
// refusal says what the limit is.
func (d *draft) guessed() bool { return d.settings.Assumed && d.carry.Ceiling == 0 }

// makeRoom brings the request down to target, or at least below most, and says what it did, the
// last step of it. It says nothing when it could not, but the request fits as it is.
func (g *guard) makeRoom(target, most int64) (*Ask, string, error) {
	did := "old tool results were masked"
	if g.moveFully(); g.size() <= target {
		return nil, did, nil
	}
	var ask *Ask
	cut := g.carry.Cut
	switch g.settings.Strategy {
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
	if g.cutOversize(); !slices.Equal(g.carry.Cut, cut) {
		did = "tool results that alone did not fit were cut"
	}
	switch {
	case g.size() < most:
		return nil, did, nil
	case g.size() < g.limit(), g.guessed():
		return nil, "", nil
	}
	return nil, "", g.doesNotFit(g.limit(), "nothing more can be left out")
}

func (g *guard) slideFurther(target int64, did *string) {
	if g.slide(target) {
		*did = "the oldest turns were left out"
	}
}

// summarize removes tool results from the middle outward, then has older messages summed up.
func (g *guard) summarize(target, most int64, did *string) *Ask {
	if level := g.removeByLevel(target); level > 0 {
		*did = fmt.Sprintf("%d %% of the tool results were removed", level)
	}
	if g.size() <= (target+most)/2 {
		return nil
	}
	ask, done := g.compact(target, most)
	if ask == nil && done {
		*did = "older messages were summed up by " + g.carry.Summary.By
	}
	return ask
}

// moveFully moves the frontier to the coming turn, whatever it costs.
func (g *guard) moveFully() {
	if g.carry.AsOf == g.coming() {
		return
	}
	g.carry.AsOf, g.carry.Debt = g.coming(), 0
	g.reshape()
}

func (g *guard) doesNotFit(limit int64, why string) error {
	e := &FitError{Tokens: g.size(), Limit: limit, Why: why}
	for i := range g.nodes {
		n := &g.nodes[i]
		if size := g.scaled(g.count.of(&n.cur)); n.cur.sent != nil && size > e.LargestTokens {
			e.Largest, e.LargestTokens, e.LargestIndex = n.msg, size, i
		}
	}
	return e
}

// Refused returns the carry after a request was refused as too long, for a Build that makes room;
// false when that has not helped before or no guard can do it.
func (b *Builder) Refused(c echo.Carry) (echo.Carry, bool) {
	const most = 3
	if !b.settings.Policy.Guard.Enabled || b.settings.Strategy == cascade.BudgetFail || c.Refused >= most {
		return c, false
	}
	c.Refused++
	c.Ceiling = b.draft.size()
	return c, true
}
