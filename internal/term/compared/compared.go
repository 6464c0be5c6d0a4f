// Package compared writes for a terminal what internal/comparison finds of two sessions. Nothing that
// models wrote can control the terminal.
package compared

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/comparison"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
)

// Sessions is what is written.
type Sessions struct {
	*comparison.Comparison
	NameA, NameB string // by which the reader names the sessions
	Command      string // how the reader starts windlass
}

// Write writes two sessions side by side.
func Write(o contexts.Out, s *Sessions) error {
	p := &printer{Out: o}
	p.head(s)
	if len(s.Phases) > 0 {
		p.line("")
		p.keep(table(s).Render(p.W, p.Room()))
	}
	p.candidates(s)
	p.outputs(s)
	return p.err
}

// candidates says what became of those of phases, and of the whole cascade.
func (p *printer) candidates(s *Sessions) {
	p.choices("the whole cascade", s.A.Choices, s.B.Choices)
	for i := range s.Phases {
		var a, b []echo.Choice
		if f := s.Phases[i].A; f != nil {
			a = f.Choices
		}
		if f := s.Phases[i].B; f != nil {
			b = f.Choices
		}
		p.choices(s.Phases[i].Visit, a, b)
	}
}

func (p *printer) choices(of string, a, b []echo.Choice) {
	was, is := chosen.Sum(a), chosen.Sum(b)
	name := p.Paint(term.Bold, "candidates of "+term.Cell(of))
	switch {
	case was == is && was != "":
		p.line(fmt.Sprintf("\n%s, both: %s", name, was))
	case was != is:
		p.line(fmt.Sprintf("\n%s:\n  A  %s\n  B  %s", name, cmp.Or(was, "none"), cmp.Or(is, "none")))
	}
}

// printer writes to a stream and keeps its first error.
type printer struct {
	contexts.Out
	err error
}

func (p *printer) keep(err error) { p.err = cmp.Or(p.err, err) }

func (p *printer) line(text string) {
	_, err := fmt.Fprintln(p.W, text)
	p.keep(err)
}

