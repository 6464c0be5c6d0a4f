package autocontext

import "github.com/windlass-run/windlass/cascade"

// The frontier decides when what has become old is masked, not what: the passes aged and tiered
// look at the turn as of which ages are taken, and that turn only moves here, or when the guard
// needs room.
//
// Providers bill a repeated prefix at a fraction of the price. Moving the frontier changes the
// prefix: what lies behind the first message that changes is paid in full once. So under "cost" it
// moves when the accrued cost of leaving it has reached the cost of moving:
//
//	R  tokens that moving it would save in this and every later request
//	S  tokens of the previous request behind the first message that would change
//	c  price of a cached token, in parts of a full one
//
// Every call that leaves it owes R*c. It moves when debt + R*c >= a * (1-c) * (S-R): S-R tokens of
// the previous request are sent again at full price instead of c. This is the ski-rental rule: it
// needs no forecast, and what it pays is within a constant of the best schedule in hindsight. With
// a = 1/2 it was the cheapest on recorded conversations (docs/context.md); without caching c is 1
// and the frontier moves on every turn, a plain sliding window.
//
// The rule alone can lose on short conversations. So the frontier stays when moving would bring all
// that the phase has paid above maxRegret of what full history would have cost by now. After a move
// no later call can cost more than it would have with full history, as less of it is sent, so
// maxRegret also bounds the sum at the end.
const (
	alphaNum, alphaDen         = 1, 2
	maxRegretNum, maxRegretDen = 112, 100
)

// frontier decides when the frontier moves.
type frontier struct {
	d      *draft
	before *callBefore
}

// projection is what would change if the frontier moved to the coming turn. It is kept between
// turns.
type projection struct {
	low   int   // nodes before this one are sent as they would be if the frontier moved
	first int   // the first node that would change; -1: none
	young int   // nodes before this one would never change again
	gain  int64 // tokens that moving would save
}

func (p *projection) reset() { *p = projection{first: -1} }

// forget takes down that message i would not change if the frontier moved.
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

// advance moves the frontier when it should move.
func (f *frontier) advance() {
	p := &f.d.settings.Policy
	if !p.Enabled {
		return
	}
	switch p.Advance {
	case cascade.AdvanceStep:
		if f.d.coming()-f.d.carry.AsOf >= max(p.StepTurns, 1) {
			f.project()
			f.move()
		}
	case cascade.AdvanceEveryTurn:
		f.project()
		f.move()
	default:
		f.project()
		if f.pays() {
			f.move()
		}
	}
}

// project finds what each message would become if the frontier moved to the coming turn. Only
// messages that are young enough to have become something else since the last turn are looked at.
func (f *frontier) project() {
	d := f.d
	m := d.state
	m.asOf = d.coming()
	m.results = d.resultsBefore(m.asOf)
	p := &d.next
	for i := p.young; i < len(d.nodes); i++ {
		n := &d.nodes[i]
		n.next = d.make(i, d.shapeOf(i, &m))
		gain := n.cur.tokens - n.next.tokens
		p.gain += gain - n.gain
		n.gain = gain
		switch changes := !n.next.same(&n.cur); {
		case !changes:
			p.forget(d.nodes, i)
		case p.first < 0 || i < p.first:
			p.first = i
		}
	}
	for p.young < len(d.nodes) && f.settled(&d.nodes[p.young], &m) {
		p.young++
	}
}

// settled reports whether a message is so old that no pass will make anything else of it.
func (f *frontier) settled(n *node, m *state) bool {
	p := &f.d.settings.Policy
	if n.turn > 0 && m.asOf-n.turn <= max(p.Window, p.MaskAfter) {
		return false
	}
	if n.turn == 0 && m.asOf <= max(p.Window, p.MaskAfter) {
		return false
	}
	return p.Truncation == nil || n.result == 0 || m.results-n.result >= 3*p.Truncation.RecentResults
}

// move takes what was projected.
func (f *frontier) move() {
	d := f.d
	d.carry.AsOf = d.coming()
	d.carry.Debt = 0
	d.state.asOf, d.state.results = d.carry.AsOf, d.resultsBefore(d.carry.AsOf)
	p := &d.next
	for i := p.low; i < len(d.nodes); i++ {
		n := &d.nodes[i]
		d.put(i, n.next)
		n.gain = 0
	}
	p.low, p.first, p.gain = p.young, -1, 0
}

// pays reports whether the frontier should move by the rule of cost, and takes down what leaving it
// costs.
func (f *frontier) pays() bool {
	d := f.d
	p, c := &d.next, &d.carry
	if p.first < 0 || p.gain <= 0 {
		return false
	}
	ratio := d.settings.ratio()
	resent := int64(0)
	if before := d.view.before; !c.Cold && p.first < before {
		resent = max(f.before.tokensBetween(p.first, before)-p.gain, 0)
	}
	c.Debt += p.gain * ratio
	return alphaDen*c.Debt >= alphaNum*(whole-ratio)*resent && f.affordable(ratio)
}

// affordable reports whether moving now keeps what was paid within maxRegret of full history, or
// costs nothing.
func (f *frontier) affordable(ratio int64) bool {
	d := f.d
	changed := f.before.changed()
	stayShared, fullShared := f.before.shared(changed)
	moveShared, _ := f.before.shared(min(d.next.first, changed))
	stay, move := cost(d.sent, stayShared, ratio), cost(d.sent-d.next.gain, moveShared, ratio)
	full := d.carry.Full + cost(d.full, fullShared, ratio)
	return move <= stay || (d.carry.Paid+move)/maxRegretNum <= full/maxRegretDen
}

// tokensBetween returns what is sent for the messages from i to j.
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
