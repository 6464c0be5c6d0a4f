// Package comparison holds two recorded sessions against each other, visit by visit: which way each
// took, what its phases put out, and what they used. Money and tokens are those that `windlass show`
// has: what a fork has copied is in no figure of the fork.
package comparison

import (
	"cmp"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
)

// Comparison is what two sessions have in common, and what not.
type Comparison struct {
	Equal  bool    `json:"equal"` // the routes, the statuses and all outputs are
	A      Run     `json:"a"`
	B      Run     `json:"b"`
	Fork   *Fork   `json:"fork"` // nil: neither is a fork of the other, nor both of one
	Route  Route   `json:"route"`
	Output Output  `json:"output"` // of the runs
	Phases []Phase `json:"phases"`
}

// Run is one of the sessions as a whole.
type Run struct {
	clickhouse.Session
	ReasoningTokens int64 `json:"tokens_reasoning"`
	Attempts        int   `json:"attempts"`
	Turns           int   `json:"turns"`

	Choices []echo.Choice `json:"choices,omitempty"` // among candidates of the whole cascade
}

// Fork says where two sessions part that have a beginning in common.
type Fork struct {
	Parent string `json:"parent"` // the session that has the common beginning
	Seq    uint64 `json:"seq"`    // number of the last entry in common
	Visit  string `json:"visit"`  // of the first entry that is not; "": of no phase
}

// Route is the way of both through the phases.
type Route struct {
	Equal bool     `json:"equal"`
	A     []string `json:"a"` // visits, in the order in which they began
	B     []string `json:"b"`
}

// Phase is a visit to a phase in both sessions.
type Phase struct {
	Visit  string   `json:"visit"`
	A      *Figures `json:"a"` // nil: only B has it
	B      *Figures `json:"b"` // nil: only A has it
	Output *Output  `json:"output"`
}

// Figures are what a visit did and used.
type Figures struct {
	Status    string `json:"status"`
	Reason    string `json:"reason,omitempty"`
	Copied    bool   `json:"copied,omitempty"` // a fork has all of it from its parent, which paid for it
	Attempts  int    `json:"attempts"`
	Turns     int    `json:"turns"`
	ToolCalls int    `json:"tool_calls"`
	clickhouse.Usage
	Choices []echo.Choice `json:"choices,omitempty"` // among candidates of the visit itself, not of its elements
}

// Of compares two sessions.
func Of(a, b *archive.Report) *Comparison {
	was, is := read(a), read(b)
	c := &Comparison{
		A: was.run, B: is.run, Fork: forkOf(was, is),
		Route:  Route{Equal: slices.Equal(was.route, is.route), A: was.route, B: is.route},
		Output: *newOutput(was.output, is.output),
	}
	c.Equal = c.Route.Equal && c.Output.Equal && a.Status == b.Status
	for _, name := range merged(is.route, was.route) {
		p := Phase{Visit: name, A: was.visits[name], B: is.visits[name], Output: newOutput(was.outputs[name], is.outputs[name])}
		c.Equal = c.Equal && p.A != nil && p.B != nil && p.Output.Equal && p.A.Status == p.B.Status
		c.Phases = append(c.Phases, p)
	}
	return c
}

// side is one of the sessions, as it was read.
type side struct {
	run     Run
	route   []string
	visits  map[string]*Figures
	outputs map[string]any
	output  any
	origin  echo.Origin
	entries []*echo.Entry
}

func read(r *archive.Report) *side {
	fold := record.Of(r.Entries)
	s := &side{
		run: Run{Session: r.Session}, route: []string{}, visits: map[string]*Figures{}, outputs: map[string]any{},
		output: fold.Output(), entries: r.Entries,
	}
	if start := fold.Start(); start != nil {
		s.origin = echo.OriginOf(start)
	}
	s.run.Choices = choicesOf(fold, echo.RunKey())
	newest := map[string]uint64{} // entry of each visit
	for _, e := range r.Entries {
		newest[e.Key.VisitKey().String()] = e.Seq
	}
	for i, v := range fold.Visits() {
		p := &r.PhaseReports[i]
		s.route = append(s.route, p.Visit)
		s.outputs[p.Visit] = v.Output
		s.visits[p.Visit] = &Figures{
			Status: p.Status, Reason: p.Reason, Copied: newest[p.Visit] <= s.origin.Upto, Attempts: p.Attempts, Turns: p.Turns,
			ToolCalls: p.ToolCalls, Usage: p.Usage, Choices: choicesOf(fold, v.Key),
		}
		if s.visits[p.Visit].Copied {
			continue
		}
		s.run.Attempts += p.Attempts
		s.run.Turns += p.Turns
		s.run.ReasoningTokens += p.TokensReasoning
	}
	return s
}

// choicesOf returns the choices among the candidates of a visit or of the run, with those of their refinement.
func choicesOf(f *record.Fold, visit echo.Key) []echo.Choice {
	var out []echo.Choice
	for _, c := range f.Choices(visit) {
		p := c.Key.Path()
		if !slices.ContainsFunc(p.Parts(), func(s echo.Step) bool { return s.Kind == echo.StepItem }) {
			out = append(out, c.Choice)
		}
	}
	return out
}

// forkOf finds what two sessions have in common because one is a fork of the other, or both of a
// third.
func forkOf(a, b *side) *Fork {
	var f Fork
	var forked *side
	switch parent := cmp.Or(a.origin.Session, b.origin.Session); {
	case b.origin.Session == a.run.ID:
		f, forked = Fork{Parent: a.run.ID, Seq: b.origin.Upto}, b
	case a.origin.Session == b.run.ID:
		f, forked = Fork{Parent: b.run.ID, Seq: a.origin.Upto}, a
	case parent != "" && a.origin.Session == b.origin.Session:
		f, forked = Fork{Parent: parent, Seq: min(a.origin.Upto, b.origin.Upto)}, a
		if b.origin.Upto < a.origin.Upto {
			forked = b
		}
	default:
		return nil
	}
	for _, e := range forked.entries {
		if e.Seq > f.Seq && e.Phase != "" {
			f.Visit = e.Key.VisitKey().String()
			break
		}
	}
	return &f
}

// merged lists the names of both: those of b in their order, and those that only a has in place.
func merged(a, b []string) []string {
	names := []string{}
	listed := 0 // of a
	upto := func(end int) {
		for ; listed < end; listed++ {
			if !slices.Contains(b, a[listed]) {
				names = append(names, a[listed])
			}
		}
	}
	for _, name := range b {
		if i := slices.Index(a, name); i >= 0 {
			upto(i)
		}
		names = append(names, name)
	}
	upto(len(a))
	return names
}
