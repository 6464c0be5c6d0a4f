// Package page writes what a person wants to know of one session: how it stands, what its phases did
// and cost, what its calls were sent, where it is, and what to do next.
package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
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
	Contexts  []inspect.Call     // what its calls were sent
	Soundings []inspect.Sounding // of its phases and elements, and of the whole cascade
	Place

	Taken   string // what persons have taken out of its context; "": nothing
	Command string // how the reader starts windlass
	Name    string // by which the reader names the session: its id, or short
	Calls   bool   // every call is listed, too
	Items   bool   // and every element of lists
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
		p.table(s.phases())
	}
	p.lists(s)
	p.family(s)
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

// factIndent is where the values of facts begin.
const factIndent = 10

// fact writes a line; on a terminal that is narrower the value is divided between words. A path stays whole.
func (p *printer) fact(name, value string) {
	if value != "" {
		if room := p.Width - factIndent; room > factIndent && runewidth.StringWidth(term.StripColour(value)) > room && !strings.HasPrefix(value, "/") {
			lines := term.Wrapped(value, room)
			for i, line := range lines {
				lines[i] = strings.Trim(line, " ")
			}
			value = strings.Join(lines, "\n"+strings.Repeat(" ", factIndent))
		}
		p.line(p.Paint(term.Bold, fmt.Sprintf("%-*s", factIndent, name)) + value)
	}
}

func (p *printer) table(t *term.Table) { p.keep(t.Render(p.W, p.Room())) }

// facts say which session it is, how it stands, and what it took.
func (p *printer) facts(s *Session) {
	p.fact("session", s.ID)
	cascade := term.Cell(s.CascadeID)
	if s.File != "" {
		cascade += "  " + p.Paint(term.Dim, term.Cell(s.File))
	}
	p.fact("cascade", cascade)
	if s.ChildOf != "" {
		p.fact("child of", fmt.Sprintf("%s, begun at %s", s.ChildOf, s.ChildKey))
	}
	status := p.Paint(statusColour(s.Status), term.Cell(s.Status))
	if s.Resumable {
		status += ", resumable"
	}
	if s.Reason != "" && s.Reason != s.Status {
		status += "  " + p.Paint(term.Dim, term.Cell(s.Reason))
	}
	p.fact("status", status)
	p.fact("error", term.OneLine(s.failure()))
	p.fact("started", s.StartedAt.Local().Format(time.DateTime)+", took "+term.Duration(s.Ran()))
	took := quantity.Requests(int(s.SessionFigures.Calls), int(s.EmbeddingCalls)) + ", " + term.Plural(int(s.ToolCalls), "tool call")
	if s.SessionFigures.Calls+s.EmbeddingCalls > 0 {
		took += fmt.Sprintf(": %s tokens in (%s cached), %s out", term.Count(s.TokensIn), term.Count(s.TokensCached), term.Count(s.TokensOut))
	}
	p.fact("calls", took)
	p.fact("cost", term.Cost(s.CostUSD, s.SessionFigures.Calls+s.EmbeddingCalls, s.UnknownCostCalls)+scripted(s.ScriptedCalls)+withChildren(s.WithChildren))
	p.fact("pretend", pretended(s))
	p.fact("taken out", s.Taken)
	if s.ForkedFrom != "" {
		p.fact("copied", fmt.Sprintf("from %s: %s, not counted", s.ForkedFrom, copied(&s.Copied)))
	}
}

