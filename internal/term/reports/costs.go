package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Costs has a row for each row of a report of costs.
func Costs(by clickhouse.CostBy, rows []clickhouse.CostRow) *term.Table {
	names := costNames[by]
	embeds := slices.ContainsFunc(rows, func(r clickhouse.CostRow) bool { return r.EmbeddingCalls > 0 })
	pretends := slices.ContainsFunc(rows, func(r clickhouse.CostRow) bool { return r.PretendUSD != nil })
	heads := slices.Concat(names.heads, usageHeads(embeds))
	if pretends {
		heads = append(heads, pretendHead)
	}
	t := term.NewTable(heads...)
	for _, r := range rows {
		cells := append(names.cells(r), usageCells(r.Usage, embeds)...)
		if pretends {
			cells = append(cells, pretendCell(r.Pretend))
		}
		t.Add(cells...)
	}
	return t.Key(names.heads...).Drop("time", "scripted", "failed", "embeddings", "cached", "tokens out", "calls", "tokens in")
}

// embeddingsHead is that of the requests for embeddings, which few reports have.
const embeddingsHead = ">embeddings"

// pretendHead is that of what the calls of scripts would have cost, which few reports have.
const pretendHead = ">pretend"

func pretendCell(p clickhouse.Pretend) string {
	if p.PretendUSD == nil {
		return ""
	}
	return term.USD(*p.PretendUSD)
}

// NoCosts says why a report of costs is empty, and what to try.
func NoCosts(filtered bool, u archive.Unsent) string {
	if filtered {
		return "No model calls in ClickHouse fit these filters. What ran with --no-clickhouse is there after windlass ship SESSION."
	}
	var lines []string
	if u.Kept > 0 {
		lines = append(lines, quantity.Of(u.Kept, "session")+" of this machine ran with --no-clickhouse: windlass show SESSION says what one cost, "+
			"windlass ship SESSION delivers it, windlass sessions list names them.")
	}
	if u.Pending > 0 {
		lines = append(lines, "The rows of "+quantity.Of(u.Pending, "session")+" are pending: windlass ship delivers them.")
	}
	if lines == nil {
		return "No model calls yet. Make some: windlass run FILE"
	}
	return "No model calls in ClickHouse. " + strings.Join(lines, "\n")
}

// PretendNote says at whose prices the column of pretended costs is; "" without one.
func PretendNote(each []clickhouse.Pretend) string {
	var models []string
	for _, p := range each {
		for m := range strings.SplitSeq(p.PriceAs, ", ") {
			if m != "" && !slices.Contains(models, m) {
				models = append(models, m)
			}
		}
	}
	if len(models) == 0 {
		return ""
	}
	slices.Sort(models)
	return "pretend: at prices of " + term.OneLine(strings.Join(models, ", ")) + "; nothing was paid, and the costs do not include it."
}

// usageHeads are those of the columns that every report has.
func usageHeads(embeds bool) []string {
	heads := []string{">calls"}
	if embeds {
		heads = append(heads, embeddingsHead)
	}
	return append(heads, ">scripted", ">failed", ">tokens in", ">cached", ">tokens out", ">cost", ">time")
}

// usageCells are the cells under usageHeads.
func usageCells(u clickhouse.Usage, embeds bool) []string {
	cells := []string{term.Count(int64(u.Calls))}
	if embeds {
		cells = append(cells, term.Count(int64(u.EmbeddingCalls)))
	}
	return append(cells, term.Count(int64(u.ScriptedCalls)), term.Count(int64(u.FailedCalls)),
		term.Count(u.TokensIn), term.Count(u.TokensCached), term.Count(u.TokensOut),
		term.Cost(u.CostUSD, u.Calls+u.EmbeddingCalls, u.UnknownCostCalls), term.Millis(u.DurationMS))
}

// costNames are the columns that say what a line of a report is about.
var costNames = map[clickhouse.CostBy]struct {
	heads []string
	cells func(clickhouse.CostRow) []string
}{
	clickhouse.ByCascade: {[]string{"cascade"}, func(r clickhouse.CostRow) []string { return []string{r.CascadeID} }},
	clickhouse.ByPhase:   {[]string{"cascade", "phase"}, func(r clickhouse.CostRow) []string { return []string{r.CascadeID, r.Phase} }},
	clickhouse.ByModel:   {[]string{"model", "provider"}, func(r clickhouse.CostRow) []string { return []string{r.Model, r.Provider} }},
	clickhouse.BySession: {[]string{"session", "cascade"}, func(r clickhouse.CostRow) []string { return []string{r.SessionID, r.CascadeID} }},
	clickhouse.ByDay:     {[]string{"day"}, func(r clickhouse.CostRow) []string { return []string{r.Day} }},
	clickhouse.ByTag:     {[]string{"tag"}, func(r clickhouse.CostRow) []string { return []string{tagName(r.Tag)} }},
}

// tagName is a tag in a table.
func tagName(tag string) string { return cmp.Or(tag, "(no tag)") }

// CostTotal says what the rows of a report by tags are parts of.
func CostTotal(t *clickhouse.CostTotal) string {
	return totalOf(int(t.Sessions), int(t.Several), term.Cost(t.CostUSD, t.Calls+t.EmbeddingCalls, t.UnknownCostCalls))
}

// TagTotal is CostTotal of a list of sessions, several of them with more than one tag.
func TagTotal(sum *archive.TagSums, several int) string {
	return totalOf(sum.Sessions, several, term.Cost(sum.CostUSD, sum.Calls+sum.EmbeddingCalls, sum.UnknownCostCalls))
}

func totalOf(sessions, several int, cost string) string {
	return fmt.Sprintf("Total: %s, %s.%s", cost, quantity.Of(sessions, "session"), severalTags(several))
}

// severalTags says why rows by tags add up to more than their total.
func severalTags(sessions int) string {
	switch sessions {
	case 0:
		return ""
	case 1:
		return " The rows add up to more: 1 session has several tags and counts for each."
	}
	return fmt.Sprintf(" The rows add up to more: %d sessions have several tags and count for each.", sessions)
}

// Tags has a row for each tag of a list of sessions.
func Tags(rows []archive.TagSums) *term.Table {
	t := term.NewTable("tag", ">sessions", ">completed", ">resumable", "newest", ">calls", ">tokens in", ">cached", ">tokens out", ">cost")
	var newest []string
	for _, r := range rows {
		newest = append(newest, formatMinute(r.NewestAt))
		t.Add(tagName(r.Tag), term.Count(int64(r.Sessions)), term.Count(int64(r.Completed)), term.Count(int64(r.Resumable)), formatTime(r.NewestAt),
			term.Count(int64(r.Calls)), term.Count(r.TokensIn), term.Count(r.TokensCached), term.Count(r.TokensOut),
			term.Cost(r.CostUSD, r.Calls+r.EmbeddingCalls, r.UnknownCostCalls))
	}
	return t.Key("tag").Shorten("newest", newest).Drop("cached", "resumable", "tokens out", "calls", "completed", "tokens in")
}
