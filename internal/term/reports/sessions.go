// Package reports makes tables of sessions, costs, deliveries and simulations. A width is that of
// the terminal in columns, 0 for none.
package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/term"
)

// Sessions has a row for each session of a list.
func Sessions(list []archive.Listed) *term.Table {
	heads := []string{"session", "cascade", "status", "started", ">duration", ">phases", ">calls"}
	anyEmbeds := slices.ContainsFunc(list, func(s archive.Listed) bool { return s.EmbeddingCalls > 0 })
	if anyEmbeds {
		heads = append(heads, embeddingsHead)
	}
	heads = append(heads, ">tokens in", ">cached", ">tokens out", ">cost")
	anyChildren := slices.ContainsFunc(list, func(s archive.Listed) bool { return s.Children > 0 })
	if anyChildren {
		heads = append(heads, ">children")
	}
	anyBelow := slices.ContainsFunc(list, func(s archive.Listed) bool { return s.ChildrenBegun > 0 })
	if anyBelow {
		heads = append(heads, withChildrenHead)
	}
	anyParents := slices.ContainsFunc(list, func(s archive.Listed) bool { return s.ChildOf != "" })
	if anyParents {
		heads = append(heads, "child of")
	}
	pretends := slices.ContainsFunc(list, func(s archive.Listed) bool { return s.PretendUSD != nil })
	if pretends {
		heads = append(heads, pretendHead)
	}
	anyWaits := slices.ContainsFunc(list, func(s archive.Listed) bool { return s.Pending > 0 })
	if anyWaits {
		heads = append(heads, ">waiting")
	}
	t := term.NewTable(heads...)
	var started []string
	for _, s := range list {
		started = append(started, formatMinute(s.StartedAt))
		cells := sessionCells(&s, anyEmbeds)
		if anyChildren {
			cells = append(cells, someCount(s.Children))
		}
		if anyBelow {
			cells = append(cells, withChildrenCell(&s.SessionFigures))
		}
		if anyParents {
			cells = append(cells, s.ChildOf)
		}
		if pretends {
			cells = append(cells, pretendCell(s.Pretend))
		}
		if anyWaits && s.Pending > 0 {
			cells = append(cells, term.Count(int64(s.Pending)))
		} else if anyWaits {
			cells = append(cells, "")
		}
		t.Add(cells...)
	}
	return t.Key("session", "cascade").Shorten("started", started).
		Drop("cached", "embeddings", "phases", "tokens out", "calls", "duration", "tokens in", "waiting", "child of", "children")
}

// withChildrenHead is that of what sessions cost with all below them.
const withChildrenHead = ">with children"

// withChildrenCell is empty for a session without children.
func withChildrenCell(f *clickhouse.SessionFigures) string {
	if f.ChildrenBegun == 0 {
		return ""
	}
	cost := term.Cost(f.WithChildrenUSD, f.WithChildren+f.EmbeddingCalls, f.UnknownCostCalls+f.ChildrenUnknown)
	if f.ChildrenEnded < f.ChildrenBegun && !strings.HasSuffix(cost, "unknown") {
		cost += " + unknown"
	}
	return cost
}

// someCount writes a number, and nothing for none.
func someCount(n int) string {
	if n == 0 {
		return ""
	}
	return term.Count(int64(n))
}

func sessionCells(l *archive.Listed, embeds bool) []string {
	status := l.Status
	if l.Resumable {
		status += ", resumable"
	}
	cells := []string{
		l.ID, l.CascadeID, status, formatTime(l.StartedAt), term.Duration(l.Ran()), term.Count(int64(l.Phases)), term.Count(int64(l.Calls)),
	}
	if embeds {
		cells = append(cells, term.Count(int64(l.EmbeddingCalls)))
	}
	return append(cells, term.Count(l.TokensIn), term.Count(l.TokensCached), term.Count(l.TokensOut),
		term.Cost(l.CostUSD, l.Calls+l.EmbeddingCalls, l.UnknownCostCalls))
}

