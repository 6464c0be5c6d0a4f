// Package page writes what a person wants to know of one session: how it stands, what its phases did
// and cost, what its calls were sent, where it is, and what to do next.
package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/sessions"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
	"github.com/windlass-run/windlass/internal/term/reports"
)

// Session is what the page is about.
type Session struct {
	*archive.Report
	Contexts []inspect.Call // what its calls were sent
	Place

	Command string // how the reader starts windlass
	Name    string // by which the reader names the session: its id, or short
	Calls   bool   // every call is listed, too
}

// Place says where a session is; what is "" is not shown.
type Place struct {
	File    string // of the cascade
	Journal string
	WorkDir string
}

// Write writes the page.
func Write(o contexts.Out, s *Session) error {
	p := &printer{Out: o}
	p.facts(s)
	if len(s.PhaseReports) > 0 {
		p.line("")
		p.table(phases(s.PhaseReports, o.Width))
	}
	if len(s.Contexts) > 0 {
		p.line("")
		p.keep(contexts.Phases(o, s.Contexts))
	}
	if s.Calls {
		p.line("")
		p.table(reports.Calls(s.CallList))
	}
	p.line("")
	p.places(s)
	p.next(s)
	return p.err
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
	if value != "" {
		p.line(p.Paint(term.Bold, fmt.Sprintf("%-10s", name)) + value)
	}
}

func (p *printer) table(t *term.Table) { p.keep(t.Render(p.W, p.Width)) }

// facts say which session it is, how it stands, and what it took.
func (p *printer) facts(s *Session) {
	p.fact("session", s.ID)
	cascade := term.Cell(s.CascadeID)
	if s.File != "" {
		cascade += "  " + p.Paint(term.Dim, term.Cell(s.File))
	}
	p.fact("cascade", cascade)
	status := p.Paint(statusColour(s.Status), term.Cell(s.Status))
	if s.Resumable {
		status += ", resumable"
	}
	if s.Reason != "" && s.Reason != s.Status {
		status += "  " + p.Paint(term.Dim, term.Cell(s.Reason))
	}
	p.fact("status", status)
	p.fact("error", term.OneLine(s.failure()))
	p.fact("started", s.StartedAt.Local().Format(time.DateTime)+", took "+term.Duration(s.Duration()))
	took := quantity.Requests(int(s.SessionFigures.Calls), int(s.EmbeddingCalls)) + ", " + term.Plural(int(s.ToolCalls), "tool call")
	if s.SessionFigures.Calls+s.EmbeddingCalls > 0 {
		took += fmt.Sprintf(": %s tokens in (%s cached), %s out", term.Count(s.TokensIn), term.Count(s.TokensCached), term.Count(s.TokensOut))
	}
	p.fact("calls", took)
	p.fact("cost", term.Cost(s.CostUSD, s.SessionFigures.Calls+s.EmbeddingCalls, s.UnknownCostCalls)+scripted(s.ScriptedCalls))
	if s.ForkedFrom != "" {
		p.fact("copied", fmt.Sprintf("from %s: %s, not counted", s.ForkedFrom, copied(&s.Copied)))
	}
}

// copied says what a fork has that was paid for elsewhere.
func copied(c *clickhouse.Copied) string {
	text := term.Plural(int(c.CopiedCalls), "call")
	if cost := term.Cost(c.CopiedCostUSD, c.CopiedCalls, c.CopiedUnknown); cost != "" {
		text += ", " + cost
	}
	return text
}

// failure is what ended the run, where that says more than its status.
func (s *Session) failure() string {
	if s.Error == s.Status {
		return ""
	}
	return s.Error
}

func scripted(calls uint64) string {
	if calls == 0 {
		return ""
	}
	return fmt.Sprintf("  (%s answered by a script)", term.Plural(int(calls), "call"))
}

func statusColour(status string) term.Colour {
	switch status {
	case echo.StatusCompleted.String():
		return term.Green
	case echo.StatusFailed.String():
		return term.Red
	}
	return term.Yellow
}

// column is a column of the table of phases.
type column struct {
	head string
	cell func(*archive.PhaseReport) string
	drop int // those with the highest go first where there is no room; 0: never
}

