package reports

import (
	"slices"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/term"
)

// Costs has a row for each row of a report of costs.
func Costs(by clickhouse.CostBy, rows []clickhouse.CostRow) *term.Table {
	names := costNames(by)
	heads := append(slices.Clone(names.heads),
		">calls", ">scripted", ">failed", ">tokens in", ">cached", ">tokens out", ">cost", ">time")
	t := term.NewTable(heads...)
	for _, r := range rows {
		t.Add(append(names.cells(r), usageCells(r.Usage)...)...)
	}
	return t
}

// usageCells are the cells of the columns that every report has.
func usageCells(u clickhouse.Usage) []string {
	return []string{
		term.Count(int64(u.Calls)), term.Count(int64(u.ScriptedCalls)), term.Count(int64(u.FailedCalls)),
		term.Count(u.TokensIn), term.Count(u.TokensCached), term.Count(u.TokensOut),
		term.Cost(u.CostUSD, u.Calls, u.UnknownCostCalls), term.Millis(u.DurationMS),
	}
}

// reportNames are the columns that say what a line of a report is about.
type reportNames struct {
	heads []string
	cells func(clickhouse.CostRow) []string
}

func costNames(by clickhouse.CostBy) reportNames {
	switch by {
	case clickhouse.ByPhase:
		return reportNames{[]string{"cascade", "phase"}, func(r clickhouse.CostRow) []string { return []string{r.CascadeID, r.Phase} }}
	case clickhouse.ByModel:
		return reportNames{[]string{"model", "provider"}, func(r clickhouse.CostRow) []string { return []string{r.Model, r.Provider} }}
	case clickhouse.BySession:
		return reportNames{[]string{"session", "cascade"}, func(r clickhouse.CostRow) []string { return []string{r.SessionID, r.CascadeID} }}
	case clickhouse.ByDay:
		return reportNames{[]string{"day"}, func(r clickhouse.CostRow) []string { return []string{r.Day} }}
	default:
		return reportNames{[]string{"cascade"}, func(r clickhouse.CostRow) []string { return []string{r.CascadeID} }}
	}
}
