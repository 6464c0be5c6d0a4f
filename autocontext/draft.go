package autocontext

import "github.com/windlass-run/windlass/echo"

// draft is the view of the next call while it is made.
type draft struct {
	history
	settings *Settings
	render   *Renderer
	carry    echo.Carry
	state    state
	next     projection
	groups   groupBook // which calls wait for their results

	view   View // Items parallel to nodes
	shaped int  // nodes before this one have a form
	sent   int64
	sends  int // messages sent
	masked int // nodes that are not sent as they are
	count  counting
	note   slidNote
	same   repeats
}

func newDraft(s *Settings, r *Renderer) *draft {
	d := &draft{settings: s, render: r, history: history{newest: map[echo.Hash]int{}, cut: -1}, same: repeats{}}
	d.count = counting{settings: s, render: r}
	d.state = state{latest: -1, task: -1, summaryAt: -1, slidAt: -1, answers: map[int]int{}, carry: &d.carry, inText: s.FailuresInText}
	d.next.reset()
	return d
}

func (d *draft) read(history []echo.Item) {
	first := len(d.nodes)
	attempt := d.state.attempt
	latest, task := d.state.latest, d.state.task
	for i := first; i < len(history); i++ {
		d.take(history[i])
	}
	d.state.asOf, d.state.results = d.carry.AsOf, d.resultsBefore(d.carry.AsOf)
	d.groups.settle(d)
	tryAgain := first > 0 && attempt != d.state.attempt
	if tryAgain {
		d.carry.Debt = 0 // what it was owed for is left out now
	}
	moved := d.placeStandIns()
	moved = placeGroups(d) || moved
	switch {
	case tryAgain || first > 0 && (moved || task != d.state.task):
		d.reshape()
	case latest >= 0 && latest != d.state.latest:
		d.reshapeOne(latest)
		fallthrough
	default:
		for i := first; i < len(d.nodes); i++ {
			d.reshapeOne(i)
		}
	}
	d.shaped = len(d.nodes)
}

func (d *draft) take(it echo.Item) {
	if it.Withdrawn != echo.InView {
		withdraw(d, it)
		return
	}
	i := len(d.nodes)
	d.state.read(i, it)
	d.add(it, Tokens(d.render.message(it.Message)))
	numberGroup(d, i)
	d.view.Items = append(d.view.Items, Item{Message: it.Message})
	d.groups.add(d, i)
	n := &d.nodes[i]
	n.instead = it.Instead
	switch { // full history would have had it so, too
	case n.isForeign() && d.settings.NameText:
		d.resize(n, Tokens(d.render.message(isolated(n.meant()))))
	case n.as != nil:
		n.own = n.as.in(n.meant())
		d.resize(n, Tokens(d.render.message(n.own)))
	case n.instead != nil:
		d.resize(n, Tokens(d.render.message(n.instead)))
	}
	d.same.link(d, i)
	if it.Message.Kind() == echo.KindRetract {
		retract(d, i)
	}
	if it.Message.Kind().Stands() {
		stand(d, i)
	}
}

// repeats has the index of the newest tool result with a content, of those that are sent.
type repeats map[echo.Hash]int

// link notes that a tool result repeats an earlier one. What is sent for that changes when the
// frontier moves.
func (r repeats) link(d *draft, i int) {
	n := &d.nodes[i]
	if !d.settings.Policy.Dedupe || !isToolResult(n) || n.orphan {
		return
	}
	h := n.msg.Hash()
	if before, ok := r[h]; ok {
		d.nodes[before].again = max(n.turn, 1)
		d.next.reopen(before)
	}
	r[h] = i
}

func (d *draft) reshape() {
	d.state.asOf, d.state.results = d.carry.AsOf, d.resultsBefore(d.carry.AsOf)
	placeGroups(d)
	d.placeStandIns()
	for i := range d.nodes {
		d.reshapeOne(i)
	}
	d.next.reset()
}

func (d *draft) reshapeOne(i int) {
	n := &d.nodes[i]
	d.put(i, d.make(i, d.shapeOf(i, &d.state)))
	d.next.gain -= n.gain
	n.next, n.gain = n.cur, 0
	d.next.forget(d.nodes, i)
}

func (d *draft) refresh(i int) {
	n := &d.nodes[i]
	n.cur.asked, n.next.asked = shape{}, shape{}
	if i < d.shaped {
		d.reshapeOne(i)
		d.next.young = min(d.next.young, i)
	}
}

func (d *draft) put(i int, m made) {
	n, it := &d.nodes[i], &d.view.Items[i]
	if it.Form != "" {
		if n.cur.shape == m.shape && n.cur.same(&m) {
			return
		}
		d.sent -= n.cur.tokens
		d.sends -= it.count()
		d.count.remove(&n.cur)
		if d.shortens(it) {
			d.masked--
		}
	}
	n.cur = m
	*it = Item{Message: n.msg, Form: m.form, Reason: m.reason, Sent: m.sent, After: m.after, Tokens: m.tokens}
	d.sent += m.tokens
	d.sends += it.count()
	d.count.add(&m)
	if d.shortens(it) {
		d.masked++
	}
	if i < d.view.before {
		d.view.touched = append(d.view.touched, i)
	}
}

// shortens reports whether a message counts as one that is not sent in full.
func (d *draft) shortens(it *Item) bool {
	if d.settings.NameText {
		return !it.Form.whole()
	}
	return !it.plain()
}

// Ages tells what a history would be sent as for every frontier. It belongs to one goroutine.
type Ages struct{ d *draft }

// NewAges reads a history.
func NewAges(s Settings, history []echo.Item) *Ages {
	d := newDraft(&s, NewRenderer(s.Dialect))
	d.read(history)
	return &Ages{d: d}
}

// At returns the view with ages taken as of a turn; 0: nothing is old. It is valid until the next
// call, and costs least when turns are asked for in order.
func (a *Ages) At(asOf int) *View {
	a.d.carry.AsOf = asOf
	a.d.reshape()
	a.d.view.touched = a.d.view.touched[:0]
	return &a.d.view
}
