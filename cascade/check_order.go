package cascade

import (
	"fmt"
	"slices"
)

// order says which phases can have run before another. Phases written in place count on their own.
type order struct {
	before  [][]int        // by index: from which phases a run comes to it
	reached []bool         // a run can come to it
	cache   map[int][]bool // by index: which can have run before it
}

// maxOrdered bounds the phases whose order is looked at: the time grows with their square.
const maxOrdered = 2000

// orderOf returns nil when the order is not known, because routes lead to no phase or to two.
func orderOf(c *Cascade, phases []located) *order {
	index := map[string]int{}
	for i, p := range phases {
		if _, taken := index[p.Name]; taken || p.Name == "" {
			return nil
		}
		index[p.Name] = i
	}
	if len(phases) == 0 || len(phases) > maxOrdered {
		return nil
	}
	next := make([][]int, len(phases))
	fileOrder := c.FileOrder()
	for i, p := range phases {
		for _, name := range p.leadsTo() {
			to, ok := index[name]
			if !ok {
				return nil
			}
			next[i] = append(next[i], to)
		}
		if after := slices.IndexFunc(phases[i+1:], func(q located) bool { return !q.inline }); fileOrder && !p.inline && after >= 0 {
			next[i] = append(next[i], i+1+after)
		}
	}
	o := &order{before: make([][]int, len(next)), reached: spread([]int{0}, next), cache: map[int][]bool{}}
	for i := range next {
		for _, to := range next[i] {
			o.before[to] = append(o.before[to], i)
		}
	}
	return o
}

// leadsTo returns the phases that are named as following a phase, with the one written in place.
func (p *Phase) leadsTo() []string {
	names := p.routes()
	switch {
	case p.OnError == nil:
	case p.OnError.Inline != nil:
		names = append(names, p.OnError.Inline.Name)
	default:
		names = append(names, p.OnError.Phase)
	}
	return names
}

// never reports whether the phase at an index cannot have run before another. What no run comes to
// has its own warning.
func (o *order) never(i int, p *located) bool {
	if o == nil {
		return false
	}
	at := p.index
	if !o.reached[at] {
		return false
	}
	seen, ok := o.cache[at]
	if !ok {
		seen = spread(slices.Clone(o.before[at]), o.before)
		o.cache[at] = seen
	}
	return !seen[i]
}

// first reports whether nothing can have run before a phase.
func (o *order) first(p *located) bool {
	return o != nil && p.index == 0 && len(o.before[0]) == 0
}

type orderRules struct{ *checker }

// checkSources finds sources of context, and of its anchors, that cannot have run.
func (k orderRules) checkSources(p located) {
	if p.Context == nil {
		return
	}
	from := p.at.keys("context", "from")
	for i, s := range p.Context.From {
		at := from.element(i)
		if at.has("phase") {
			at = at.key("phase")
		}
		if k.checkGeneral(at, s.Phase, &p) {
			continue
		}
		k.checkSourceOrder(at, "the context of "+p.title(), s.Phase, &p)
	}
	if p.Context.Anchors == nil {
		return
	}
	list := p.at.keys("context", "anchors", "from_phases")
	for i, name := range p.Context.Anchors.FromPhases {
		k.checkSourceOrder(list.index(i), describe(list), name, &p)
	}
}

// checkGeneral reports whether a source is a word for several phases, and warns where there are none.
func (k orderRules) checkGeneral(at place, name string, p *located) bool {
	switch name {
	case FromAll, FromFirst, FromPrevious:
		if asWritten(at) && k.order.first(p) {
			at.warn(CodeNoEffect, fmt.Sprintf("the context of %s names %q, and no phase runs before it", p.title(), name), "remove it")
		}
		return true
	}
	return false
}

// checkSharedAnchors warns of anchors for all phases that none of them can have.
func (k orderRules) checkSharedAnchors() {
	if k.cascade.AutoContext == nil || k.cascade.AutoContext.InterPhase == nil || k.cascade.AutoContext.InterPhase.Anchors == nil {
		return
	}
	list := k.root.keys("auto_context", "inter_phase", "anchors", "from_phases")
	for n, name := range k.cascade.AutoContext.InterPhase.Anchors.FromPhases {
		i, known := k.names.first[name]
		never, selects := true, false
		for j := range k.phases {
			if p := &k.phases[j]; p.Context != nil && p.Context.auto() && !p.at.keys("context", "anchors").has("from_phases") {
				never, selects = never && k.order.never(i, p), true
			}
		}
		if at := list.index(n); known && selects && never && asWritten(at) {
			at.warn(CodeNoEffect, fmt.Sprintf("%s names %q, and no phase that selects can run after it", describe(list), name), "remove it, or move the phase")
		}
	}
}

// asWritten reports whether the file has a value, and no mistake was found in it.
func asWritten(at place) bool { return at.node() != nil && at.doc.edits[at.pointer] == 0 }

func (k orderRules) checkSourceOrder(at place, what, name string, p *located) {
	i, known := k.names.first[name]
	if !known || !asWritten(at) || !k.order.never(i, p) {
		return
	}
	if i == p.index {
		at.error(CodeLaterPhase, what+" names the phase itself, which a run comes to once",
			"its own conversation is in its context anyway; name a phase that runs before it, or remove it")
		return
	}
	at.error(CodeLaterPhase, fmt.Sprintf("%s names %q, which cannot have run before it", what, name), k.earlierHint(p))
}

// earlierHint names the phases that can have run before one.
func (k orderRules) earlierHint(p *located) string {
	var names []string
	for i, q := range k.phases {
		if !k.order.never(i, p) && q.Name != "" && i != p.index {
			names = append(names, q.Name)
		}
	}
	if len(names) == 0 {
		return "no phase runs before it: remove it, or move the phase"
	}
	return knownNames("what can have run before it: ", names)
}
