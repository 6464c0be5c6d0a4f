package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/handoff"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newSessionsCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "List runs, show what one did, delete or redact runs",
		Example: "  windlass sessions list\n  windlass sessions show last\n  windlass sessions handoff last",
		Args:    noArgs,
		RunE:    needsCommand("list, show, handoff, delete or redact", "windlass sessions list"),
	}
	cmd.AddCommand(newSessionsListCommand(con), newSessionsShowCommand(con), newSessionsHandoffCommand(con), newSessionsDeleteCommand(con), newSessionsRedactCommand(con))
	return cmd
}

func newSessionsListCommand(con *console) *cobra.Command {
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
			return listSessions(cmd.Context(), con, limit)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many; 0 for all")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func listSessions(ctx context.Context, con *console, limit int) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	list, away, err := arc.List(ctx, limit)
	if err != nil {
		return err
	}
	err = con.print(append([]archive.Listed{}, list...), func() error { return printSessions(con, list) }) // an empty list is [], not null
	if away != nil {
		fmt.Fprintf(con.err, "Warning: only the sessions of this machine are listed: %s\n", term.CleanLines(away.Error()))
	}
	return err
}

// printSessions shows a table, and what can be done with the sessions in it.
func printSessions(con *console, list []archive.Listed) error {
	if len(list) == 0 {
		fmt.Fprintln(con.err, "No sessions yet. Make one: windlass run FILE")
		return nil
	}
	if err := con.sessionTable(con.out, reports.Sessions(list), sessionIDs(list, func(l archive.Listed) string { return l.ID })); err != nil {
		return err
	}
	if b := archive.BacklogOf(list); b.Rows > 0 {
		fmt.Fprintf(con.err, "Waiting for ClickHouse: %s\n", backlogText(b))
	}
	for _, s := range list {
		if s.Problem != "" {
			fmt.Fprintf(con.err, "Problem with session %s: %s\n", s.ID, s.Problem)
		}
	}
	return nil
}

func newSessionsShowCommand(con *console) *cobra.Command {
	return showCommand(con, "show SESSION", "sessions show")
}

func newSessionsHandoffCommand(con *console) *cobra.Command {
	return contextCommand(con, "handoff SESSION", "Report the state of a run for the person or model that continues it",
		"Reports the state of a run as Markdown, for the person or model that continues it: the task, what is done, what remains,\n"+
			"blockers, decisions, files that differ from the last commit, and a text for the next model. It comes from the record\n"+
			"alone, so a killed run has one as well. No model is asked.",
		"  windlass sessions handoff last\n  windlass sessions handoff last > handoff.md\n  windlass sessions handoff 7k2mq --json",
		1, "one session id", func(r *inspect.Record, _ []string) (any, shower, error) {
			h, err := r.Handoff()
			return h, func(o contexts.Out) error { return contexts.Text(o, handoff.Markdown(h)) }, err
		})
}