// Calls has a row for each model and tool call of a session.
func Calls(calls []archive.Call) *term.Table {
	t := term.NewTable(">seq", "where", "call", ">tokens in", ">cached", ">tokens out", ">cost", ">time", "outcome")
	for _, c := range calls {
		in, cached, out, cost := "", "", "", ""
		if c.NodeType != echo.NodeToolCall {
			in, cached, out = term.Count(c.TokensIn), term.Count(c.TokensCached), term.Count(c.TokensOut)
			cost = term.Cost(c.CostUSD, 1, 0)
		}
		t.Add(term.Count(int64(c.Seq)), c.Key, c.Name, in, cached, out, cost, term.Millis(c.DurationMS), callOutcome(c))
	}
	return t.Key("seq", "where").Drop("cached", "time", "tokens out", "tokens in")
}

// callOutcome says how a call ended. An error says itself how often the call was tried.
func callOutcome(c archive.Call) string {
	if c.Copied {
		return "copied: " + ownOutcome(c)
	}
	return ownOutcome(c)
}

func ownOutcome(c archive.Call) string {
	switch {
	case c.Failed && c.Error != "":
		return "failed: " + c.Error
	case c.Failed:
		return "failed"
	case c.Retries > 0:
		return fmt.Sprintf("ok (tried %d times)", c.Retries+1)
	default:
		return "ok"
	}
}

// Candidates lists the sessions that a name may mean, a line for each, indented. The ids are whole,
// to be copied.
func Candidates(e *archive.AmbiguousError) string {
	t := term.NewTable("session", "cascade", "status", "started")
	var started []string
	for _, s := range e.Sessions {
		t.Add(s.ID, s.CascadeID, s.Status, formatTime(s.StartedAt))
		started = append(started, formatMinute(s.StartedAt))
	}
	var b strings.Builder
	room := term.Room{Width: 80 - len("  ")}
	_ = t.Key("session", "cascade").Shorten("started", started).Render(&b, room) // a [strings.Builder] takes everything
	lines := "  " + strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", "\n  ")
	if e.More > 0 {
		lines += fmt.Sprintf("\n  and %d more", e.More)
	}
	return lines
}

// formatTime writes a time as the tables do; nothing for one that is not known.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

// formatMinute is formatTime where there is little room.
func formatMinute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Shipped has a row for each session of a delivery.
func Shipped(results []archive.Shipped) *term.Table {
	t := term.NewTable("session", ">delivered", ">waiting", "outcome")
	for _, r := range results {
		outcome := string(r.Outcome)
		if r.Outcome == archive.LeftRunning {
			outcome += ": left to the process that runs it"
		}
		if r.Error != "" {
			outcome += ": " + r.Error
		}
		t.Add(r.ID, term.Count(int64(r.Delivered)), term.Count(int64(r.Pending)), outcome)
	}
	return t.Key("session")
}

// Removed lists sessions with what is removed of each.
func Removed(list []archive.Removed) *term.Table {
	heads := []string{"session", "cascade", "status", "newest entry", "deleted"}
	anyParents := slices.ContainsFunc(list, func(r archive.Removed) bool { return r.ChildOf != "" })
	if anyParents {
		heads = append(heads, "child of")
	}
	t := term.NewTable(heads...)
	for _, r := range list {
		what := removedParts(&r)
		if r.Kept != "" {
			what = "kept: " + r.Kept
		}
		cells := []string{r.ID, r.CascadeID, r.Status, formatTime(r.LastAt), what}
		if anyParents {
			cells = append(cells, r.ChildOf)
		}
		t.Add(cells...)
	}
	return t.Key("session", "cascade").Drop("newest entry", "status", "child of")
}

func removedParts(r *archive.Removed) string {
	var parts []string
	if r.Journal {
		parts = append(parts, "journal")
	}
	if r.Rows {
		parts = append(parts, "rows")
	}
	if r.Cards {
		parts = append(parts, "cards")
	}
	return strings.Join(parts, ", ")
}
