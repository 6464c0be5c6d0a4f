package autocontext

import (
	"github.com/windlass-run/windlass/echo"
)

// Builder makes the views of one visit to a phase, one for each model call. It remembers what it made of each message,
// so that a call costs what has changed since the one before. It belongs to one goroutine. What it returns depends on the
// settings, the history and the carry only: a builder that has seen nothing yet gives the same answer.
type Builder struct {
	settings Settings
	render   *Renderer

	nodes   []node
	views   View      // Items parallel to nodes
	sums    []int64   // sums[i]: tokens that the last call was sent for the nodes before i
	shaped  int       // nodes before this one have a form
	groups  groupBook // which calls wait for their results
	turns   []int     // index of the node with which each turn begins; turns[0] is turn 1
	results []int     // tool results before each turn

	moment     moment
	carry      echo.Carry
	pace       pace
	fullBefore int64 // tokens of the history at the call before

	sent   int64 // tokens sent for all nodes
	full   int64 // tokens of all nodes as they are
	masked int   // nodes that are not sent as they are
	count  counting
	images int

	toolResults int
	sends       int // messages sent

	newest map[echo.Hash]int // index of the newest tool result with a hash

	note  *echo.Message // what stands for turns that slid out, and how many
	noted int
}

// NewBuilder returns a builder for one visit to a phase.
func NewBuilder(s Settings) *Builder {
	b := &Builder{settings: s, render: NewRenderer(s.Dialect)}
	b.reset()
	return b
}

// reset forgets everything.
func (b *Builder) reset() {
	*b = Builder{settings: b.settings, render: b.render, sums: []int64{0}, newest: map[echo.Hash]int{}}
	b.moment = moment{latest: -1, task: -1, told: -1, gone: -1, answers: map[int]int{}, carry: &b.carry}
	b.pace.reset()
}

// Step is the next thing to do: to send View, or, when Ask is not nil, to get an answer first.
type Step struct {
	View   *View
	Carry  echo.Carry // for the next Build
	Ask    *Ask
	Events []echo.Guard
}

// Build decides what the next call is sent. The history may only have grown since the last call. Once a step without an
// Ask was returned, its view counts as sent. The error is a [*FitError], or says that the carry lacks the message of its
// summary.
func (b *Builder) Build(history []echo.Item, c echo.Carry) (Step, error) {
	if err := checkSummary(c.Summary); err != nil {
		return Step{Carry: c}, err
	}
	b.resume(history, c)
	b.read(history)
	b.advance()
	b.clearToolUses()
	ask, events, err := b.guard()
	if ask != nil || err != nil {
		// Nothing was sent: what was tried is tried again with the answer.
		c.Warned, c.Acting = b.carry.Warned, b.carry.Acting
		return Step{Ask: ask, Events: events, Carry: c}, err
	}
	b.close()
	return Step{View: &b.views, Carry: b.carry, Events: events}, nil
}

// resume takes the carry over. One that is not the successor of the last Build's makes the builder start anew, from what
// the call before was sent.
func (b *Builder) resume(history []echo.Item, c echo.Carry) {
	if len(history) < len(b.nodes) || c.Sent != b.views.before {
		b.reset()
		b.carry = c
		if c.Sent > 0 {
			b.read(history[:min(c.Sent, len(history))])
			b.fix()
		}
		return
	}
	same := sameForms(&b.carry, &c)
	b.carry = c
	if !same {
		b.reshape()
	}
}

// read takes in the messages that are new.
func (b *Builder) read(history []echo.Item) {
	first := len(b.nodes)
	attempt := b.moment.attempt
	latest, task := b.moment.latest, b.moment.task
	for i := first; i < len(history); i++ {
		b.take(history[i])
	}
	b.moment.asOf, b.moment.results = b.carry.AsOf, b.resultsBefore(b.carry.AsOf)
	b.groups.settle(b)
	tryAgain := first > 0 && attempt != b.moment.attempt
	if tryAgain {
		b.carry.Debt = 0 // what it was owed for is left out now
	}
	moved := b.placeStandIns()
	switch {
	case tryAgain || first > 0 && (moved || task != b.moment.task):
		b.reshape()
	case latest >= 0 && latest != b.moment.latest:
		b.reshapeOne(latest)
		fallthrough
	default:
		for i := first; i < len(b.nodes); i++ {
			b.reshapeOne(i)
		}
	}
	b.shaped = len(b.nodes)
}

// take adds one message.
func (b *Builder) take(it echo.Item) {
	i := len(b.nodes)
	m := it.Message
	n := node{msg: m, attempt: it.Attempt, pinned: it.Pinned, foreign: it.Foreign, kept: it.Kept}
	b.moment.attempt = max(b.moment.attempt, it.Attempt)
	switch m.Role() {
	case echo.RoleAssistant:
		if it.Attempt > 0 {
			b.turns = append(b.turns, i)
			b.results = append(b.results, b.toolResults)
		}
		if m.Text() != "" {
			b.moment.answers[it.Attempt] = i + 1
		}
	case echo.RoleTool:
		b.newest[m.Hash()] = i
		b.toolResults++
		n.result = b.toolResults
	case echo.RoleUser:
		// Messages that were brought in from another phase may hold that phase's task: the own one comes after them.
		if m.Kind() == echo.KindTask || b.moment.task < 0 && m.Kind() != echo.KindContext {
			b.moment.task = i
		}
		if m.Kind() != echo.KindNotice && m.Kind() != echo.KindContext {
			b.moment.latest = i
		}
	}
	if it.Attempt > 0 {
		n.turn = len(b.turns)
	}
	n.size = Tokens(b.render.message(m))
	b.full += n.size
	b.images += imagesIn(m)
	b.nodes = append(b.nodes, n)
	b.views.Items = append(b.views.Items, Item{Message: m})
	b.groups.add(b, i)
}

