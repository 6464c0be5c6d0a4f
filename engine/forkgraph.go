package engine

import (
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// ForkGraph returns the entries that a fork of a graph keeps which begins a phase again: those of all
// phases that are not after it, however far they have come, but for phases that failed for good and
// what is after them. The place is the name of a phase or its key, such as notes/node4; one that has
// handled errors begins alone. nil: the cascade is no graph, which had not begun, or has no such phase.
func ForkGraph(c *cascade.Cascade, entries []*echo.Entry, place string) []*echo.Entry {
	if !c.IsGraph() {
		return nil
	}
	f := &graphFork{graph: newGraph(&run{spec: Spec{Cascade: c}}), begun: map[echo.Key]bool{}, ends: map[echo.Key]echo.Status{}, again: map[*node]int{}}
	kept := record.Kept(entries)
	f.look(kept)
	if f.marks == 0 || !f.choose(place) {
		return nil
	}
	return f.keep(entries, kept)
}

// graphFork is a fork of a graph that is being made.
type graphFork struct {
	graph *graph
	begun map[echo.Key]bool        // branches with entries, by their keys
	ends  map[echo.Key]echo.Status // how their visits ended
	marks uint64                   // number of the last entry that says that a branch begins
	again map[*node]int            // from which of its chain on a node runs again
}

// chain returns the keys of the branches of a node: of its phase, and of those that handle its errors.
func (f *graphFork) chain(n *node) []echo.Key {
	keys := []echo.Key{n.key(n.phase.Name)}
	for _, h := range f.graph.handlers(n) {
		keys = append(keys, n.key(h.Name))
	}
	return keys
}

// look finds out how far the branches have come.
func (f *graphFork) look(kept []*echo.Entry) {
	for _, e := range kept {
		visit := e.Key.VisitKey()
		switch {
		case !visit.HasBranches() || e.NodeType == echo.NodeBranchEnd && e.Key == visit.Step(echo.StepEnd):
		case isMark(e):
			f.marks = e.Seq
		default:
			f.begun[visit] = true
			if end, err := echo.Read[echo.PhaseEnd](e); err == nil && e.Key == visit.Step(echo.StepFinish) {
				f.ends[visit] = end.Status
			}
		}
	}
}

// isMark reports whether an entry of the trunk says that a branch of the graph begins.
func isMark(e *echo.Entry) bool {
	return e.NodeType == echo.NodeBranchStart && e.Key == e.Key.VisitKey().Step(echo.StepStart)
}

// choose decides what runs again; ok says whether there is such a place.
func (f *graphFork) choose(place string) (ok bool) {
	for _, n := range f.graph.nodes {
		keys := f.chain(n)
		for i, key := range keys {
			if (f.begun[key] || i == 0) && (key.Path().Phase == place || key.String() == place) {
				f.begin(n, i)
				ok = true
				break
			}
		}
		if !slices.ContainsFunc(keys, func(key echo.Key) bool { return f.ends[key] != echo.StatusFailed }) {
			f.begin(n, 0)
		}
	}
	return ok
}

// begin has a node run again from one of its chain on, and with it all that is after it.
func (f *graphFork) begin(n *node, from int) {
	if was, known := f.again[n]; !known || from < was {
		f.again[n] = from
	}
	for _, other := range f.graph.nodes {
		if other.isAfter(n) {
			f.again[other] = 0
		}
	}
}

// keep returns the entries that are kept, in their order: those of the trunk until the graph began, of
// the background, of resumptions, and of branches that do not run again.
func (f *graphFork) keep(entries, kept []*echo.Entry) []*echo.Entry {
	counts := map[*echo.Entry]bool{}
	for _, e := range kept {
		counts[e] = true
	}
	reused := map[echo.Key]bool{}
	for _, n := range f.graph.nodes {
		keys := f.chain(n)
		if from, again := f.again[n]; again {
			keys = keys[:from]
		}
		for _, key := range keys {
			reused[key] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e *echo.Entry) bool {
		visit := e.Key.VisitKey()
		switch {
		case e.Background(), e.NodeType == echo.NodeResume, counts[e] && isMark(e):
			return false
		case !counts[e], e.NodeType == echo.NodeBranchEnd && e.Key == visit.Step(echo.StepEnd):
			return true
		case visit.HasBranches():
			return !reused[visit]
		}
		return e.Seq > f.marks
	})
}
