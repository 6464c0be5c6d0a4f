package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
)

func newSessionsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "List runs and show what one did",
		Example: "  windlass sessions list\n  windlass sessions show 01JZ4K\n  windlass sessions handoff 01JZ4K",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError(errors.New("windlass sessions needs list, show or handoff"), "windlass sessions list")
		},
	}
	cmd.AddCommand(newSessionsListCommand(a), newSessionsShowCommand(a), newSessionsHandoffCommand(a))
	return cmd
}

func newSessionsListCommand(a *app) *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the newest runs",
		Long: "Lists the newest runs: those in ClickHouse, and those that are only on this machine so far. A run that was killed,\n" +
			"interrupted, over its budget or left by its provider can be resumed. Without ClickHouse the runs of this machine\n" +
			"are listed.",
		Example: "  windlass sessions list\n  windlass sessions list --limit 100 --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usageError(fmt.Errorf("--limit %d is below zero", limit), "--limit 20, or 0 for all")
			}
			return a.listSessions(cmd.Context(), limit, asJSON)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many; 0 for all")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newSessionsShowCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a run phase by phase and call by call",
		Long:    "Shows a run phase by phase and call by call. ID may be the beginning of a session's id if no other begins so.",
		Example: "  windlass sessions show 01JZ4K\n  windlass sessions show 01JZ4K --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usageError(fmt.Errorf("%s takes one session id, got %q", cmd.CommandPath(), args), "windlass sessions list")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.showSession(cmd.Context(), args[0], asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) showSession(ctx context.Context, given string, asJSON bool) error {
	arc, err := a.archive()
	if err != nil {
		return err
	}
	d, err := arc.Stored(ctx, given)
	var undelivered *archive.UndeliveredError
	switch {
	case errors.As(err, &undelivered):
		return usageError(err, fmt.Sprintf("windlass ship %s, as it waits on this machine", undelivered.ID))
	case err != nil:
		return err
	case asJSON:
		return a.printJSON(d)
	}
	return a.printSession(d)
}

func (a *app) printSession(d *archive.Stored) error {
	fmt.Fprintf(a.out, "session   %s\ncascade   %s\nstatus    %s\n", d.ID, printable(d.CascadeID), d.Status)
	if d.Reason != "" {
		fmt.Fprintf(a.out, "reason    %s\n", printable(d.Reason))
	}
	if d.Error != "" {
		fmt.Fprintf(a.out, "error     %s\n", printable(d.Error))
	}
	fmt.Fprintf(a.out, "started   %s\nduration  %s\ncost      %s\n\n",
		d.StartedAt.Local().Format(time.DateTime), formatDuration(d.Duration()), formatCost(d.CostUSD, d.Calls, d.UnknownCostCalls))
	phases := newTable("phase", "status", ">attempts", ">tools",
		">calls", ">scripted", ">failed", ">tokens in", ">cached", ">tokens out", ">cost", ">time")
	for _, p := range d.PhaseReports {
		phases.add(append([]string{
			p.Visit, p.Status, formatCount(int64(p.Attempts)), formatCount(int64(p.ToolCalls)),
		}, usageCells(p.Usage)...)...)
	}
	if err := a.show(phases); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	if err := a.show(callTable(d.CallList)); err != nil {
		return err
	}
	a.unknownNote(d.UnknownCostCalls)
	return nil
}

func callTable(calls []clickhouse.Call) *table {
	t := newTable(">seq", "where", "call", ">tokens in", ">cached", ">tokens out", ">cost", ">time", "outcome")
	for _, c := range calls {
		if c.NodeType == "tool_call" {
			t.add(formatCount(int64(c.Seq)), c.Key, c.Name, "", "", "", "", formatMillis(c.DurationMS), callOutcome(c))
			continue
		}
		unknown := uint64(0)
		if c.CostUSD == nil {
			unknown = 1
		}
		t.add(formatCount(int64(c.Seq)), c.Key, c.Name, formatCount(c.TokensIn), formatCount(c.TokensCached),
			formatCount(c.TokensOut), formatCost(c.CostUSD, 1, unknown), formatMillis(c.DurationMS), callOutcome(c))
	}
	return t
}

// callOutcome says how a call ended. The error of one that failed says itself how often it was tried.
func callOutcome(c clickhouse.Call) string {
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
