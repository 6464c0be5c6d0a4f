package cascade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/flow"
)

// routesOf reads the routes of a cascade that is not in file order, without unknown targets. A phase
// leads where those lead that are written in place below it.
func routesOf(phases []Phase) flow.Graph {
	index := map[string]int{}
	for i := range phases {
		if _, taken := index[phases[i].Name]; !taken {
			index[phases[i].Name] = i
		}
	}
	f := flow.Graph{Next: make([][]int, len(phases)), Ends: make([]bool, len(phases))}
	for i := range phases {
		for p := &phases[i]; p != nil; p = p.inline() {
			to := targets(p, index)
			f.Next[i] = append(f.Next[i], to...)
			if len(p.routes()) == 0 || slices.ContainsFunc(p.routes(), func(to string) bool { _, known := index[to]; return !known }) || p != &phases[i] && len(to) == 0 {
				f.Ends[i] = true
			}
			if p.OnError != nil && p.OnError.Inline == nil {
				if to, ok := index[p.OnError.Phase]; ok {
					f.Next[i] = append(f.Next[i], to)
				}
			}
		}
	}
	return f
}

// targets returns where the hand-offs and the routing of a phase lead, in order.
func targets(p *Phase, index map[string]int) []int {
	var out []int
	for _, name := range append(p.routes(), p.DecisionPoints.LeadsTo()...) {
		if to, ok := index[name]; ok {
			out = append(out, to)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type flowRules struct{ *checker }

// checkFlow warns of unreachable phases and endless routes, unless a route leads to no phase,
// which would only be reported again as its consequences.
func (k flowRules) checkFlow() {
	phases := k.cascade.Phases
	if len(phases) == 0 || k.cascade.FileOrder() || k.cascade.IsGraph() || k.brokenRoutes() {
		return
	}
	f := routesOf(phases)
	reached := flow.Spread([]int{0}, f.Next)
	for i := range phases {
		if !reached[i] {
			at := k.root.Key("phases").Index(i)
			at.Key("name").Warn(CodeUnreachablePhase, fmt.Sprintf("%s is never reached: no handoff, route or on_error leads to it", describe(at)),
				"add a hand-off to it; in a cascade with hand-offs or routing, phases do not follow each other by themselves")
		}
	}
	k.checkEndless(f, reached)
}

func (k flowRules) brokenRoutes() bool {
	return k.root.Document().Has(CodeUnknownPhase, CodeDuplicatePhase)
}

// checkEndless warns once for each set of phases that a run cannot leave.
func (k flowRules) checkEndless(f flow.Graph, reached []bool) {
	reported := make([]bool, len(f.Next))
	free := f.Free()
	for i := range f.Next {
		if free[i] || !reached[i] || reported[i] {
			continue
		}
		circle := f.Circle(i)
		if circle == nil {
			continue
		}
		for j, in := range flow.Spread([]int{i}, f.Next) {
			reported[j] = reported[j] || in
		}
		var names []string
		for _, j := range append(circle, i) {
			names = append(names, k.cascade.Phases[j].Name)
		}
		k.root.Key("phases").Index(i).Key("name").Warn(CodeEndlessRoute,
			fmt.Sprintf("the route %s cannot end: no phase on it or after it is without hand-offs and routing", strings.Join(names, " -> ")),
			"add a hand-off or route to a phase that ends the run")
	}
}
