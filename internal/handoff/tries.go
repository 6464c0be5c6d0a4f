package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/quantity"
)

// wholeCascade names what candidates are of that are sessions.
const wholeCascade = "the whole cascade"

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

// tries says which candidates of a visit, or of the run, there are that have no choice yet, and how far each has come;
// "" for none.
func (p *progress) tries(of echo.Key) string {
	var done, failed, open, waiting []string
	step := 0
	for _, b := range p.record.Branches(of) {
		at := tryPlace(b.Key)
		path := at.Path()
		if b.Step.Kind != echo.StepSounding || len(path.Parts()) > 1 || len(path.Parts()) == 1 && path.Parts()[0].Kind != echo.StepReforge || !p.isOpen(of, at) {
			continue
		}
		if parts := path.Parts(); len(parts) == 1 {
			step = parts[0].Number
		}
		number := fmt.Sprintf("#%d", b.Step.Number)
		switch {
		case b.Status.IsSuccess():
			done = append(done, number)
		case b.Status == echo.StatusFailed:
			failed = append(failed, number)
		case b.Candidate == nil:
			waiting = append(waiting, number)
		case b.Turn > 0:
			open = append(open, fmt.Sprintf("%s in turn %d", number, b.Turn))
		default:
			open = append(open, number)
		}
	}
	all := len(done) + len(failed) + len(open) + len(waiting)
	if all == 0 {
		return ""
	}
	parts := []string{fmt.Sprintf("%d of %s done%s", len(done), quantity.Of(all, "candidate"), numbered(done))}
	for _, some := range []struct {
		word string
		list []string
	}{{"failed", failed}, {"under way", open}, {"not begun", waiting}} {
		if n := len(some.list); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s", n, some.word, numbered(some.list)))
		}
	}
	text := strings.Join(parts, ", ")
	if step > 0 {
		text += fmt.Sprintf(", in step %d of refinement", step)
	}
	if len(failed) < all {
		text += "; then the choice"
	}
	return text
}

// triesOf is tries for a visit, behind how that stands.
func (p *progress) triesOf(v *record.Visit) string {
	text := p.tries(v.Key)
	if text == "" {
		return ""
	}
	return ": " + text
}

// numbered lists candidates behind how many they are.
func numbered(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// gatherWhole adds how far the candidates of the whole cascade have come. Each of them is a session.
func (p *progress) gatherWhole(g *gathered) {
	for _, b := range p.record.Branches(echo.RunKey()) {
		if b.Step.Kind != echo.StepSounding {
			continue
		}
		g.progress.Candidates++
		if b.Status.IsSuccess() {
			g.progress.CandidatesDone++
		}
	}
	switch text := p.tries(echo.RunKey()); {
	case g.progress.Candidates == 0:
	case p.status == echo.StatusCompleted:
		g.done = append(g.done, echo.HandoffItem{Source: sourceCandidates + wholeCascade, Text: cmp.Or(strings.TrimSpace(echo.AsText(p.record.Output())), "ended without an output")})
	case text != "":
		g.remaining = append(g.remaining, echo.HandoffItem{Source: sourceCandidates + wholeCascade, Text: text})
	}
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
			if session := p.sessionOf(tryPlace(c.Key.Parent()), c.Winner); session != "" {
				text += ", in session " + session
			}
			if c.Step > 0 {
				text = fmt.Sprintf("step %d of refinement: %s", c.Step, text)
			}
			out = append(out, echo.HandoffItem{Source: sourceCandidates + of, Text: text})
		}
	}
	for i := range p.visits {
		add(p.visits[i].Phase, p.visits[i].Key)
	}
	add(wholeCascade, echo.RunKey())
	return out
}

// sessionOf returns the session of a candidate of the whole cascade, "" for any other.
func (p *progress) sessionOf(place echo.Key, number int) string {
	for _, c := range p.record.Children() {
		if c.How == echo.ChildSounding && c.Key == place.Numbered(echo.StepSounding, number).Step(echo.StepCandidate) {
			return c.Session
		}
	}
	return ""
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
