package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

// order puts what ran in parallel in an order that does not depend on who was first: phases of a graph
// as in the file, elements of a list and wards by their numbers.
type order struct{ visits map[echo.Key]int }

// orderOf returns the order of a session; ok: it has something that ran in parallel.
func orderOf(f *record.Fold) (o order, ok bool) {
	o.visits = map[echo.Key]int{}
	for i, v := range visitsOf(f) {
		o.visits[v.Key] = i
		isOfWard := func(d record.Verdict) bool { return d.Ward != "" }
		ok = ok || v.Node > 0 || len(f.Branches(v.Key)) > 0 || slices.ContainsFunc(v.Verdicts, isOfWard)
	}
	return o, ok || len(f.Branches(echo.RunKey())) > 0 // of candidates of the whole cascade
}

// visitsOf returns the visits of a session, those of a graph in the order of the file.
func visitsOf(f *record.Fold) []record.Visit {
	visits := f.Visits()
	slices.SortStableFunc(visits, func(a, b record.Visit) int { return cmp.Compare(a.Node, b.Node) })
	return visits
}

func (o order) compare(a, b echo.Key) int {
	return slices.Compare(o.place(a), o.place(b))
}

// place is the visit of a key, and the branch of the visit; wards stand behind the rest of it.
func (o order) place(k echo.Key) []int {
	at, known := o.visits[k.VisitKey()]
	if !known {
		at = len(o.visits)
	}
	p := k.Path()
	out := append([]int{at}, partsOf(&p)...)
	if len(p.Effect) > 0 && p.Effect[0].Kind == echo.StepWard {
		out = append(out, p.Effect[0].Number)
	}
	return out
}

// partsOf are the numbers of the branches of a path: the steps of refinement come after all candidates.
func partsOf(p *echo.Path) []int {
	const behind = 1000
	var out []int
	for _, s := range p.Parts() {
		n := s.Number
		if s.Kind == echo.StepReforge {
			n += behind
		}
		out = append(out, n)
	}
	return out
}

// inParts returns the branches of a visit, each before those that it has itself. Elements and candidates
// that ran in parallel stand by their numbers.
func inParts(branches []record.Branch) []record.Branch {
	slices.SortStableFunc(branches, func(a, b record.Branch) int {
		p, q := a.Key.Path(), b.Key.Path()
		return slices.Compare(partsOf(&p), partsOf(&q))
	})
	return branches
}

// choiceLines say which candidates were kept, at a place and not below it.
func choiceLines(f *record.Fold, place echo.Key, indent string) []string {
	var out []string
	for _, c := range f.Choices(place) {
		if c.Key != place.Step(echo.StepChoice) {
			continue
		}
		line := fmt.Sprintf("candidate %d is kept", c.Winner)
		switch {
		case c.Winner == 0:
			line = "the best of the steps before is kept"
		case c.Winner < 0:
			line = "one answer is written from all"
		}
		if line += " (" + string(c.How); c.Tie {
			line += ", a tie"
		}
		out = append(out, indent+"choice: "+line+")")
	}
	return out
}

// wholeLines say which candidates of the whole cascade were kept. How each ended is what its child says.
func wholeLines(f *record.Fold) []string {
	out := choiceLines(f, echo.RunKey(), "")
	steps := map[echo.Key]bool{}
	for _, c := range f.Choices(echo.RunKey()) {
		if at := c.Key.Branch(); !at.IsZero() && !steps[at] {
			steps[at] = true
			out = append(out, choiceLines(f, at, fmt.Sprintf("refinement, step %d: ", c.Step))...)
		}
	}
	return out
}

// branchLines say how the branches of a visit ended, such as the elements of its list.
func branchLines(f *record.Fold, visit echo.Key) []string {
	out := choiceLines(f, visit, "  ")
	for _, b := range inParts(f.Branches(visit)) {
		line := "did not begin"
		switch {
		case b.Status.IsDone():
			line = endLine(b.Status, b.Reason, b.Attempts, b.Turns, b.Error)
		case b.Status == echo.StatusRunning:
			line = "did not end"
		case b.FailedItem > 0:
			line = fmt.Sprintf("did not begin, as %s %d had failed", b.Step.Kind, b.FailedItem)
		}
		if b.Step.Kind == echo.StepReforge { // which has no end of its own
			line = "refinement"
		}
		p := b.Key.Path()
		indent := strings.Repeat("  ", len(p.Parts()))
		out = append(out, fmt.Sprintf("%s%s %d: %s", indent, b.Step.Kind, b.Step.Number, line))
		for _, d := range b.Verdicts {
			out = append(out, indent+verdictLine(&d))
		}
		out = append(out, choiceLines(f, b.Key, indent+"  ")...)
	}
	return out
}

// childCalls are the children that a run has begun, apart from those that its models called as tools.
func childCalls(f *record.Fold) []ToolCall {
	var out []ToolCall
	for _, c := range f.Children() {
		if c.How == echo.ChildTool || c.How == echo.ChildSpawn {
			continue
		}
		call := ToolCall{At: c.Key, Tool: string(c.How) + " cascade " + c.Cascade, Arguments: shorten(valueOf(string(encoded(c.Input))))}
		if c.End != nil && !c.End.Status.IsSuccess() {
			call.Failed = c.End.Status.String()
		}
		out = append(out, call)
	}
	return out
}

// childMasks give children the ids that they have in a test, whose session begins all of them. In a fork
// those that it has begun have others.
func childMasks(entries []*echo.Entry, session string) []Mask {
	var masks []Mask
	for _, e := range entries {
		if e.NodeType != echo.NodeChildStart {
			continue
		}
		if d, err := echo.Read[echo.ChildStart](e); err == nil && d.Session != echo.ChildSession(session, e.Key) {
			masks = append(masks, Mask{d.Session, echo.ChildSession(session, e.Key)})
		}
	}
	return masks
}

// ended are the children of a test: how each ended is an answer, and none of them is run.
type ended struct{}

// Begin implements [engine.Children].
func (ended) Begin(context.Context, *engine.Child) {}

// Wait implements [engine.Children].
func (ended) Wait(_ context.Context, c *engine.Child) (*effect.ChildOutcome, error) {
	return nil, &effect.UnansweredError{Node: echo.NodeChildEnd, Key: c.Key, Site: effect.Site{Cascade: c.Cascade.Cascade.CascadeID}}
}

// Settle implements [engine.Children].
func (ended) Settle(context.Context) {}

// Find implements [engine.Children].
func (ended) Find(_ context.Context, name string) echo.FoundCascade {
	return echo.FoundCascade{Name: name, Problem: fmt.Sprintf("the test has no recorded answer to who asks for the cascade %q", name)}
}

// Read implements [engine.Children].
func (ended) Read(found *echo.FoundCascade) (*cascade.Reached, error) {
	of := &cascade.Reached{File: found.File, Hash: found.Hash, Cascade: &cascade.Cascade{}}
	return of, json.Unmarshal(found.Cascade, of.Cascade)
}
