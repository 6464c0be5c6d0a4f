package handoff

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Markdown returns a handoff as text.
func Markdown(h *echo.Handoff) string {
	m := &markdown{}
	m.line("# Handoff: %s", cmp.Or(excerpt.Line(h.CascadeID, maxName), "a run"))
	m.line("")
	m.line("- session: %s", excerpt.Line(h.SessionID, maxName))
	m.line("- phase: %s", where(h))
	m.line("- progress: %s", progressText(h.Progress))
	if !h.GeneratedAt.IsZero() {
		m.line("- as of: %s", timeText(h.GeneratedAt))
	}
	m.quoted("Task", h.Task)
	m.quoted("Input", h.Input)
	var o echo.Omitted
	if h.Omitted != nil {
		o = *h.Omitted
	}
	m.list("Done", h.Done, o.Done, "[x]")
	m.list("Remaining", h.Remaining, o.Remaining, "[ ]")
	m.list("Blocking", h.Blocking, o.Blocking, "")
	m.list("Decisions", h.Decisions, o.Decisions, "")
	m.files(h, o)
	m.quoted("Last words", h.Progress.Said)
	m.quoted("To go on with", h.Continuation)
	return m.String()
}

// where names the phase of a handoff, and how it stands.
func where(h *echo.Handoff) string {
	if h.Phase == "" && h.Progress.Candidates == 0 {
		return "none has begun"
	}
	s := excerpt.Line(cmp.Or(h.Phase, "those of its candidates, each of which is a session"), maxName)
	switch {
	case h.Turn > 0:
		s += fmt.Sprintf(" (attempt %d, turn %d)", h.Attempt, h.Turn)
	case h.Attempt > 0:
		s += fmt.Sprintf(" (attempt %d)", h.Attempt)
	}
	if h.Status == echo.StatusRunning {
		return s + ", under way"
	}
	s += ", " + strings.ReplaceAll(h.Status.String(), "_", " ")
	if h.Reason != "" && string(h.Reason) != h.Status.String() {
		s += " (" + strings.ReplaceAll(excerpt.Line(string(h.Reason), 100), "_", " ") + ")"
	}
	return s
}

func progressText(p echo.HandoffProgress) string {
	s := quantity.Of(p.PhasesDone, "phase") + " done"
	if p.Candidates > 0 {
		s = fmt.Sprintf("%d of %s of the whole cascade done", p.CandidatesDone, quantity.Of(p.Candidates, "candidate"))
	}
	if p.Items > 0 {
		s += fmt.Sprintf(", %d of %s of the checklist", p.Checked, quantity.Of(p.Items, "item"))
	}
	if len(p.Notes) > 0 {
		s += ", by " + strings.Join(p.Notes, " and ")
	}
	return s
}

type markdown struct{ strings.Builder }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *markdown) head(title string) { m.line("\n## %s\n", title) }

func (m *markdown) quoted(title, text string) {
	if text == "" {
		return
	}
	m.head(title)
	for l := range strings.Lines(text) {
		m.line("%s", strings.TrimRight("> "+excerpt.Clean(l), " "))
	}
}

// list writes items; those of the checklist have its box before them.
func (m *markdown) list(title string, items []echo.HandoffItem, omitted int, box string) {
	if len(items) == 0 {
		return
	}
	m.head(title)
	for _, it := range items {
		before := it.Source + ":"
		if isOfChecklist(it) && box != "" {
			before = box
		}
		m.line("- %s %s", before, it.Text)
	}
	if omitted > 0 {
		m.line("- and %d more", omitted)
	}
}

func (m *markdown) files(h *echo.Handoff, o echo.Omitted) {
	if h.Workspace == nil && len(h.Written) == 0 {
		return
	}
	m.head("Files")
	if w := h.Workspace; w != nil {
		m.line("%s", filesText(w))
		if len(w.Files) > 0 {
			m.line("")
		}
		for _, f := range w.Files {
			m.line("- %s %s", f.Change, f.Path)
		}
		if o.Changed > 0 {
			m.line("- and %d more", o.Changed)
		}
	}
	if len(h.Written) == 0 {
		return
	}
	if h.Workspace != nil {
		m.line("")
	}
	written := strings.Join(h.Written, ", ")
	if o.Written > 0 {
		written += fmt.Sprintf(", and %d more", o.Written)
	}
	m.line("Written by the run: %s", written)
}

func timeText(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// filesText says in a line what is known of the files.
func filesText(w *echo.Workspace) string {
	at := timeText(w.At)
	problem := ""
	switch {
	case w.Problem != "" && len(w.Files) > 0:
		problem = " There are more: " + excerpt.Line(w.Problem, maxName) + "."
	case w.Problem != "":
		return fmt.Sprintf("The repository could not be read at %s: %s.", at, excerpt.Line(w.Problem, maxName))
	}
	on := "no branch"
	if w.Branch != "" {
		on = "branch " + excerpt.Line(w.Branch, 100)
	}
	if w.Head != "" {
		on += " at " + w.Head[:min(len(w.Head), 12)]
	}
	return fmt.Sprintf("%s, %s not as committed (at %s).%s", strings.ToUpper(on[:1])+on[1:], quantity.Of(len(w.Files)+w.More, "file"), at, problem)
}
