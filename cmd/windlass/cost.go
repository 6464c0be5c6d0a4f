package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newCostCommand(con *console) *cobra.Command {
	var by string
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
			return showCosts(cmd.Context(), con, clickhouse.CostBy(by))
		},
	}
	cmd.Flags().StringVar(&by, "by", string(clickhouse.ByCascade), "sum up by "+costBys())
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func costBys() string {
	var names []string
	for _, by := range clickhouse.CostBys() {
		names = append(names, string(by))
	}
	return strings.Join(names, ", ")
}

func showCosts(ctx context.Context, con *console, by clickhouse.CostBy) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	rows, err := arc.Costs(ctx, by)
	if err != nil {
		return err
	}
	return con.print(append([]clickhouse.CostRow{}, rows...), func() error { // an empty report is [], not null
		if len(rows) == 0 {
			fmt.Fprintln(con.err, "No model calls yet. Make some: windlass run FILE")
			return nil
		}
		var unknown uint64
		for _, r := range rows {
			unknown += r.UnknownCostCalls
		}
		table := reports.Costs(by, rows)
		show := con.table
		if by == clickhouse.BySession {
			show = func(t *term.Table) error {
				return con.sessionTable(con.out, t, sessionIDs(rows, func(r clickhouse.CostRow) string { return r.SessionID }))
			}
		}
		if err := show(table); err != nil {
			return err
		}
		con.noteUnknown(unknown)
		return nil
	})
}
