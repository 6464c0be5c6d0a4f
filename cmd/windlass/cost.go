package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/clickhouse"
)

func newCostCommand(a *app) *cobra.Command {
	var by string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show what runs have cost",
		Long: "Sums up what model calls cost. A cost that is not known is shown as unknown and never counted as nothing.\n" +
			"Calls that a script answered cost nothing and are counted apart.",
		Example: "  windlass cost\n  windlass cost --by phase\n  windlass cost --by day --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(clickhouse.CostBys(), clickhouse.CostBy(by)) {
				return usageError(fmt.Errorf("--by %q: expected one of %s", by, costBys()), "windlass cost --by phase")
			}
			return a.cost(cmd.Context(), clickhouse.CostBy(by), asJSON)
		},
	}
	cmd.Flags().StringVar(&by, "by", string(clickhouse.ByCascade), "sum up by "+costBys())
	jsonFlag(cmd, &asJSON)
	return cmd
}

func costBys() string {
	var names []string
	for _, by := range clickhouse.CostBys() {
		names = append(names, string(by))
	}
	return strings.Join(names, ", ")
}

func (a *app) cost(ctx context.Context, by clickhouse.CostBy, asJSON bool) error {
	arc, err := a.archive()
	if err != nil {
		return err
	}
	rows, err := arc.Costs(ctx, by)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.printJSON(append([]clickhouse.CostRow{}, rows...)) // an empty report is [], not null
	case len(rows) == 0:
		fmt.Fprintln(a.err, "No model calls yet. Make some: windlass run FILE")
		return nil
	}
	return a.printCosts(by, rows)
}

func (a *app) printCosts(by clickhouse.CostBy, rows []clickhouse.CostRow) error {
	names := costNames(by)
	heads := append(slices.Clone(names.heads),
		">calls", ">scripted", ">failed", ">tokens in", ">cached", ">tokens out", ">cost", ">time")
	t := newTable(heads...)
	var unknown uint64
	for _, r := range rows {
		unknown += r.UnknownCostCalls
		t.add(append(names.cells(r), usageCells(r.Usage)...)...)
	}
	if err := a.show(t); err != nil {
		return err
	}
	a.unknownNote(unknown)
	return nil
}

// usageCells are the cells of the columns that every report has.
func usageCells(u clickhouse.Usage) []string {
	return []string{
		formatCount(int64(u.Calls)), formatCount(int64(u.ScriptedCalls)), formatCount(int64(u.FailedCalls)),
		formatCount(u.TokensIn), formatCount(u.TokensCached), formatCount(u.TokensOut),
		formatCost(u.CostUSD, u.Calls, u.UnknownCostCalls), formatMillis(u.DurationMS),
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