var columns = []column{
	{"phase", func(p *archive.PhaseReport) string { return p.Visit }, 0},
	{"status", func(p *archive.PhaseReport) string { return p.Status }, 0},
	{">attempts", func(p *archive.PhaseReport) string { return term.Count(int64(p.Attempts)) }, 0},
	{">turns", func(p *archive.PhaseReport) string { return term.Count(int64(p.Turns)) }, 0},
	{">calls", func(p *archive.PhaseReport) string { return term.Count(int64(p.Calls)) }, 0},
	{">failed", func(p *archive.PhaseReport) string { return term.Count(int64(p.FailedCalls)) }, 3},
	{">tools", func(p *archive.PhaseReport) string { return term.Count(int64(p.ToolCalls)) }, 2},
	{">tokens in", func(p *archive.PhaseReport) string { return term.Count(p.TokensIn) }, 0},
	{">cached", func(p *archive.PhaseReport) string { return term.Count(p.TokensCached) }, 1},
	{">tokens out", func(p *archive.PhaseReport) string { return term.Count(p.TokensOut) }, 0},
	{">cost", func(p *archive.PhaseReport) string {
		return term.Cost(p.CostUSD, p.Calls+p.EmbeddingCalls, p.UnknownCostCalls)
	}, 0},
	{">time", func(p *archive.PhaseReport) string { return term.Millis(p.DurationMS) }, 4},
}

// phases is the table of phases with the columns for which a terminal of a width has room.
func phases(list []archive.PhaseReport, width int) *term.Table {
	shown := slices.Clone(columns)
	for {
		t := tableOf(list, shown)
		last := slices.MaxFunc(shown, func(a, b column) int { return a.drop - b.drop }).drop
		if width == 0 || t.Width() <= width || last == 0 {
			return t
		}
		shown = slices.DeleteFunc(shown, func(c column) bool { return c.drop == last })
	}
}

func tableOf(list []archive.PhaseReport, shown []column) *term.Table {
	heads := make([]string, len(shown))
	for i, c := range shown {
		heads[i] = c.head
	}
	t := term.NewTable(heads...)
	visits := make([]string, len(list))
	for i := range list {
		visits[i] = list[i].Visit
		cells := make([]string, len(shown))
		for j, c := range shown {
			cells[j] = c.cell(&list[i])
		}
		t.Add(cells...)
	}
	t.Shorten(0, visits) // never cut: it is a key
	return t
}

// places say where the session is.
func (p *printer) places(s *Session) {
	journal := s.Journal
	if journal == "" {
		journal = "in ClickHouse; not on this machine"
	}
	p.fact("journal", term.Cell(journal))
	p.fact("work", term.Cell(s.WorkDir))
	p.fact("handoff", s.does("sessions handoff"))
}

// does returns a command about the session.
func (s *Session) does(what string) string { return s.Command + " " + what + " " + s.Name }

// next says what to do with the session.
func (p *printer) next(s *Session) {
	try, why := nextOf(s)
	name := "next"
	if s.failure() != "" {
		name = "try"
	}
	if why != "" && try != "" {
		why = "  " + p.Paint(term.Dim, why)
	}
	p.fact(name, try+why)
}

// nextOf returns the command that comes next, and what it is for.
func nextOf(s *Session) (command, why string) {
	switch {
	case s.Status == sessions.Running:
		return s.does("show"), "shows how far it has come"
	case s.Resumable && s.Status == echo.StatusOverBudget.String():
		return s.does("resume"), "goes on, with a higher --max-usd, --max-tokens or --max-seconds"
	case s.Resumable:
		return s.does("resume"), "goes on where it stopped"
	case s.Status == archive.Unfinished:
		return "", "it has no end in ClickHouse, and may run on another machine"
	case s.failure() != "" && len(s.PhaseReports) > 0:
		last := s.PhaseReports[len(s.PhaseReports)-1].Phase
		return s.does("resume") + " --fork " + quoted(last), "begins the phase again, in a new session"
	case s.failure() != "":
		return s.does("replay"), "shows what it did"
	}
	return s.does("context stats"), "shows what each call was sent"
}

// quoted writes a word so that a shell takes it for one.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.~") == "" && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(term.Cell(word), "'", `'\''`) + "'"
}