func (p *printer) fact(name, value string) {
	const indent = 8
	lines := []string{value}
	if p.Width > 0 {
		lines = term.Wrapped(value, max(p.Width-indent, 1))
	}
	p.line(p.Paint(term.Bold, fmt.Sprintf("%-*s", indent, name)) + strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
}

// head says which sessions they are, where they part, and which way each took.
func (p *printer) head(s *Sessions) {
	for _, r := range []struct {
		side, name string
		*comparison.Run
	}{{"A", s.NameA, &s.A}, {"B", s.NameB, &s.B}} {
		p.fact(r.side, fmt.Sprintf("%s  %s  %s  %s, took %s", r.name, term.Cell(r.CascadeID), term.Cell(r.Status),
			r.StartedAt.Local().Format(time.DateTime), term.Duration(r.Ran())))
	}
	if s.Fork != nil {
		p.fact("fork", forkText(s))
	}
	if s.Route.Equal {
		p.fact("route", "both: "+way(s.Route.A))
	} else {
		p.fact("route A", way(s.Route.A))
		p.fact("route B", way(s.Route.B))
	}
	p.fact("output", outputText(&s.Output))
}

func way(visits []string) string {
	if len(visits) == 0 {
		return "no phase"
	}
	cells := make([]string, len(visits))
	for i, v := range visits {
		cells[i] = term.Cell(v)
	}
	return strings.Join(cells, " -> ")
}

func forkText(s *Sessions) string {
	text := fmt.Sprintf("both are forks of %s", s.Fork.Parent)
	switch s.Fork.Parent {
	case s.A.ID:
		text = "B is a fork of A"
	case s.B.ID:
		text = "A is a fork of B"
	}
	text += fmt.Sprintf(": they part after entry %d", s.Fork.Seq)
	if s.Fork.Visit != "" {
		text += ", in " + term.Cell(s.Fork.Visit)
	}
	return text
}

func outputText(o *comparison.Output) string {
	switch {
	case o.Equal && o.LinesA == 0:
		return "none"
	case o.Equal:
		return "equal"
	}
	return "differs"
}

// table has one row for a phase in which both are the same, else one for each.
func table(s *Sessions) *term.Table {
	t := term.NewTable("phase", "run", "status", ">attempts", ">turns", ">calls", ">tools", ">tokens in", ">cached", ">tokens out", ">cost", ">time", "output")
	for i := range s.Phases {
		ph := &s.Phases[i]
		out := outputText(ph.Output)
		switch {
		case ph.B == nil:
			t.Add(slices.Concat([]string{ph.Visit, "A"}, cells(ph.A), []string{"only in A"})...)
		case ph.A == nil:
			t.Add(slices.Concat([]string{ph.Visit, "B"}, cells(ph.B), []string{"only in B"})...)
		default:
			pair(t, ph.Visit, cells(ph.A), cells(ph.B), out)
		}
	}
	pair(t, "total", totals(&s.A), totals(&s.B), "")
	return t.Key("phase", "run").Drop("time", "tools", "cached", "attempts", "turns", "calls", "tokens out")
}

// timeCell is the last of the cells of figures.
const timeCell = 9

// pair adds what both have: in one row when only the time differs, which it always does.
func pair(t *term.Table, name string, a, b []string, output string) {
	if slices.Equal(a[:timeCell], b[:timeCell]) {
		both := slices.Clone(a)
		if a[timeCell] != b[timeCell] {
			both[timeCell] += ", " + b[timeCell]
		}
		t.Add(slices.Concat([]string{name, "both"}, both, []string{output})...)
		return
	}
	t.Add(slices.Concat([]string{name, "A"}, a, []string{output})...)
	t.Add(slices.Concat([]string{"", "B"}, b, []string{""})...)
}

func cells(f *comparison.Figures) []string {
	if f.Copied {
		return []string{f.Status + ", copied", term.Count(int64(f.Attempts)), term.Count(int64(f.Turns)), "", "", "", "", "", "", ""}
	}
	return []string{
		f.Status, term.Count(int64(f.Attempts)), term.Count(int64(f.Turns)), term.Count(int64(f.Calls)), term.Count(int64(f.ToolCalls)),
		term.Count(f.TokensIn), term.Count(f.TokensCached), term.Count(f.TokensOut),
		term.Cost(f.CostUSD, f.Calls+f.EmbeddingCalls, f.UnknownCostCalls), term.Millis(f.DurationMS),
	}
}

func totals(r *comparison.Run) []string {
	return []string{
		r.Status, term.Count(int64(r.Attempts)), term.Count(int64(r.Turns)), term.Count(int64(r.Calls)), term.Count(int64(r.ToolCalls)),
		term.Count(r.TokensIn), term.Count(r.TokensCached), term.Count(r.TokensOut),
		term.Cost(r.CostUSD, r.Calls+r.EmbeddingCalls, r.UnknownCostCalls), term.Duration(r.Ran()),
	}
}

// outputs shows the first differing line of each phase, and how to see all of it.
func (p *printer) outputs(s *Sessions) {
	for i := range s.Phases {
		ph := &s.Phases[i]
		if ph.Output.Equal || ph.A == nil || ph.B == nil {
			continue
		}
		p.line(fmt.Sprintf("\n%s, line %d:", p.Paint(term.Bold, term.Cell(ph.Visit)), ph.Output.Line))
		p.line(p.Paint(term.Red, "  A  ") + p.firstLine(ph.Output, ph.Output.A, ph.Output.LinesA))
		p.line(p.Paint(term.Green, "  B  ") + p.firstLine(ph.Output, ph.Output.B, ph.Output.LinesB))
		p.line(p.Paint(term.Dim, fmt.Sprintf("  %s diff %s %s --phase %s", s.Command, s.NameA, s.NameB, term.ShellWord(ph.Visit))))
	}
}

// firstLine is the first differing line of one side, which has so many.
func (p *printer) firstLine(o *comparison.Output, line string, lines int) string {
	switch {
	case lines == 0:
		return p.Paint(term.Dim, "no output")
	case lines < o.Line:
		return p.Paint(term.Dim, "no such line")
	}
	line = term.Cell(line)
	if p.Width > 0 && !p.Wide {
		return term.Cut(line, p.Width-len("  A  "))
	}
	return line
}

// Unified writes how the outputs of a phase differ.
func Unified(o contexts.Out, of *comparison.PhaseOutput) error {
	p := &printer{Out: o}
	if of.Diff == "" {
		p.line(fmt.Sprintf("The outputs of %s are equal.", term.Cell(of.Visit)))
	}
	for line := range strings.Lines(of.Diff) {
		line = term.Cell(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "+"):
			line = p.Paint(term.Green, line)
		case strings.HasPrefix(line, "-"):
			line = p.Paint(term.Red, line)
		}
		p.line(line)
	}
	return p.err
}