// pretended says what calls would have cost at the prices of a model; "" when none were counted so.
func pretended(s *Session) string {
	own, as, below := s.PretendUSD, s.PriceAs, ""
	if all := s.WithChildren; all != nil && all.PretendUSD != nil {
		as = all.PriceAs
		if own == nil {
			own = new(float64)
		}
		below = fmt.Sprintf("; with %s %s", childrenOf(all), term.USD(*all.PretendUSD))
	}
	if own == nil {
		return ""
	}
	return fmt.Sprintf("%s at prices of %s%s; nothing was paid", term.USD(*own), term.OneLine(as), below)
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

// phases is the table of phases.
func (s *Session) phases() *term.Table {
	t := term.NewTable("phase", "status", ">attempts", ">turns", ">calls", ">failed", ">tools", ">tokens in", ">cached", ">tokens out", ">cost", ">time")
	names := s.visitNames()
	for i := range s.PhaseReports {
		p := &s.PhaseReports[i]
		t.Add(names[p.Visit], p.Status, term.Count(int64(p.Attempts)), term.Count(int64(p.Turns)), term.Count(int64(p.Calls)),
			term.Count(int64(p.FailedCalls)), term.Count(int64(p.ToolCalls)), term.Count(p.TokensIn), term.Count(p.TokensCached), term.Count(p.TokensOut),
			term.Cost(p.CostUSD, p.Calls+p.EmbeddingCalls, p.UnknownCostCalls), term.Millis(p.TookMS))
		s.addBranches(t, p)
	}
	return t.Key("phase").Drop("time", "failed", "tools", "cached", "turns", "attempts", "tokens out")
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
	try, why := s.Next()
	name := "next"
	if s.failure() != "" {
		name = "try"
	}
	if why != "" && try != "" {
		why = "  " + p.Paint(term.Dim, why)
	}
	p.fact(name, try+why)
}

// Next returns the command that comes next, and what it does.
func (s *Session) Next() (command, why string) {
	tool := unfinishedTool(s.Entries)
	switch {
	case s.Status == sessions.Running:
		return s.does("show"), "shows how far it has come"
	case s.Resumable && s.Status == echo.StatusOverBudget.String():
		return s.does("resume"), "continues with a higher --max-usd, --max-tokens or --max-seconds"
	case s.Resumable && s.Status == echo.StatusWaiting.String():
		return s.does("waiting"), "what it waits for; windlass answer ID answers"
	case s.Resumable && tool != "":
		return s.does("resume"), fmt.Sprintf("runs %s again: find out first what it did", term.Cell(tool))
	case s.Resumable:
		return s.does("resume"), "continues where it stopped"
	case s.Status == archive.Unfinished:
		return "", "it has no end in ClickHouse, and may run on another machine"
	case s.failure() != "" && len(s.PhaseReports) > 0:
		return s.does("resume") + " --fork " + term.ShellWord(s.failedPhase()), "begins the phase again, in a new session"
	case s.failure() != "":
		return s.does("replay"), "shows what it did"
	}
	return s.does("context stats"), "shows what each call was sent"
}

// failedPhase is the phase that a run has failed of: of a graph, whose phases run at the same time, the
// last that failed and whose error no other phase handled, else the last.
func (s *Session) failedPhase() string {
	handled := map[string]bool{}
	for _, e := range s.Entries {
		if route, err := echo.Read[echo.Route](e); err == nil && route.Reason == "on_error" {
			handled[e.Key.VisitKey().String()] = true
		}
	}
	for _, p := range slices.Backward(s.PhaseReports) {
		key, err := echo.ParseKey(p.Visit)
		if err == nil && key.HasBranches() && p.Status == echo.StatusFailed.String() && !handled[p.Visit] {
			return p.Phase
		}
	}
	return s.PhaseReports[len(s.PhaseReports)-1].Phase
}

// unfinishedTool is the tool that a run failed of because nobody knows what it did before an earlier
// stop; "" for none.
func unfinishedTool(entries []*echo.Entry) string {
	for _, e := range slices.Backward(entries) {
		switch {
		case e.NodeType == echo.NodeModelCall && !e.Background(), e.NodeType == echo.NodeToolStart:
			return ""
		case e.NodeType == echo.NodeToolCall && e.Error != nil && e.Error.Kind == effect.KindUnfinished && e.Tool != nil:
			return e.Tool.Name
		case e.NodeType == echo.NodeToolCall:
			return ""
		}
	}
	return ""
}
