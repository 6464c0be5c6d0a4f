package cascade

import (
	"fmt"
	"slices"
	"strings"
)

// flow is a cascade's routes as a graph of phase indexes.
type flow struct {
	next [][]int // where each phase leads, with the phases written in place below it
	ends []bool  // the run can end here
}

// newFlow reads the routes of a cascade that is not in file order, without unknown targets.
func newFlow(phases []Phase) flow {
	index := map[string]int{}
	for i := range phases {
		if _, taken := index[phases[i].Name]; !taken {
			index[phases[i].Name] = i
		}
	}
	f := flow{next: make([][]int, len(phases)), ends: make([]bool, len(phases))}
	for i := range phases {
		for p := &phases[i]; p != nil; p = p.inline() {
			to := targets(p, index)
			f.next[i] = append(f.next[i], to...)
			if len(p.routes()) == 0 || p != &phases[i] && len(to) == 0 {
				f.ends[i] = true
			}
			if p.OnError != nil && p.OnError.Inline == nil {
				if to, ok := index[p.OnError.Phase]; ok {
					f.next[i] = append(f.next[i], to)
				}
			}
		}
	}
	return f
}

// targets returns where the hand-offs and the routing of a phase lead, in order.
func targets(p *Phase, index map[string]int) []int {
	var out []int
	for _, name := range p.routes() {
		if to, ok := index[name]; ok {
			out = append(out, to)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// spread marks the phases that the edges lead to from some phases, and those.
func spread(from []int, edges [][]int) []bool {
	seen := make([]bool, len(edges))
	for len(from) > 0 {
		i := from[len(from)-1]
		from = from[:len(from)-1]
		if !seen[i] {
			seen[i] = true
			from = append(from, edges[i]...)
		}
	}
	return seen
}

// free marks the phases from which a run can come to its end.
func (f flow) free() []bool {
	before := make([][]int, len(f.next))
	var ends []int
	for i := range f.next {
		for _, to := range f.next[i] {
			before[to] = append(before[to], i)
		}
		if f.ends[i] {
			ends = append(ends, i)
		}
	}
	return spread(ends, before)
}

// circle returns the phases of a shortest way from a phase back to itself, or nil.
func (f flow) circle(start int) []int {
	from := make([]int, len(f.next))
	for i := range from {
		from[i] = -1
	}
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		for _, to := range f.next[i] {
			switch {
			case to == start:
				return pathBack(from, start, i)
			case from[to] < 0:
				from[to] = i
				queue = append(queue, to)
			}
		}
	}
	return nil
}

func pathBack(from []int, start, last int) []int {
	path := []int{last}
	for last != start {
		last = from[last]
		path = append(path, last)
	}
	slices.Reverse(path)
	return path
}

type flowRules struct{ *checker }

// checkFlow warns of unreachable phases and endless routes, unless a route leads to no phase,
// which would only be reported again as its consequences.
func (k flowRules) checkFlow() {
	phases := k.cascade.Phases
	if len(phases) == 0 || k.cascade.FileOrder() || k.brokenRoutes() {
		return
	}
	f := newFlow(phases)
	reached := spread([]int{0}, f.next)
	for i := range phases {
		if !reached[i] {
			at := k.root.key("phases").index(i)
			at.key("name").warn(CodeUnreachablePhase, fmt.Sprintf("%s is never reached: no handoff, route or on_error leads to it", describe(at)),
				"add a hand-off to it; in a cascade with hand-offs or routing, phases do not follow each other by themselves")
		}
	}
	k.checkEndless(f, reached)
}

func (k flowRules) brokenRoutes() bool {
	return slices.ContainsFunc(*k.root.doc.found, func(d Diagnostic) bool {
		return d.Code == CodeUnknownPhase || d.Code == CodeDuplicatePhase
	})
}

// checkEndless warns once for each set of phases that a run cannot leave.
func (k flowRules) checkEndless(f flow, reached []bool) {
	reported := make([]bool, len(f.next))
	free := f.free()
	for i := range f.next {
		if free[i] || !reached[i] || reported[i] {
			continue
		}
		circle := f.circle(i)
		if circle == nil {
			continue
		}
		for j, in := range spread([]int{i}, f.next) {
			reported[j] = reported[j] || in
		}
		var names []string
		for _, j := range append(circle, i) {
			names = append(names, k.cascade.Phases[j].Name)
		}
		k.root.key("phases").index(i).key("name").warn(CodeEndlessRoute,
			fmt.Sprintf("the route %s cannot end: no phase on it or after it is without hand-offs and routing", strings.Join(names, " -> ")),
			"add a hand-off or route to a phase that ends the run")
	}
}
