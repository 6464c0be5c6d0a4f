package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

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
	return o, ok
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
		return []int{len(o.visits)}
	}
	p := k.Path()
	out := []int{at}
	for _, s := range p.Parts() {
		out = append(out, s.Number)
	}
	if len(p.Effect) > 0 && p.Effect[0].Kind == echo.StepWard {
		out = append(out, p.Effect[0].Number)
	}
	return out
}

// branchLines say how the branches of a visit ended, such as the elements of its list.
func branchLines(f *record.Fold, visit echo.Key) []string {
	var out []string
	for _, b := range f.Branches(visit) {
		line := "did not begin"
		switch {
		case b.Status.IsDone():
			line = endLine(b.Status, b.Reason, b.Attempts, b.Turns, b.Error)
		case b.Status == echo.StatusRunning:
			line = "did not end"
		case b.FailedItem > 0:
			line = fmt.Sprintf("did not begin, as %s %d had failed", b.Step.Kind, b.FailedItem)
		}
		out = append(out, fmt.Sprintf("  %s %d: %s", b.Step.Kind, b.Step.Number, line))
		for _, d := range b.Verdicts {
			out = append(out, "  "+verdictLine(&d))
		}
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
