package handoff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/quantity"
)

// isTry reports whether a branch is a candidate or a step of refinement, or in one.
func isTry(b *record.Branch) bool {
	p := b.Key.Path()
	return slices.ContainsFunc(p.Parts(), func(s echo.Step) bool { return s.Kind == echo.StepSounding || s.Kind == echo.StepReforge })
}

// isOpenTry reports whether a branch of a visit is a candidate of which it is not known yet what becomes of
// it: what it has done is not what the visit did. The messages of one that is kept are those of the visit.
func (p *progress) isOpenTry(visit echo.Key, b *record.Branch) bool {
	return isTry(b) && b.Status != echo.StatusFailed && p.isOpen(visit, tryPlace(b.Key))
}

// tryPlace is where the choice among candidates is made that a branch is one of: the visit, the element or the step.
func tryPlace(candidate echo.Key) echo.Key {
	p := candidate.Path()
	if n := len(p.Branches); n > 0 && p.Branches[n-1].Kind == echo.StepSounding {
		p.Branches = p.Branches[:n-1]
	}
	return p.Key()
}

// tries says how far the candidates of a visit have come that have no choice yet; "" for none.
func (p *progress) tries(v *record.Visit) string {
	done, failed, all, step := 0, 0, 0, 0
	for _, b := range p.record.Branches(v.Key) {
		at := tryPlace(b.Key)
		path := at.Path()
		if b.Step.Kind != echo.StepSounding || len(path.Parts()) > 1 || len(path.Parts()) == 1 && path.Parts()[0].Kind != echo.StepReforge || !p.isOpen(v.Key, at) {
			continue
		}
		all++
		if parts := path.Parts(); len(parts) == 1 {
			step = parts[0].Number
		}
		switch {
		case b.Status.IsSuccess():
			done++
		case b.Status == echo.StatusFailed:
			failed++
		}
	}
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s done", done, quantity.Of(all, "candidate"))
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	if step > 0 {
		text += fmt.Sprintf(", in step %d of refinement", step)
	}
	return ": " + text
}

// isOpen reports whether the choice of a place is not made.
func (p *progress) isOpen(visit, place echo.Key) bool {
	return !slices.ContainsFunc(p.record.Choices(visit), func(c record.Choice) bool { return c.Key == place.Step(echo.StepChoice) })
}

// kept says which candidates were chosen of phases, and of the whole cascade. Those of elements are in what
// these came to.
func (p *progress) kept() []echo.HandoffItem {
	var out []echo.HandoffItem
	add := func(of string, visit echo.Key) {
		for _, c := range p.record.Choices(visit) {
			parts := c.Key.Path()
			if slices.ContainsFunc(parts.Parts(), func(s echo.Step) bool { return s.Kind == echo.StepItem }) {
				continue
			}
			text := chosen.Line(&c.Choice)
			if c.Step > 0 {
				text = fmt.Sprintf("step %d of refinement: %s", c.Step, text)
			}
			out = append(out, echo.HandoffItem{Source: sourceCandidates + of, Text: text})
		}
	}
	for i := range p.visits {
		add(p.visits[i].Phase, p.visits[i].Key)
	}
	add("the whole cascade", echo.RunKey())
	return out
}

// childName is the name of a child; of a candidate of the whole cascade which one it is.
func childName(c *record.Child) string {
	if c.How != echo.ChildSounding {
		return c.Name
	}
	p := c.Key.Path()
	var words []string
	for _, s := range p.Parts() {
		words = append(words, fmt.Sprintf("%s %d", s.Kind, s.Number))
	}
	return strings.Join(words, " ")
}
