package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/groups"
	"github.com/windlass-run/windlass/internal/handoff"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newSessionsCommand(con *console) *cobra.Command {
	cmd := newSessionsListCommand(con) // without another command it does the same
	cmd.Use, cmd.Short = "sessions", "List runs, show what one did, delete or redact runs"
	cmd.Example = "  windlass sessions\n  windlass sessions show last\n  windlass sessions handoff last"
	cmd.AddCommand(newSessionsListCommand(con), newSessionsShowCommand(con), newSessionsHandoffCommand(con), newSessionsDeleteCommand(con), newSessionsRedactCommand(con))
	return cmd
}

func newSessionsListCommand(con *console) *cobra.Command {
	o := listing{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the newest runs",
		Long: `Lists the newest runs: those in ClickHouse, and those that are only on this machine so far. A run that was killed,
interrupted, over its budget or left by its provider can be resumed. Without ClickHouse the runs of this machine
are listed. --since, --cascade and --tag leave out what does not fit all of them. The tags are those that a cascade
file lists. --by tag sums all runs up by their tags; a run with several tags counts for each of them. A cascade that
another one runs is a run of its own, which --children lists; else its parent has the number of those below it.`,
		Example: "  windlass sessions list\n  windlass sessions list --since 7d --tag team=search\n  windlass sessions list --by tag\n" +
			"  windlass sessions list --limit 100 --json",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.limit < 0:
				return exit.UsageError(fmt.Errorf("--limit %d is below zero", o.limit), "--limit 20, or 0 for all")
			case cmd.Flags().Changed("by") && o.by != "tag":
				return exit.UsageError(fmt.Errorf("--by %q: expected tag", o.by), "windlass sessions list --by tag")
			case o.by != "" && !cmd.Flags().Changed("limit"):
				o.limit = 0
			}
			return o.show(cmd, con)
		},
	}
	cmd.Flags().IntVar(&o.limit, "limit", 20, "how many; 0 for all")
	cmd.Flags().BoolVar(&o.children, "children", false, "list runs that other runs have begun, too")
	cmd.Flags().StringVar(&o.by, "by", "", "sum up by tag, all runs unless --limit is given")
	o.filter.add(cmd, "only runs that began since")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

// listing is what the flags of "sessions list" say.
type listing struct {
	limit    int
	by       string
	children bool
	filter   filterFlags
}

// read returns the sessions that are listed. A sum by tag has children, too: each session has its own sums.
func (o *listing) read(ctx context.Context, arc *archive.Archive, f clickhouse.Filter) (list []archive.Listed, away, err error) {
	if o.children || o.by != "" {
		return arc.List(ctx, o.limit, f)
	}
	return archive.ListRuns(ctx, arc, o.limit, f)
}

func (o *listing) show(cmd *cobra.Command, con *console) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	filter, err := o.filter.filter(cmd, arc)
	if err != nil {
		return err
	}
	list, away, err := o.read(cmd.Context(), arc, filter)
	if err != nil {
		return err
	}
	shown := any(append([]archive.Listed{}, list...)) // an empty list is [], not null
	if o.by != "" {
		shown = archive.ByTag(list)
	}
	err = con.print(shown, func() error {
		switch {
		case len(list) == 0 && !filter.IsZero():
			fmt.Fprintln(con.err, "No sessions fit --since, --cascade and --tag.")
		case len(list) == 0:
			fmt.Fprintln(con.err, "No sessions yet. Make one: windlass run FILE")
		case o.by != "":
			return printTags(con, list)
		default:
			return printSessions(con, list)
		}
		return nil
	})
	if away != nil {
		fmt.Fprintf(con.err, "Warning: only the sessions of this machine are listed: %s\n", term.CleanLines(away.Error()))
	}
	return err
}

// printTags sums sessions up by their tags.
func printTags(con *console, list []archive.Listed) error {
	if err := con.table(reports.Tags(archive.ByTag(list))); err != nil {
		return err
	}
	several := 0
	for i := range list {
		if len(list[i].Tags) > 1 {
			several++
		}
	}
	sum := archive.SumOf(list)
	fmt.Fprintf(con.out, "\n%s\n", reports.TagTotal(&sum, several))
	return nil
}

// printSessions shows a table, and what can be done with the sessions in it.
func printSessions(con *console, list []archive.Listed) error {
	if err := con.sessionTable(con.out, reports.Sessions(list), sessionIDs(list, func(l archive.Listed) string { return l.ID })); err != nil {
		return err
	}
	notePretend(con, list, func(l archive.Listed) clickhouse.Pretend { return l.Pretend })
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
			var err error
			if r.Taken, _, err = groups.Withdrawals(con.app.Home(), r.ID, r.Entries); err != nil {
				return nil, nil, err
			}
			h, err := r.Handoff()
			return h, func(o contexts.Out) error { return contexts.Text(o, handoff.Markdown(h)) }, err
		})
}
