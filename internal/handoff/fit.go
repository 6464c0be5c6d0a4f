package handoff

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// fit makes the handoff with what limits leave room for. Of what was done and decided the newest is
// kept, of what remains the first.
func (p *progress) fit(g *gathered, l limits) *echo.Handoff {
	h := &echo.Handoff{
		SessionID: p.record.SessionID(), CascadeID: excerpt.Line(p.record.CascadeID(), maxName), Status: p.status, Reason: p.reason,
		Task: clipClean(g.task, l.task), Progress: g.progress,
	}
	if newest := p.newest(); newest != nil {
		h.Phase, h.Attempt, h.Turn = excerpt.Line(newest.Key.String(), maxName), newest.Attempt, newest.Turn
	}
	h.Input = clipClean(p.input(), l.input)
	h.Progress.Said = clipClean(g.said, l.said)
	var o echo.Omitted
	h.Done, o.Done = newestItems(g.done, l.items, l.item)
	h.Remaining, o.Remaining = firstItems(g.remaining, l.items, l.item)
	h.Blocking, o.Blocking = newestItems(g.blocking, l.items/2, l.problem)
	h.Decisions, o.Decisions = newestItems(g.decisions, l.items, l.item)
	kept := g.written[max(0, len(g.written)-l.items):]
	o.Written = len(g.written) - len(kept)
	h.Written = make([]string, len(kept))
	for i, path := range kept {
		h.Written[i] = excerpt.Line(path, l.path)
	}
	h.Workspace, o.Changed = fitFiles(p.files, l)
	if o != (echo.Omitted{}) {
		h.Omitted = &o
	}
	h.Continuation = continuation(h, l)
	return h
}

// input returns what the run was given, as JSON; "" when that is nothing.
func (p *progress) input() string {
	start := p.record.Start()
	if start == nil {
		return ""
	}
	d, err := echo.Read[echo.RunStart](start)
	if err != nil || len(d.Input) == 0 {
		return ""
	}
	return echo.AsText(d.Input)
}

func clipClean(s string, n int) string {
	lines := strings.Split(excerpt.Clip(s, n), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(excerpt.Clean(l), " ")
	}
	return strings.Join(lines, "\n")
}

func newestItems(items []echo.HandoffItem, n, size int) (kept []echo.HandoffItem, omitted int) {
	from := max(0, len(items)-max(n, 1))
	return shortened(items[from:], size), from
}

func firstItems(items []echo.HandoffItem, n, size int) (kept []echo.HandoffItem, omitted int) {
	to := min(len(items), max(n, 1))
	return shortened(items[:to], size), len(items) - to
}

// maxName is how many bytes the names may have that come from the file.
const maxName = 200

// maxSource is how many bytes the name of a source may have; models choose some of these names.
const maxSource = 80

func shortened(items []echo.HandoffItem, size int) []echo.HandoffItem {
	out := make([]echo.HandoffItem, len(items))
	for i, it := range items {
		out[i] = echo.HandoffItem{Source: excerpt.Line(it.Source, maxSource), Text: excerpt.Line(it.Text, size)}
	}
	return out
}

// fitFiles returns a reading with at most so many files.
func fitFiles(w *echo.Workspace, l limits) (*echo.Workspace, int) {
	if w == nil {
		return nil, 0
	}
	out := *w
	out.Branch, out.Head, out.Problem = excerpt.Line(w.Branch, maxName), excerpt.Line(w.Head, maxName), excerpt.Line(w.Problem, maxName)
	kept := w.Files[:min(len(w.Files), max(l.files, 1))]
	out.Files = make([]echo.FileChange, len(kept))
	for i, f := range kept {
		out.Files[i] = echo.FileChange{Path: excerpt.Line(f.Path, l.path), Change: excerpt.Line(f.Change, maxSource)}
	}
	out.More += len(w.Files) - len(kept)
	return &out, out.More
}

// How much of the lists a continuation takes over.
const (
	continuationItems = 5
	continuationTask  = 600
)

// continuation tells a model that goes on what it needs first.
func continuation(h *echo.Handoff, l limits) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if h.Phase == "" {
		return fmt.Sprintf("No phase of cascade %s has begun.", excerpt.Line(h.CascadeID, maxName))
	}
	line("Where the work stands: cascade %s, phase %s.", excerpt.Line(h.CascadeID, maxName), where(h))
	if h.Task != "" {
		line("Task: %s", excerpt.Line(h.Task, min(continuationTask, l.task)))
	}
	for _, part := range []struct {
		name  string
		items []echo.HandoffItem
		from  int
	}{
		{"Done", h.Done, max(0, len(h.Done)-continuationItems)},
		{"Remaining", h.Remaining, 0},
		{"In the way", h.Blocking, max(0, len(h.Blocking)-continuationItems)},
		{"Decided", h.Decisions, max(0, len(h.Decisions)-continuationItems)},
	} {
		if list := part.items[part.from:min(len(part.items), part.from+continuationItems)]; len(list) > 0 {
			line("%s: %s.", part.name, listed(list, l.item/2))
		}
	}
	if w := h.Workspace; w != nil {
		line("Files: %s", filesText(w))
	}
	if open := firstOpen(h.Remaining); open != "" {
		line("Begin with: %s. What is done is not to be done again.", open)
	}
	return strings.TrimRight(b.String(), "\n")
}

func listed(items []echo.HandoffItem, size int) string {
	parts := make([]string, len(items))
	for i, it := range items {
		text := strings.TrimRight(excerpt.Line(it.Text, size), ".")
		if it.Source == sourceChecklist {
			parts[i] = text
			continue
		}
		parts[i] = it.Source + ": " + text
	}
	return strings.Join(parts, "; ")
}

// firstOpen returns the first item of the checklist that is open.
func firstOpen(items []echo.HandoffItem) string {
	for _, it := range items {
		if it.Source == sourceChecklist {
			return strings.TrimRight(it.Text, ".")
		}
	}
	return ""
}
