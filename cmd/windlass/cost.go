package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newCostCommand(con *console) *cobra.Command {
	var by string
	var flags filterFlags
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show what runs have cost",
		Long: `Sums up what model calls cost. A cost that is not known is shown as unknown and never counted as nothing.
Calls that a script answered cost nothing and are counted apart; what they would have cost (run --price-as) has a
column of its own. --since, --cascade, --session and --tag leave out
what does not fit all of them. The tags are those that a cascade file lists. With --by tag a session with several
tags counts for each of them.`,
		Example: "  windlass cost\n  windlass cost --by phase --since 7d\n  windlass cost --by day --json\n  windlass cost --by model --session last\n" +
			"  windlass cost --by tag --tag team",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(clickhouse.CostBys(), clickhouse.CostBy(by)) {
				return exit.UsageError(fmt.Errorf("--by %q: expected one of %s", by, costBys()), "windlass cost --by phase")
			}
			arc, err := con.archive()
			if err != nil {
				return err
			}
			filter, err := flags.filter(cmd, arc)
			if err != nil {
				return err
			}
			return showCosts(cmd.Context(), con, arc, clickhouse.CostBy(by), filter)
		},
	}
	cmd.Flags().StringVar(&by, "by", string(clickhouse.ByCascade), "sum up by "+costBys())
	flags.add(cmd, "only calls since")
	flags.addSession(cmd)
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func costBys() string { return strings.Join(textsOf(clickhouse.CostBys()), ", ") }

func showCosts(ctx context.Context, con *console, arc *archive.Archive, by clickhouse.CostBy, filter clickhouse.Filter) error {
	rows, err := arc.Costs(ctx, by, filter)
	if err != nil {
		return err
	}
	var total clickhouse.CostTotal
	if by == clickhouse.ByTag && !con.asJSON && len(rows) > 0 {
		if total, err = archive.CostTotal(ctx, arc, filter); err != nil {
			return err
		}
	}
	return con.print(append([]clickhouse.CostRow{}, rows...), func() error { // an empty report is [], not null
		if len(rows) == 0 {
			unsent, err := archive.UnsentOf(arc)
			if err != nil {
				return err
			}
			fmt.Fprintln(con.err, reports.NoCosts(!filter.IsZero(), unsent))
			return nil
		}
		if err := showCostTable(con, by, rows); err != nil {
			return err
		}
		unknown := total.UnknownCostCalls
		if by == clickhouse.ByTag {
			fmt.Fprintf(con.out, "\n%s\n", reports.CostTotal(&total))
		} else {
			for _, r := range rows {
				unknown += r.UnknownCostCalls
			}
		}
		con.noteUnknown(unknown)
		notePretend(con, rows, func(r clickhouse.CostRow) clickhouse.Pretend { return r.Pretend })
		return nil
	})
}

func showCostTable(con *console, by clickhouse.CostBy, rows []clickhouse.CostRow) error {
	table := reports.Costs(by, rows)
	if by != clickhouse.BySession {
		return con.table(table)
	}
	return con.sessionTable(con.out, table, sessionIDs(rows, func(r clickhouse.CostRow) string { return r.SessionID }))
}

// notePretend says of a report at whose prices its pretended costs are.
func notePretend[T any](con *console, rows []T, of func(T) clickhouse.Pretend) {
	each := make([]clickhouse.Pretend, len(rows))
	for i := range rows {
		each[i] = of(rows[i])
	}
	if note := reports.PretendNote(each); note != "" {
		fmt.Fprintln(con.err, note)
	}
}
