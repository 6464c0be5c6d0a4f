package autocontext

import "github.com/windlass-run/windlass/cascade"

// The frontier decides when what has become old is masked, not what: the passes aged and tiered look at the turn as of
// which ages are taken, and that turn only moves here, or when the guard needs room.
//
// Providers bill a repeated prefix at a fraction of the price. Moving the frontier changes the prefix: what lies behind the
// first message that changes is paid in full once. So under "cost" it moves when leaving it has become as dear as moving:
//
//	R  tokens that moving it would save in this and every later request
//	S  tokens of the previous request behind the first message that would change
//	c  price of a cached token, in parts of a full one
//
// Every call that leaves it owes R*c. It moves when debt + R*c >= a * (1-c) * (S-R): S-R tokens of the previous request are
// sent again at full price instead of c. This is the ski-rental rule: it needs no forecast, and what it pays is within a
// constant of the best schedule in hindsight. With a = 1/2 it was the cheapest on recorded conversations (docs/context.md);
// without caching c is 1 and the frontier moves on every turn, a plain sliding window.
//
// The rule alone can lose on short conversations. So the frontier stays when moving would bring all that the phase has
// paid above maxRegret of what full history would have cost by now. After a move no later call can cost more than it would
// have with full history, as less of it is sent, so maxRegret also bounds the sum at the end.
const (
	alphaNum, alphaDen         = 1, 2
	maxRegretNum, maxRegretDen = 112, 100
)

// pace is what the frontier needs to know between turns.
type pace struct {
	low   int   // nodes before this one are sent as they would be if the frontier moved
	first int   // the first node that would change; -1: none
	young int   // nodes before this one would never change again
	gain  int64 // tokens that moving would save
}

func (p *pace) reset() { *p = pace{first: -1} }

// forget takes down that message i would not change if the frontier moved.
func (p *pace) forget(b *Builder, i int) {
	if p.first != i {
		return
	}
	p.first = -1
	for i++; i < len(b.nodes); i++ {
		if n := &b.nodes[i]; !n.next.same(&n.cur) {
			p.first = i
			return
		}
	}
}

// advance moves the frontier when it should move.
func (b *Builder) advance() {
	p := &b.settings.Policy
	if !p.Enabled {
		return
	}
	switch p.Advance {
	case cascade.AdvanceStep:
		if b.coming()-b.carry.AsOf >= max(p.StepTurns, 1) {
			b.project()
			b.move()
		}
	case cascade.AdvanceEveryTurn:
		b.project()
		b.move()
	default:
		b.project()
		if b.pays() {
			b.move()
		}
	}
}

// project finds what each message would become if the frontier moved to the coming turn. Only messages that are young
// enough to have become something else since the last turn are looked at.
func (b *Builder) project() {
	m := b.moment
	m.asOf = b.coming()
	m.results = b.resultsBefore(m.asOf)
	p := &b.pace
	for i := p.young; i < len(b.nodes); i++ {
		n := &b.nodes[i]
		n.next = b.make(i, b.shapeOf(i, &m))
		gain := n.cur.tokens - n.next.tokens
		p.gain += gain - n.gain
		n.gain = gain
		switch changes := !n.next.same(&n.cur); {
		case !changes:
			p.forget(b, i)
		case p.first < 0 || i < p.first:
			p.first = i
		}
	}
	for p.young < len(b.nodes) && b.settled(&b.nodes[p.young], &m) {
		p.young++
	}
}

// settled reports whether a message is so old that no pass will make anything else of it.
func (b *Builder) settled(n *node, m *moment) bool {
	p := &b.settings.Policy
	if n.turn > 0 && m.asOf-n.turn <= max(p.Window, p.MaskAfter) {
		return false
	}
	if n.turn == 0 && m.asOf <= max(p.Window, p.MaskAfter) {
		return false
	}
	return p.Truncation == nil || n.result == 0 || m.results-n.result >= 3*p.Truncation.RecentResults
}

// move takes what was projected.
func (b *Builder) move() {
	b.carry.AsOf = b.coming()
	b.carry.Debt = 0
	b.moment.asOf, b.moment.results = b.carry.AsOf, b.resultsBefore(b.carry.AsOf)
	p := &b.pace
	for i := p.low; i < len(b.nodes); i++ {
		n := &b.nodes[i]
		b.put(i, n.next)
		n.gain = 0
	}
	p.low, p.first, p.gain = p.young, -1, 0
}

// pays reports whether the frontier should move by the rule of cost, and takes down what leaving it costs.
func (b *Builder) pays() bool {
	p, c := &b.pace, &b.carry
	if p.first < 0 || p.gain <= 0 {
		return false
	}
	ratio := b.settings.ratio()
	resent := int64(0)
	if before := b.views.before; !c.Cold && p.first < before {
		resent = max(b.tokensBetween(p.first, before)-p.gain, 0)
	}
	c.Debt += p.gain * ratio
	return alphaDen*c.Debt >= alphaNum*(whole-ratio)*resent && b.affordable(ratio)
}

// affordable reports whether moving now keeps what was paid within maxRegret of full history, or costs nothing.
func (b *Builder) affordable(ratio int64) bool {
	stayShared, moveShared, fullShared := int64(0), int64(0), int64(0)
	if b.views.before > 0 && !b.carry.Cold {
		changed := b.changed()
		stayShared, moveShared = b.sums[changed], b.sums[min(b.pace.first, changed)]
		fullShared = b.fullBefore
	}
	stay, move := cost(b.sent, stayShared, ratio), cost(b.sent-b.pace.gain, moveShared, ratio)
	full := b.carry.Full + cost(b.full, fullShared, ratio)
	return move <= stay || (b.carry.Paid+move)/maxRegretNum <= full/maxRegretDen
}

// tokensBetween returns what is sent for the messages from i to j.
func (b *Builder) tokensBetween(i, j int) int64 {
	if j <= b.changed() && j < len(b.sums) {
		return b.sums[j] - b.sums[i]
	}
	n := int64(0)
	for ; i < j; i++ {
		n += b.nodes[i].cur.tokens
	}
	return n
}
