// Package graph shows a cascade as a graph: its phases, where each leads, the cascades that they begin, and what comes
// into each from others. It draws the graph as Mermaid text, as SVG, and as lines for a terminal.
package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
)

// Kind says what an edge stands for.
type Kind string

// The kinds of edges.
const (
	Next    Kind = "next"     // the next phase of the file
	Handoff Kind = "handoff"  // of handoffs: the model chooses among several
	Routing Kind = "routing"  // by the result of a tool, or by the decision of a person
	OnError Kind = "on_error" // when the phase fails
	After   Kind = "after"    // the second waits for the end of the first
	Child   Kind = "child"    // a phase begins another cascade and waits for it
	Async   Kind = "async"    // a phase begins another cascade that runs beside it
	Context Kind = "context"  // something of one phase comes into another; the run does not go that way
)

// NodeKind says what a node stands for.
type NodeKind string

// The kinds of nodes.
const (
	ModelPhase NodeKind = "model"   // a phase that talks with a model
	ToolPhase  NodeKind = "tool"    // a phase that runs one tool
	Cascade    NodeKind = "cascade" // another cascade, which runs as a session of its own

	Candidates NodeKind = "candidates" // the whole cascade, each of whose candidates goes through all that follows
)

// Node is a phase, or a cascade that phases begin.
type Node struct {
	Name  string
	Kind  NodeKind
	Start bool     // the run begins here
	List  bool     // it runs once for each element of a list
	Tries bool     // it runs several times, and one outcome is kept
	Lines []string // what there is to say of it: its list, candidates, tools, wards, and context that is not from one certain phase
	Wards []Ward
}

// Ward is a validator around a phase.
type Ward struct {
	Place string // pre, turn or post
	Mode  cascade.WardMode
}

// Edge leads from one node to another, by their indexes.
type Edge struct {
	From, To int
	Kind     Kind
	Label    string // may be empty
}

// Graph is a cascade.
type Graph struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// builder puts a graph together.
type builder struct {
	*Graph
	cascade *cascade.Cascade
	phases  []*cascade.Phase
	index   map[string]int // of names
	reached map[string]int // nodes of other cascades, by their files
}

// Of returns the graph of a cascade. Names that lead to no phase are left out.
func Of(c *cascade.Cascade) *Graph {
	b := builder{Graph: &Graph{Title: c.CascadeID}, cascade: c, index: map[string]int{}, reached: map[string]int{}}
	for p := range c.EachPhase() {
		if _, taken := b.index[p.Name]; !taken {
			b.index[p.Name] = len(b.phases)
		}
		b.phases = append(b.phases, p)
	}
	for _, p := range b.phases {
		b.Nodes = append(b.Nodes, b.node(p))
	}
	b.flow()
	flow := slices.Clone(b.Edges)
	for at, p := range b.phases {
		b.context(at, p, flow)
	}
	for at, p := range b.phases {
		b.children(at, p)
	}
	b.whole()
	b.Edges = mergeLoops(b.Edges)
	return b.Graph
}

// flow adds where the run goes from each phase.
func (b builder) flow() {
	c, at := b.cascade, 0
	ordered := c.FileOrder() && !c.IsGraph()
	for i := range c.Phases {
		b.Nodes[at].Start = i == 0 || c.IsGraph() && len(c.Phases[i].After) == 0
		b.after(at, &c.Phases[i])
		for p := &c.Phases[i]; p != nil; at++ {
			below := inline(p)
			b.routes(at, p)
			if below != nil {
				b.Edges = append(b.Edges, Edge{at, at + 1, OnError, "on error"})
			}
			if p == &c.Phases[i] && i+1 < len(c.Phases) && ordered {
				b.Edges = append(b.Edges, Edge{at, b.indexOf(&c.Phases[i+1]), Next, ""})
			}
			p = below
		}
	}
}

// after adds the phases that a phase waits for.
func (b builder) after(at int, p *cascade.Phase) {
	for _, name := range p.After {
		if from, ok := b.index[name]; ok {
			b.Edges = append(b.Edges, Edge{from, at, After, ""})
		}
	}
}

// mergeLoops makes one edge of those that lead from a phase back to itself.
func mergeLoops(edges []Edge) []Edge {
	first := map[int]int{} // by node
	var out []Edge
	for _, e := range edges {
		at, merged := first[e.From]
		switch {
		case e.From != e.To:
			out = append(out, e)
		case !merged:
			first[e.From] = len(out)
			out = append(out, e)
		case e.Label != "":
			out[at].Label = strings.TrimPrefix(out[at].Label+", "+e.Label, ", ")
		}
	}
	return out
}

