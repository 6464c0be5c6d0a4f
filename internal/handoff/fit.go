package handoff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// fit makes the handoff within limits: the newest of what was done, the first of what remains.
func (p *progress) fit(g *gathered, l limits) *echo.Handoff {
	h := &echo.Handoff{
		SessionID: p.record.SessionID(), CascadeID: excerpt.Line(p.record.CascadeID(), maxName), Status: p.status, Reason: p.reason,
		Task: clipClean(g.task, l.task), Progress: g.progress, GeneratedAt: p.asOf().UTC(),
	}
	if newest := p.newest(); newest != nil {
		key := echo.PhaseKey(newest.Phase, newest.Number)
		h.Phase, h.Attempt, h.Turn = excerpt.Line(key.String(), maxName), newest.Attempt, newest.Turn
	}
	h.Input = clipClean(p.input(), l.input)
	h.Progress.Said = clipClean(g.said, l.said)
	h.Done = shortened(newest(g.done, l.items), l.item)
	h.Remaining = shortened(first(g.remaining, l.items), l.item)
	h.Blocking = shortened(newest(g.blocking, l.items/2), l.problem)
	h.Decisions = shortened(newest(g.decisions, l.items), l.item)
	h.Written = []string{}
	for _, path := range newest(g.written, l.items) {
		h.Written = append(h.Written, excerpt.Line(path, l.path))
	}
	o := echo.Omitted{
		Done: len(g.done) - len(h.Done), Remaining: len(g.remaining) - len(h.Remaining), Blocking: len(g.blocking) - len(h.Blocking),
		Decisions: len(g.decisions) - len(h.Decisions), Written: len(g.written) - len(h.Written),
	}
	h.Workspace, o.Changed = fitFiles(p.files, l)
	if o != (echo.Omitted{}) {
		h.Omitted = &o
	}
	h.Continuation = continuation(h, l)
	return h
}

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

// newest returns the last n of a list, first the first n; of none but an empty list nothing.
func newest[T any](list []T, n int) []T { return list[max(0, len(list)-max(n, 1)):] }

func first[T any](list []T, n int) []T { return list[:min(len(list), max(n, 1))] }

// maxName and maxSource bound names, in bytes, some of which models choose.
const (
	maxName   = 200
	maxSource = 80
)

func shortened(items []echo.HandoffItem, size int) []echo.HandoffItem {
	out := make([]echo.HandoffItem, len(items))
	for i, it := range items {
		out[i] = echo.HandoffItem{Source: excerpt.Line(it.Source, maxSource), Text: excerpt.Line(it.Text, size)}
	}
	return out
}

func fitFiles(w *echo.Workspace, l limits) (*echo.Workspace, int) {
	if w == nil {
		return nil, 0
	}
	out := *w
	out.Branch, out.Head, out.Problem = excerpt.Line(w.Branch, maxName), excerpt.Line(w.Head, maxName), excerpt.Line(w.Problem, maxName)
	kept := first(w.Files, l.files)
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
	if h.Phase == "" && h.Progress.Candidates == 0 {
		return fmt.Sprintf("No phase of cascade %s has begun.", excerpt.Line(h.CascadeID, maxName))
	}
	at := "phase " + where(h)
	if h.Phase == "" {
		at = "of which candidates run as sessions of their own"
	}
	line("Where the work stands: cascade %s, %s.", excerpt.Line(h.CascadeID, maxName), at)
	if h.Task != "" {
		line("Task: %s", excerpt.Line(h.Task, min(continuationTask, l.task)))
	}
	if len(h.Progress.Notes) > 0 {
		line("Read first from its own notes: %s.", strings.Join(h.Progress.Notes, ", "))
	}
	for _, part := range []struct {
		name  string
		items []echo.HandoffItem
	}{
		{"Done", newest(h.Done, continuationItems)},
		{"Remaining", first(h.Remaining, continuationItems)},
		{"In the way", newest(h.Blocking, continuationItems)},
		{"Decided", newest(h.Decisions, continuationItems)},
	} {
		if len(part.items) > 0 {
			line("%s: %s.", part.name, listed(part.items, l.item/2))
		}
	}
	if w := h.Workspace; w != nil {
		line("Files: %s", filesText(w))
	}
	free := func(it echo.HandoffItem) bool {
		same := func(b echo.HandoffItem) bool { return wordsOf(b.Text) == wordsOf(it.Text) }
		return isOfChecklist(it) && !slices.ContainsFunc(h.Blocking, same)
	}
	if i := slices.IndexFunc(h.Remaining, free); i >= 0 {
		line("Begin with: %s. What is done is not to be done again.", strings.TrimRight(h.Remaining[i].Text, "."))
	}
	return strings.TrimRight(b.String(), "\n")
}

func listed(items []echo.HandoffItem, size int) string {
	parts := make([]string, len(items))
	for i, it := range items {
		text := strings.TrimRight(excerpt.Line(it.Text, size), ".")
		if !isOfChecklist(it) {
			text = it.Source + ": " + text
		}
		parts[i] = text
	}
	return strings.Join(parts, "; ")
}

func isOfChecklist(it echo.HandoffItem) bool { return it.Source == sourceChecklist }
