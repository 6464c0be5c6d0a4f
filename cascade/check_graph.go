package cascade

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/flow"
)

// graphRules are those of cascades whose phases have "after".
type graphRules struct{ *checker }

func (k graphRules) checkGraph() {
	if !k.cascade.IsGraph() {
		if k.root.Has("max_parallel") && k.root.Intact("max_parallel") && !k.anyWritten("after") {
			k.root.NoEffect("max_parallel", `"max_parallel" is for phases that run in parallel, and no phase has "after"`, `add "after" to phases, or write it in "for_each"`)
		}
		return
	}
	handled := k.handled()
	for _, p := range k.phases {
		if k.root.Document().Full() || k.stop() != nil {
			return
		}
		k.checkAfter(p, handled)
		k.checkNoRoutes(p)
	}
	k.checkCircle()
}

// anyWritten reports whether the file has a key in some phase, be its value right or wrong.
func (k graphRules) anyWritten(key string) bool {
	return slices.ContainsFunc(k.phases, func(p located) bool { return p.at.Has(key) })
}

// handled returns the phases that on_error names, each with the first that names it. They run in
// place of a phase that failed, and not by themselves.
func (k graphRules) handled() map[string]located {
	out := map[string]located{}
	for _, p := range k.phases {
		if p.OnError == nil || p.OnError.Inline != nil {
			continue
		}
		if _, known := out[p.OnError.Phase]; !known {
			out[p.OnError.Phase] = p
		}
	}
	return out
}

// checkAfter checks the phases that one waits for.
func (k graphRules) checkAfter(p located, handled map[string]located) {
	list := p.at.Key("after")
	if by, is := handled[p.Name]; is && len(p.After) > 0 && !p.inline {
		p.at.KeyError("after", CodeMisplacedField, fmt.Sprintf("%s runs when %s fails (on_error), so it waits for nothing itself", p.title(), by.title()),
			`remove "after", or name another phase in on_error`)
		return
	}
	if p.inline && len(p.After) > 0 {
		p.at.KeyError("after", CodeMisplacedField, fmt.Sprintf("%s runs when the phase around it fails, so it waits for nothing itself", p.title()), `remove "after"`)
		return
	}
	for i, name := range p.After {
		at := list.Element(i)
		first, known := k.names.first[name]
		switch by, isHandler := handled[name]; {
		case !at.Sound() || at.Node() == nil:
		case !k.names.named[name] && !known:
			at.Error(CodeUnknownPhase, fmt.Sprintf("%q of %s names %q, which is no phase", "after", p.title(), name), k.names.hint(name))
		case k.phases[first].inline:
			at.Error(CodeMisplacedField, fmt.Sprintf("%s waits for %q, which only runs when another phase fails", p.title(), name), "wait for the phase that it is on_error of: what comes after that comes after this, too")
		case name == p.Name:
			at.Error(CodeCycle, fmt.Sprintf("%s waits for itself", p.title()), "remove it")
		case isHandler:
			at.Error(CodeMisplacedField, fmt.Sprintf("%s waits for %q, which only runs when %s fails (on_error)", p.title(), name, by.title()),
				fmt.Sprintf("wait for %q: what comes after it also comes after its on_error", by.Name))
		case slices.Index(p.After, name) < i:
			at.Warn(CodeNoEffect, fmt.Sprintf("%q of %s has %q twice", "after", p.title(), name), "remove one of the two")
		}
	}
}

// checkNoRoutes refuses routes beside "after".
func (k graphRules) checkNoRoutes(p located) {
	with := k.phases[slices.IndexFunc(k.phases, func(q located) bool { return len(q.After) > 0 })]
	for _, key := range p.at.Written("handoffs", "routing") {
		p.at.KeyError(key, CodeMisplacedField, fmt.Sprintf("%q of %s and %q of %s do not mix: a cascade has its order from routes or from \"after\"", key, p.title(), "after", with.title()),
			fmt.Sprintf(`write "after" in the phases that follow %s, or remove every "after"`, p.title()))
	}
}

// waits returns what each phase waits for: what it is after, and its on_error what it stands in for. It
// returns nil when a name is that of no phase, or of two.
func (k graphRules) waits(index map[string]int) flow.Waits {
	w := make(flow.Waits, len(k.phases))
	for i, p := range k.phases {
		for _, name := range p.After {
			j, ok := index[name]
			if !ok {
				return nil
			}
			w[i] = append(w[i], j)
		}
		if p.OnError == nil {
			continue
		}
		h, ok := index[p.handler()]
		if !ok {
			return nil
		}
		w[h] = append(w[h], i)
	}
	return w
}

