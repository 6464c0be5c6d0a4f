package cascade

import (
	"fmt"
	"slices"
	"strings"
)

// FileOrder reports whether the phases run in the order of the file: no phase has hand-offs or
// routing. In any other cascade a phase without them ends the run.
func (c *Cascade) FileOrder() bool {
	for i := range c.Phases {
		for p := &c.Phases[i]; p != nil; p = p.inline() {
			if len(p.Handoffs) > 0 || len(p.Routing) > 0 {
				return false
			}
		}
	}
	return true
}

// inline returns the phase written in place under on_error, or nil.
func (p *Phase) inline() *Phase {
	if p.OnError == nil {
		return nil
	}
	return p.OnError.Inline
}

// flow is a cascade's routes as a graph of phase indexes.
type flow struct {
	next [][]int // by hand-offs and routing, those of phases written in place included
	fail [][]int // by on_error
	ends []bool  // the run can end here
}

// newFlow reads the routes of a cascade that is not in file order. Targets that do not exist are
// left out; they are reported elsewhere.
func newFlow(phases []Phase) flow {
	index := map[string]int{}
	for i := range phases {
		if _, taken := index[phases[i].Name]; !taken {
			index[phases[i].Name] = i
		}
	}
	f := flow{next: make([][]int, len(phases)), fail: make([][]int, len(phases)), ends: make([]bool, len(phases))}
	for i := range phases {
		p := &phases[i]
		f.next[i] = targets(p, index)
		f.ends[i] = len(p.Handoffs) == 0 && len(p.Routing) == 0
		for p.OnError != nil {
			if p.OnError.Inline == nil {
				if to, ok := index[p.OnError.Phase]; ok {
					f.fail[i] = append(f.fail[i], to)
				}
				break
			}
			p = p.OnError.Inline
			to := targets(p, index)
			f.fail[i] = append(f.fail[i], to...)
			if len(to) == 0 {
				f.ends[i] = true // A phase written in place without a route of its own ends the run.
			}
		}
	}
	return f
}

func targets(p *Phase, index map[string]int) []int {
	var out []int
	for _, h := range p.Handoffs {
		if to, ok := index[h.Target]; ok {
			out = append(out, to)
		}
	}
	for _, name := range p.Routing {
		if to, ok := index[name]; ok {
			out = append(out, to)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reach returns which phases a run can come to from one.
func (f flow) reach(from int) []bool {
	seen := make([]bool, len(f.next))
	todo := []int{from}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		todo = append(append(todo, f.next[i]...), f.fail[i]...)
	}
	return seen
}

// trapped returns the phases from which no phase can be come to that ends the run.
func (f flow) trapped() []bool {
	before := make([][]int, len(f.next))
	for i := range f.next {
		for _, to := range slices.Concat(f.next[i], f.fail[i]) {
			before[to] = append(before[to], i)
		}
	}
	free := make([]bool, len(f.next))
	var todo []int
	for i, ends := range f.ends {
		if ends {
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !free[i] {
			free[i] = true
			todo = append(todo, before[i]...)
		}
	}
	for i := range free {
		free[i] = !free[i]
	}
	return free
}

// flowRules are the rules of the ways through a cascade.
type flowRules struct{ *checker }

// checkFlow warns of phases that no run comes to and of routes that cannot end. It says nothing
// while a route leads to no phase: that mistake would only be repeated as its consequences.
func (k flowRules) checkFlow() {
	phases := k.cascade.Phases
	if len(phases) == 0 || k.cascade.FileOrder() || k.brokenRoutes() {
		return
	}
	f := newFlow(phases)
	reached := f.reach(0)
	for i := range phases {
		if !reached[i] {
			at := k.root.key("phases").index(i)
			at.key("name").warn(CodeUnreachablePhase, fmt.Sprintf("no run comes to %s: no hand-off, route or on_error leads to it", describe(at)),
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
	trapped := f.trapped()
	for i := range trapped {
		if !trapped[i] || !reached[i] || reported[i] || !f.onCycle(i) {
			continue
		}
		circle := f.circle(i)
		for j, in := range f.reach(i) {
			reported[j] = reported[j] || in
		}
		names := make([]string, 0, len(circle)+1)
		for _, j := range append(circle, i) {
			names = append(names, k.cascade.Phases[j].Name)
		}
		k.root.key("phases").index(i).key("name").warn(CodeEndlessRoute,
			fmt.Sprintf("the route %s cannot end: no phase on it or after it is without hand-offs and routing", strings.Join(names, " -> ")),
			"add a hand-off or route to a phase that ends the run")
	}
}

// onCycle reports whether a phase can come to itself again.
func (f flow) onCycle(i int) bool { return len(f.circle(i)) > 0 }

// circle returns the phases of a shortest way from a phase back to itself, beginning with it; none
// when there is no such way.
func (f flow) circle(start int) []int {
	from := make([]int, len(f.next))
	for i := range from {
		from[i] = -1
	}
	queue := []int{start}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, to := range slices.Concat(f.next[i], f.fail[i]) {
			if to == start {
				return pathBack(from, start, i)
			}
			if from[to] < 0 {
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
