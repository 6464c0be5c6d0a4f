package graph

import (
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/waiting"
)

// peopleLines say what of a phase waits for people: which of its tools for approval, as far as the cascade names
// them, and the phase itself for an answer.
func (b builder) peopleLines(p *cascade.Phase) []string {
	var out []string
	approve := slices.Clone(p.Rules.Approve)
	for i := range b.cascade.Tools {
		t := &b.cascade.Tools[i]
		if t.Approve && (p.Tool == t.ToolID || slices.Contains(p.Tackle, t.ToolID)) && !waiting.Needs(approve, t.ToolID) {
			approve = append(approve, t.ToolID)
		}
	}
	if len(approve) > 0 {
		out = append(out, "approval: "+list(approve))
	}
	if p.Wait != nil {
		out = append(out, "waits: "+p.Wait.For())
	}
	if p.HumanInput != nil {
		out = append(out, "asks a person: "+p.HumanInput.Kind())
	}
	if p.DecisionPoints != nil {
		out = append(out, "asks for decisions")
	}
	return out
}

// decisions adds where the decisions of people lead.
func (b builder) decisions(at int, p *cascade.Phase) {
	if p.DecisionPoints == nil {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(p.DecisionPoints.Routing)) {
		b.to(at, p.DecisionPoints.Routing[id], Routing, id)
	}
}