// handler returns the name of the phase that runs when this one fails, or "".
func (p *Phase) handler() string {
	switch {
	case p.OnError == nil:
		return ""
	case p.OnError.Inline != nil:
		return p.OnError.Inline.Name
	}
	return p.OnError.Phase
}

// checkCircle refuses phases that wait for each other.
func (k graphRules) checkCircle() {
	index := indexOf(k.phases)
	if index == nil || k.root.Document().Has(CodeCycle) {
		return
	}
	circle := k.waits(index).Circle()
	if circle == nil {
		return
	}
	var names []string
	for _, i := range append(circle, circle[0]) {
		names = append(names, k.phases[i].Name)
	}
	p := k.phases[circle[0]]
	at := p.at.Key("after")
	if at.Node() == nil {
		at = p.at.Key("name")
	}
	at.Error(CodeCycle, fmt.Sprintf("the phases wait for each other: %s", strings.Join(names, " -> ")), `remove one of the names from "after", or one "on_error"`)
}

// sureOrder returns which phases are surely before another, nil when that is not known. After a phase
// comes what is after its on_error, too.
func (k graphRules) sureOrder(index map[string]int) *flow.Order {
	w := k.waits(index)
	before := w.Before()
	if w == nil || before == nil {
		return nil
	}
	for i, p := range k.phases {
		for j, is := range before[i] {
			if !is || p.handles(k.phases, index, j) {
				continue
			}
			for h := k.handlerOf(j, index); h >= 0 && !before[i][h]; h = k.handlerOf(h, index) {
				before[i][h] = true
			}
		}
	}
	return flow.OrderOf(before)
}

// handles reports whether a phase runs when the one at an index fails, or the on_error of that.
func (p located) handles(phases []located, index map[string]int, j int) bool {
	for n := 0; j >= 0 && n < len(phases); n++ {
		h, ok := index[phases[j].handler()]
		if !ok {
			return false
		}
		if h == p.index {
			return true
		}
		j = h
	}
	return false
}

func (k graphRules) handlerOf(i int, index map[string]int) int {
	if h, ok := index[k.phases[i].handler()]; ok {
		return h
	}
	return -1
}

// checkParallelState refuses one name of the state that two phases set which can run in parallel.
func (k graphRules) checkParallelState() {
	if !k.cascade.IsGraph() || k.order == nil {
		return
	}
	index, by := indexOf(k.phases), map[string][]located{}
	for _, p := range k.phases {
		name := p.setsState()
		if name == "" {
			continue
		}
		for _, q := range by[name] {
			if !k.order.Never(q.index, p.index) || !k.order.Never(p.index, q.index) || p.handles(k.phases, index, q.index) {
				continue
			}
			p.at.Keys("inputs", "key").Error(CodeConflicting, fmt.Sprintf("%s and %s set %q in the state and can run in parallel", q.title(), p.title(), name),
				fmt.Sprintf(`use two names, or add %q to "after" of %s`, q.Name, p.title()))
			break
		}
		by[name] = append(by[name], p)
	}
}

// setsState returns the name in the state that a phase without a model surely sets, or "".
func (p *Phase) setsState() string {
	var key string
	if p.Tool != setStateTool || json.Unmarshal(p.Inputs["key"], &key) != nil || IsTemplate(key) {
		return ""
	}
	return key
}

// checkPrevious refuses "previous" where several phases are equally before one.
func (k graphRules) checkPrevious(at place, p *located) {
	if !k.cascade.IsGraph() || k.order == nil || p.inline || len(p.After) == 0 || !asWritten(at) {
		return
	}
	last, handled := -1, k.handled()
	for i := range k.phases {
		if _, handles := handled[k.phases[i].Name]; !handles && !k.phases[i].inline && !k.order.Never(i, p.index) {
			last = i
		}
	}
	if len(p.After) == 1 && last >= 0 && k.phases[last].Name == p.After[0] {
		return
	}
	at.Error(CodeConflicting, fmt.Sprintf("%q may mean several phases that are before %s", FromPrevious, p.title()), fmt.Sprintf("name the phase, as %q, or write %q", p.After[0], FromAll))
}