// inline returns the phase that is written in place under on_error, or nil.
func inline(p *cascade.Phase) *cascade.Phase {
	if p.OnError == nil {
		return nil
	}
	return p.OnError.Inline
}

func (b builder) indexOf(p *cascade.Phase) int { return slices.Index(b.phases, p) }

// node returns a phase without what leads to it and from it.
func (b builder) node(p *cascade.Phase) Node {
	n := Node{Name: p.Name, Kind: ModelPhase, List: p.ForEach != nil, Tries: p.Soundings.Active(), Lines: b.lines(p)}
	if p.Deterministic() {
		n.Kind = ToolPhase
	}
	eachWard(p, func(place string, w *cascade.Ward) {
		n.Wards = append(n.Wards, Ward{Place: place, Mode: cmp.Or(w.Mode, cascade.WardBlocking)})
	})
	return n
}

// lines say what a phase has besides its name.
func (b builder) lines(p *cascade.Phase) []string {
	var out []string
	if p.ForEach != nil {
		out = append(out, listLine(p.ForEach))
	}
	out = append(out, soundingLines(p.Soundings)...)
	if p.Tool != "" {
		out = append(out, "tool: "+p.Tool)
	}
	if len(p.Tackle) > 0 {
		out = append(out, "tools: "+list(p.Tackle))
	}
	out = append(out, b.peopleLines(p)...)
	out = append(out, wardLines(p)...)
	for _, src := range sources(p) {
		if src.Phase != cascade.FromAll {
			continue
		}
		what := "context: all earlier phases"
		if len(p.Context.Exclude) > 0 {
			what += " except " + list(p.Context.Exclude)
		}
		out = append(out, what)
	}
	if inter := b.cascade.EffectiveInter(p); inter.Enabled {
		out = append(out, "context: selected ("+string(inter.Selection.Strategy)+")")
	}
	return out
}

// list names a few of many.
func list(names []string) string {
	const most = 4
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

func sources(p *cascade.Phase) []cascade.Source {
	if p.Context == nil {
		return nil
	}
	return p.Context.From
}

// routes adds where a phase leads by its hand-offs, its routing and its on_error.
func (b builder) routes(at int, p *cascade.Phase) {
	for _, h := range p.Handoffs {
		b.to(at, h.Target, Handoff, h.Description)
	}
	for _, value := range slices.Sorted(maps.Keys(p.Routing)) {
		b.to(at, p.Routing[value], Routing, value)
	}
	b.decisions(at, p)
	if p.OnError != nil && p.OnError.Inline == nil {
		b.to(at, p.OnError.Phase, OnError, "on error")
	}
}

func (b builder) to(at int, name string, kind Kind, label string) {
	if to, ok := b.index[name]; ok {
		b.Edges = append(b.Edges, Edge{at, to, kind, label})
	}
}

// context adds what comes into a phase from certain others. What comes from whichever ran before is
// in the lines of the phase.
func (b builder) context(at int, p *cascade.Phase, flow []Edge) {
	for _, src := range sources(p) {
		label := "context"
		if len(src.Include) > 0 {
			words := make([]string, len(src.Include))
			for i, what := range src.Include {
				words[i] = string(what)
			}
			label += ": " + strings.Join(words, ", ")
		}
		b.bring(at, src.Phase, label, flow)
	}
	if inter := b.cascade.EffectiveInter(p); inter.Enabled {
		for _, name := range inter.Anchors.FromPhases {
			b.bring(at, name, "anchors", flow)
		}
	}
}

// bring adds an edge of context from each phase that a name stands for.
func (b builder) bring(at int, name, label string, flow []Edge) {
	var from []int
	switch name {
	case cascade.FromAll:
	case cascade.FromFirst:
		from = []int{0}
	case cascade.FromPrevious:
		for _, e := range flow {
			if e.To == at {
				from = append(from, e.From)
			}
		}
	default:
		if i, ok := b.index[name]; ok {
			from = []int{i}
		}
	}
	slices.Sort(from)
	for _, i := range slices.Compact(from) {
		excluded := b.phases[at].Context != nil && slices.Contains(b.phases[at].Context.Exclude, b.phases[i].Name)
		edge := Edge{i, at, Context, label}
		if !excluded && !slices.Contains(b.Edges, edge) {
			b.Edges = append(b.Edges, edge)
		}
	}
}
