package cascade

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade/flow"
	"github.com/windlass-run/windlass/cascade/wording"
)

// maxOrdered bounds the phases whose order is looked at: the time grows with their square.
const maxOrdered = 2000

// indexOf returns the phases by name, nil when one has none or two have the same.
func indexOf(phases []located) map[string]int {
	index := make(map[string]int, len(phases))
	for i, p := range phases {
		if _, taken := index[p.Name]; taken || p.Name == "" {
			return nil
		}
		index[p.Name] = i
	}
	return index
}

// orderOf says which phases can have run before another; those written in place count on their own.
// It returns nil when the order is not known, because routes lead to no phase or to two.
func (k *checker) orderOf() *flow.Order {
	phases := k.phases
	index := indexOf(phases)
	if index == nil || len(phases) == 0 || len(phases) > maxOrdered {
		return nil
	}
	if k.cascade.IsGraph() {
		return graphRules{k}.sureOrder(index)
	}
	next := make([][]int, len(phases))
	fileOrder := k.cascade.FileOrder()
	for i, p := range phases {
		for _, name := range p.leadsTo() {
			to, ok := index[name]
			switch {
			case !ok && k.cascade.EndsRun(name):
				continue
			case !ok:
				return nil
			}
			next[i] = append(next[i], to)
		}
		if after := slices.IndexFunc(phases[i+1:], func(q located) bool { return !q.inline }); fileOrder && !p.inline && after >= 0 {
			next[i] = append(next[i], i+1+after)
		}
	}
	return flow.NewOrder(next)
}

// leadsTo returns the phases that are named as following a phase, with the one written in place.
func (p *Phase) leadsTo() []string {
	out := append(p.routes(), p.DecisionPoints.LeadsTo()...)
	if p.OnError == nil {
		return out
	}
	return append(out, p.handler())
}

type orderRules struct{ *checker }

// checkSources finds sources of context, and of its anchors, that cannot have run.
func (k orderRules) checkSources(p located) {
	if p.Context == nil {
		return
	}
	from := p.at.Keys("context", "from")
	for i, s := range p.Context.From {
		at := from.Element(i)
		if at.Has("phase") {
			at = at.Key("phase")
		}
		if k.checkGeneral(at, s.Phase, &p) {
			continue
		}
		k.checkSourceOrder(at, "the context of "+p.title(), s.Phase, &p)
	}
	if p.Context.Anchors == nil {
		return
	}
	list := p.at.Keys("context", "anchors", "from_phases")
	for i, name := range p.Context.Anchors.FromPhases {
		k.checkSourceOrder(list.Index(i), describe(list), name, &p)
	}
}

// checkGeneral reports whether a source is a word for several phases, and warns where there are none.
func (k orderRules) checkGeneral(at place, name string, p *located) bool {
	switch name {
	case FromAll, FromFirst, FromPrevious:
		if asWritten(at) && k.order.First(p.index) {
			at.Warn(CodeNoEffect, fmt.Sprintf("the context of %s names %q, and no phase runs before it", p.title(), name), "remove it")
		} else if name == FromPrevious {
			graphRules(k).checkPrevious(at, p)
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
	list := k.root.Keys("auto_context", "inter_phase", "anchors", "from_phases")
	for n, name := range k.cascade.AutoContext.InterPhase.Anchors.FromPhases {
		i, known := k.names.first[name]
		never, selects := true, false
		for j := range k.phases {
			if p := &k.phases[j]; p.Context != nil && p.Context.auto() && !p.at.Keys("context", "anchors").Has("from_phases") {
				never, selects = never && k.order.Never(i, p.index), true
			}
		}
		if at := list.Index(n); known && selects && never && asWritten(at) {
			at.Warn(CodeNoEffect, fmt.Sprintf("%s names %q, and no phase that selects can run after it", describe(list), name), "remove it, or move the phase")
		}
	}
}

// asWritten reports whether the file has a value, and no mistake was found in it.
func asWritten(at place) bool { return at.Node() != nil && at.Sound() }

func (k orderRules) checkSourceOrder(at place, what, name string, p *located) {
	i, known := k.names.first[name]
	if !known || !asWritten(at) || !k.order.Never(i, p.index) {
		return
	}
	if i == p.index {
		at.Error(CodeLaterPhase, what+" names the phase itself, which a run comes to once",
			"its own conversation is in its context anyway; name a phase that runs before it, or remove it")
		return
	}
	if k.cascade.IsGraph() {
		at.Error(CodeLaterPhase, fmt.Sprintf("%s names %q, which is not surely before it", what, name), k.afterHint(i, p))
		return
	}
	at.Error(CodeLaterPhase, fmt.Sprintf("%s names %q, which cannot have run before it", what, name), k.earlierHint(p))
}

// afterHint says how a phase of a graph comes to be before another.
func (k orderRules) afterHint(i int, p *located) string {
	name, waiting := k.phases[i].Name, p.at
	switch {
	case !k.order.Never(p.index, i):
		return fmt.Sprintf("%q comes after it: turn the two round, or remove this", name)
	case p.inline || slices.ContainsFunc(k.phases, func(q located) bool { return q.OnError != nil && q.handler() == p.Name }):
		return fmt.Sprintf("it sees what is before the phase that failed: add %q to \"after\" of that", name)
	case waiting.Has("after"):
		return fmt.Sprintf("add %q to \"after\" of %s", name, p.title())
	}
	return fmt.Sprintf("add \"after\": [%q] to %s", name, p.title())
}

// earlierHint names the phases that can have run before one.
func (k orderRules) earlierHint(p *located) string {
	var names []string
	for i, q := range k.phases {
		if !k.order.Never(i, p.index) && q.Name != "" && i != p.index {
			names = append(names, q.Name)
		}
	}
	if len(names) == 0 {
		return "no phase runs before it: remove it, or move the phase"
	}
	return wording.KnownNames("what can have run before it: ", names)
}
