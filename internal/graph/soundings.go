package graph

import (
	"fmt"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/internal/quantity"
)

// soundingLines say how many candidates there are, which of them is kept, and how it is refined; none
// where there is one try only.
func soundingLines(s *soundings.Soundings) []string {
	if !s.Active() {
		return nil
	}
	out := []string{candidatesLine(s)}
	if names := modelsOf(s); len(names) > 0 {
		out = append(out, "models: "+list(names))
	}
	if s.Mutates() {
		out = append(out, "instructions vary: "+string(s.MutatesBy()))
	}
	if s.Validator != "" {
		out = append(out, "checked first: "+s.Validator)
	}
	if r := s.Reforge; r != nil {
		line := fmt.Sprintf("refined in %s of %s", quantity.Of(r.MaxSteps(), "step"), quantity.Of(r.PerStep(), "candidate"))
		if until := r.Until(); until != "" {
			line += ", until " + until
		}
		out = append(out, line)
	}
	return out
}

func candidatesLine(s *soundings.Soundings) string {
	first, most := s.Bounds()
	line := quantity.Of(most, "candidate")
	if first < most {
		line = fmt.Sprintf("%d to %s", first, line)
	}
	switch {
	case s.Aggregates() && s.AggregatorInstructions == "":
		return line + ", joined"
	case s.Aggregates():
		return line + ", one answer written from all"
	case s.Evaluator == soundings.ByHuman:
		return line + ", a person chooses one"
	case s.Evaluator == soundings.ByHybrid:
		return fmt.Sprintf("%s, a person chooses one of the best %d", line, min(s.Leaves(), most))
	case s.Pareto != nil && s.Pareto.Prefers() == soundings.Interactive:
		return line + ", a person chooses one of the frontier of quality and cost"
	case s.Pareto != nil:
		return line + ", one kept of the frontier of quality and cost"
	case s.CostAware != nil:
		return line + ", one kept by quality and cost"
	}
	if s.Tie() == soundings.TieHuman {
		return line + ", one kept by votes; a person decides a tie"
	}
	return line + ", one kept by votes"
}

func modelsOf(s *soundings.Soundings) []string {
	names := make([]string, len(s.Models))
	for i, m := range s.Models {
		names[i] = m.Name
	}
	return names
}

// whole adds a node for the candidates of the whole cascade, which the run begins with.
func (b *builder) whole() {
	lines := soundingLines(b.cascade.Soundings)
	if lines == nil {
		return
	}
	at := len(b.Nodes)
	b.Nodes = append(b.Nodes, Node{Name: "whole cascade", Kind: Candidates, Start: true, Tries: true, Lines: lines})
	for i := range b.Nodes[:at] {
		if b.Nodes[i].Start {
			b.Nodes[i].Start = false
			b.Edges = append(b.Edges, Edge{at, i, Next, "each"})
		}
	}
}
