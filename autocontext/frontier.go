package autocontext

import "github.com/windlass-run/windlass/cascade"

// The frontier decides when what has become old is masked, not what: ages are taken as of a turn
// that moves only here, or when the guard needs room.
//
// Providers bill a repeated prefix at a fraction of the price, and moving the frontier changes the
// prefix. So under "cost" it moves when the accrued cost of leaving it has reached that of moving:
//
//	R  tokens that moving it would save in this and every later request
//	S  tokens of the previous request behind the first message that would change
//	c  price of a cached token, in parts of a full one
//
// Every call that leaves it owes R*c. It moves when debt + R*c >= a * (1-c) * (S-R): S-R tokens
// are sent again at full price. This ski-rental rule needs no forecast and is within a constant of
// the best schedule in hindsight; a = 1/2 was cheapest on recorded conversations
// (docs/context.md). Without caching c is 1 and the frontier moves on every turn.
//
// On short conversations the rule can lose. So the frontier stays when moving would bring the cost
// above maxRegret of full history's. After a move no call costs more, so the bound holds at the
// end.
const (
	alphaNum, alphaDen         = 1, 2
	maxRegretNum, maxRegretDen = 112, 100
)

type frontier struct {
	*draft
	before *callBefore
}

// projection is what would change if the frontier moved to the coming turn.
type projection struct {
	low   int   // nodes before this one are sent as they would be if the frontier moved
	first int   // the first node that would change; -1: none
	young int   // nodes before this one would never change again
	gain  int64 // tokens that moving would save
}

func (p *projection) reset() { *p = projection{first: -1} }

// reopen has a node looked at again that would never have changed.
func (p *projection) reopen(i int) { p.young, p.low = min(p.young, i), min(p.low, i) }

func (p *projection) forget(nodes []node, i int) {
	if p.first != i {
		return
	}
	p.first = -1
	for i++; i < len(nodes); i++ {
		if n := &nodes[i]; !n.next.same(&n.cur) {
			p.first = i
			return
		}
	}
}

func (f *frontier) advance() {
	p := &f.settings.Policy
	if !p.Enabled {
		return
	}
	if p.Advance == cascade.AdvanceStep && f.coming()-f.carry.AsOf < max(p.StepTurns, 1) {
		return
	}
	f.project()
	if p.Advance == cascade.AdvanceStep || p.Advance == cascade.AdvanceEveryTurn || f.pays() {
		f.move()
	}
}

// project finds what each message would become if the frontier moved, looking only at those that
// may have become something else since the last turn.
func (f *frontier) project() {
	m := f.state
	m.asOf = f.coming()
	m.results = f.resultsBefore(m.asOf)
	if m.open > 0 {
		m.open = groupAt(f.draft, m.asOf)
	}
	p := &f.next
	for i := p.young; i < len(f.nodes); i++ {
		n := &f.nodes[i]
		n.next = f.make(i, f.shapeOf(i, &m))
		gain := n.cur.tokens - n.next.tokens
		p.gain += gain - n.gain
		n.gain = gain
		switch changes := !n.next.same(&n.cur); {
		case !changes:
			p.forget(f.nodes, i)
		case p.first < 0 || i < p.first:
			p.first = i
		}
	}
	for p.young < len(f.nodes) && f.settled(&f.nodes[p.young], &m) {
		p.young++
	}
}

func (f *frontier) settled(n *node, m *state) bool {
	p := &f.settings.Policy
	if m.asOf-n.turn <= max(p.Window, p.MaskAfter) {
		return false
	}
	if m.open > 0 {
		return p.Truncation == nil || n.result == 0 || n.group < m.open
	}
	return p.Truncation == nil || n.result == 0 || m.results-n.result >= 3*p.Truncation.RecentResults
}

func (f *frontier) move() {
	f.carry.AsOf = f.coming()
	f.carry.Debt = 0
	f.state.asOf, f.state.results = f.carry.AsOf, f.resultsBefore(f.carry.AsOf)
	placeGroups(f.draft)
	p := &f.next
	for i := p.low; i < len(f.nodes); i++ {
		n := &f.nodes[i]
		f.put(i, n.next)
		n.gain = 0
	}
	p.low, p.first, p.gain = p.young, -1, 0
}

// pays reports whether the frontier should move by cost, and notes what leaving it costs.
func (f *frontier) pays() bool {
	p, c := &f.next, &f.carry
	if p.first < 0 || p.gain <= 0 {
		return false
	}
	ratio := f.settings.ratio()
	resent := int64(0)
	if before := f.view.before; !c.Cold && p.first < before {
		resent = max(f.before.tokensBetween(p.first, before)-p.gain, 0)
	}
	c.Debt += p.gain * ratio
	return alphaDen*c.Debt >= alphaNum*(whole-ratio)*resent && f.affordable(ratio)
}

// affordable reports whether moving now stays within maxRegret of full history, or costs nothing.
func (f *frontier) affordable(ratio int64) bool {
	changed := f.before.changed()
	stayShared, fullShared := f.before.shared(changed)
	moveShared, _ := f.before.shared(min(f.next.first, changed))
	stay, move := cost(f.sent, stayShared, ratio), cost(f.sent-f.next.gain, moveShared, ratio)
	full := f.carry.Full + cost(f.full, fullShared, ratio)
	return move <= stay || (f.carry.Paid+move)/maxRegretNum <= full/maxRegretDen
}

func (c *callBefore) tokensBetween(i, j int) int64 {
	if j <= c.changed() && j < len(c.sums) {
		return c.sums[j] - c.sums[i]
	}
	n := int64(0)
	for ; i < j; i++ {
		n += c.d.nodes[i].cur.tokens
	}
	return n
}
