package reports

import (
	"slices"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/term"
)

// Costs has a row for each row of a report of costs.
func Costs(by clickhouse.CostBy, rows []clickhouse.CostRow) *term.Table {
	names := costNames[by]
	embeds := slices.ContainsFunc(rows, func(r clickhouse.CostRow) bool { return r.EmbeddingCalls > 0 })
	t := term.NewTable(slices.Concat(names.heads, usageHeads(embeds))...)
	for _, r := range rows {
		t.Add(append(names.cells(r), usageCells(r.Usage, embeds)...)...)
	}
	return t.Key(names.heads...).Drop("time", "scripted", "failed", "embeddings", "cached", "tokens out", "calls", "tokens in")
}

// embeddingsHead is that of the requests for embeddings, which few reports have.
const embeddingsHead = ">embeddings"

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
}
