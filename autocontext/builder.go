package autocontext

import "github.com/windlass-run/windlass/echo"

// Builder makes the views of one visit to a phase. It caches what it made of messages; what it
// returns depends on settings, history and carry alone. It belongs to one goroutine.
type Builder struct {
	settings Settings
	render   *Renderer

	draft    *draft
	before   *callBefore
	frontier *frontier
	guard    *guard
}

// NewBuilder returns a builder for one visit to a phase.
func NewBuilder(s Settings) *Builder {
	b := &Builder{settings: s, render: NewRenderer(s.Dialect)}
	b.reset()
	return b
}

// reset forgets the history. What was rendered is kept.
func (b *Builder) reset() {
	b.draft = newDraft(&b.settings, b.render)
	b.before = &callBefore{d: b.draft, sums: []int64{0}}
	b.frontier = &frontier{draft: b.draft, before: b.before}
	b.guard = &guard{draft: b.draft}
}

// Step is the next thing to do: to send View, or, when Ask is not nil, to get an answer first.
type Step struct {
	View   *View
	Carry  echo.Carry // for the next Build
	Ask    *Ask
	Events []echo.Guard
}

// Build decides what the next call is sent. The history may only have grown; a view without an Ask
// counts as sent. The error is a [*FitError], or says that the carry lacks its summary.
func (b *Builder) Build(history []echo.Item, c echo.Carry) (Step, error) {
	if err := checkSummary(c.Summary); err != nil {
		return Step{Carry: c}, err
	}
	b.resume(history, c)
	d := b.draft
	d.read(history)
	b.frontier.advance()
	d.clearToolUses()
	ask, events, err := b.guard.act()
	if ask != nil || err != nil {
		// Nothing was sent: what was tried is tried again with the answer.
		c.Warned, c.Acting, c.Told = d.carry.Warned, d.carry.Acting, d.carry.Told
		return Step{Ask: ask, Events: events, Carry: c}, err
	}
	b.close()
	return Step{View: &d.view, Carry: d.carry, Events: events}, nil
}

// resume takes the carry over; one that does not follow the last Build's starts anew.
func (b *Builder) resume(history []echo.Item, c echo.Carry) {
	if len(history) < len(b.draft.nodes) || c.Sent != b.draft.view.before {
		b.reset()
		b.draft.carry = c
		if c.Sent > 0 {
			b.draft.read(history[:min(c.Sent, len(history))])
			b.before.fix()
		}
		return
	}
	same := sameForms(&b.draft.carry, &c)
	b.draft.carry = c
	if !same {
		b.draft.reshape()
	}
}

// close records the view as what is sent now, and what it costs.
func (b *Builder) close() {
	d := b.draft
	v := &d.view
	shared, fullShared := b.before.shared(b.before.changed())
	v.report = b.report(shared, fullShared)
	v.report.Spans = b.spans()
	d.carry.Paid += cost(d.sent, shared, b.settings.ratio())
	d.carry.Full += cost(d.full, fullShared, b.settings.ratio())
	if a := d.carry.Answered; a != nil && a.Actual > 0 && a.Counted > 0 {
		d.carry.Scale = scale(a.Actual, a.Counted) // so that later calls need no count
	}
	d.carry.Cold, d.carry.Answered = false, nil
	b.before.fix()
	d.carry.Sent = v.before
}

// Used returns the carry after a call of which the provider counted in tokens as sent.
func (b *Builder) Used(c echo.Carry, in int64) echo.Carry {
	c.Refused = 0
	if in <= 0 || b.settings.Exact && b.settings.Count != nil {
		return c // an exact count needs no correction, and is not made for nothing
	}
	if counted := b.draft.counted(); counted > 0 {
		c.Scale = scale(in, counted)
	}
	return c
}

// MayMask reports whether a view can hold less than the history, so that recall is worth offering.
func (b *Builder) MayMask(c echo.Carry) bool {
	return b.settings.Policy.Enabled || b.settings.Groups > 0 || c.AsOf > 0 || c.Removed != nil || c.Summary != nil || c.Slid > 0 || len(c.Cut) > 0
}

// Frontier returns the index of the history before which tool results may be masked.
func (b *Builder) Frontier(c echo.Carry) int {
	turn := c.AsOf - b.settings.Policy.MaskAfter // the first turn that is too young
	switch {
	case turn < 1:
		return 0
	case turn > len(b.draft.turns):
		return len(b.draft.nodes)
	}
	return b.draft.turns[turn-1]
}

// MarkReduced marks the messages of a history of which the newest view does not hold the whole.
func (b *Builder) MarkReduced(history []echo.Item) {
	d := b.draft
	for i := range min(len(history), d.view.before, len(d.nodes)) {
		history[i].Reduced = d.nodes[i].cur.sent == nil || !d.nodes[i].cur.form.whole()
	}
}

// Masked reports whether the newest view does not hold the whole of the tool result with this hash.
func (b *Builder) Masked(h echo.Hash) bool {
	i, ok := b.draft.newest[h]
	return ok && (b.draft.nodes[i].cur.sent == nil || !b.draft.nodes[i].cur.form.whole())
}
