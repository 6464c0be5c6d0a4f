package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newSessionsCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "List runs and show what one did",
		Example: "  windlass sessions list\n  windlass sessions show 01JZ4K\n  windlass sessions handoff 01JZ4K",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError(errors.New("windlass sessions needs list, show or handoff"), "windlass sessions list")
		},
	}
	cmd.AddCommand(newSessionsListCommand(con), newSessionsShowCommand(con), newSessionsHandoffCommand(con))
	return cmd
}

func newSessionsListCommand(con *console) *cobra.Command {
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
			return listSessions(cmd.Context(), con, limit, asJSON)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "how many; 0 for all")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func newSessionsShowCommand(con *console) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error { return showSession(cmd.Context(), con, args[0], asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func showSession(ctx context.Context, con *console, given string, asJSON bool) error {
	arc, err := openArchive(con)
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
		return printJSON(con, d)
	}
	if err := reports.Session(con.out, term.Width(con.out), d); err != nil {
		return err
	}
	unknownNote(con, d.UnknownCostCalls)
	return nil
}