// resultsBefore returns the number of tool results in turns before one.
func (b *Builder) resultsBefore(turn int) int {
	switch {
	case turn < 1:
		return 0
	case turn <= len(b.results):
		return b.results[turn-1]
	}
	return b.toolResults
}

// coming is the turn that the call to be made begins.
func (b *Builder) coming() int { return len(b.turns) + 1 }

// reshape decides anew about every message.
func (b *Builder) reshape() {
	b.moment.asOf, b.moment.results = b.carry.AsOf, b.resultsBefore(b.carry.AsOf)
	b.placeStandIns()
	for i := range b.nodes {
		b.reshapeOne(i)
	}
	b.pace.reset()
}

func (b *Builder) reshapeOne(i int) {
	n := &b.nodes[i]
	b.put(i, b.make(i, b.shapeOf(i, &b.moment)))
	b.pace.gain -= n.gain
	n.next, n.gain = n.cur, 0
	b.pace.forget(b, i)
}

// refresh carries out anew what is sent for message i, after what its group lacks has changed.
func (b *Builder) refresh(i int) {
	n := &b.nodes[i]
	n.cur.asked, n.next.asked = shape{}, shape{}
	if i < b.shaped {
		b.reshapeOne(i)
		b.pace.young = min(b.pace.young, i)
	}
}

// put makes m what is sent for message i.
func (b *Builder) put(i int, m made) {
	n, it := &b.nodes[i], &b.views.Items[i]
	if it.Form != "" {
		if n.cur.shape == m.shape && n.cur.same(&m) {
			return
		}
		b.sent -= n.cur.tokens
		b.sends -= it.count()
		b.count.remove(b, &n.cur)
		if !it.plain() {
			b.masked--
		}
	}
	n.cur = m
	*it = Item{Message: n.msg, Form: m.form, Reason: m.reason, Sent: m.sent, After: m.after, Tokens: m.tokens}
	b.sent += m.tokens
	b.sends += it.count()
	b.count.add(b, &m)
	if !it.plain() {
		b.masked++
	}
	if i < b.views.before {
		b.views.touched = append(b.views.touched, i)
	}
}

// close records the view as what is sent now: what changed, what the cache can share, what it costs.
func (b *Builder) close() {
	v := &b.views
	shared, fullShared := int64(0), int64(0)
	changed := b.changed()
	if v.before > 0 && !b.carry.Cold {
		shared, fullShared = b.sums[changed], b.fullBefore
	}
	v.report = b.report(shared, fullShared)
	v.report.Spans = b.spans()
	b.carry.Paid += cost(b.sent, shared, b.settings.ratio())
	b.carry.Full += cost(b.full, fullShared, b.settings.ratio())
	if a := b.carry.Answered; a != nil && a.Actual > 0 && a.Counted > 0 {
		b.carry.Scale = scale(a.Actual, a.Counted) // or every later call would have to be counted by the provider as well
	}
	b.carry.Cold, b.carry.Answered = false, nil
	b.fix()
	b.carry.Sent = v.before
}

// changed returns the index of the first message of the call before for which something else is sent now.
func (b *Builder) changed() int {
	first := b.views.before
	for _, i := range b.views.touched {
		if n := &b.nodes[i]; i < first && !n.was.same(&n.cur) {
			first = i
		}
	}
	return first
}

// fix takes the view as what the call before was sent.
func (b *Builder) fix() {
	v := &b.views
	from := b.changed()
	for _, i := range v.touched {
		b.nodes[i].was = b.nodes[i].cur
	}
	for i := v.before; i < len(b.nodes); i++ {
		b.nodes[i].was = b.nodes[i].cur
	}
	b.sums = b.sums[:from+1]
	for i := from; i < len(b.nodes); i++ {
		b.sums = append(b.sums, b.sums[i]+b.nodes[i].cur.tokens)
	}
	b.fullBefore = b.full
	v.touched, v.before = v.touched[:0], len(b.nodes)
}

// Used returns the carry after a call whose request the provider counted: in is the tokens that it reported as sent.
func (b *Builder) Used(c echo.Carry, in int64) echo.Carry {
	c.Refused = 0
	if in <= 0 || b.settings.Exact && b.settings.Count != nil {
		return c // an exact count needs no correction, and is not made for nothing
	}
	if counted := b.count.size(b); counted > 0 {
		c.Scale = scale(in, counted)
	}
	return c
}

// MayMask reports whether a view of this phase can hold less than the history, so that recall is worth offering: always
// under a policy, and else once the guard has made room.
func (b *Builder) MayMask(c echo.Carry) bool {
	return b.settings.Policy.Enabled || c.AsOf > 0 || c.Removed != nil || c.Summary != nil || c.Slid > 0 || len(c.Cut) > 0
}

// Frontier returns the index of the history before which tool results may be masked.
func (b *Builder) Frontier(c echo.Carry) int {
	turn := c.AsOf - b.settings.Policy.MaskAfter // the first turn that is too young
	switch {
	case turn < 1:
		return 0
	case turn > len(b.turns):
		return len(b.nodes)
	}
	return b.turns[turn-1]
}

// Masked reports whether the newest view does not hold the whole of the tool result with this hash.
func (b *Builder) Masked(h echo.Hash) bool {
	i, ok := b.newest[h]
	return ok && (b.nodes[i].cur.sent == nil || b.nodes[i].cur.form != FormFull)
}
