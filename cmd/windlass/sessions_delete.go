package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/filter"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

// deletion is what the flags of "sessions delete" say.
type deletion struct {
	ids       []string
	olderThan string
	retention bool
	dryRun    bool
	yes       bool
}

func newSessionsDeleteCommand(con *console) *cobra.Command {
	var d deletion
	cmd := &cobra.Command{
		Use:   "delete [ID...]",
		Short: "Delete runs here and in ClickHouse",
		Long: `Deletes runs: the folder on this machine, with the journal and the working folder of the run, and the rows and cards
in ClickHouse. They are named by ID, its end (5 characters or more) or its beginning, but not as last or by a cascade,
which mean another run tomorrow; or all that have recorded nothing for longer than --older-than; --retention deletes what
windlass.json says is old enough (docs/cli.md). Runs that a run has begun are deleted with it. --dry-run only lists
them all. Frozen tests are not touched.

A session that a process is running is never deleted. Neither is one with rows that ClickHouse does not have yet, unless
it ran with --no-clickhouse. Without a terminal nothing is deleted without --yes.`,
		Example: "  windlass sessions delete 7k2mq\n  windlass sessions delete --older-than 90d --dry-run\n  windlass sessions delete --retention --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			d.ids = args
			return deleteSessions(cmd.Context(), con, &d)
		},
	}
	cmd.Flags().StringVar(&d.olderThan, "older-than", "", "all runs whose newest entry is older: hours, days or weeks, as in 36h, 90d, 8w")
	cmd.Flags().BoolVar(&d.retention, "retention", false, "what is older than the retention in windlass.json allows")
	cmd.Flags().BoolVar(&d.dryRun, "dry-run", false, "list what would be deleted, and delete nothing")
	cmd.Flags().BoolVar(&d.yes, "yes", false, "do not ask")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func deleteSessions(ctx context.Context, con *console, d *deletion) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	plan, err := d.plan(ctx, con, arc)
	if err != nil {
		return err
	}
	d.noteKept(con, plan)
	if len(plan.Sessions) == 0 || d.dryRun {
		if !con.asJSON && len(plan.Sessions) == 0 {
			fmt.Fprintln(con.err, "Nothing to delete.")
			return nil
		}
		return con.print(append([]archive.Removed{}, plan.Sessions...), func() error { return con.removed(con.out, plan.Sessions) })
	}
	if err := d.confirm(con, plan); err != nil {
		return err
	}
	done, err := plan.Do(ctx)
	if len(done) > 0 || con.asJSON {
		err = errors.Join(con.print(done, func() error { return con.removed(con.out, done) }), err)
	}
	return err
}

// removed lists what is deleted of sessions.
func (con *console) removed(to io.Writer, list []archive.Removed) error {
	return con.sessionTable(to, reports.Removed(list), sessionIDs(list, func(r archive.Removed) string { return r.ID }))
}

// plan returns what is to be deleted, by one of the three ways to say it.
func (d *deletion) plan(ctx context.Context, con *console, arc *archive.Archive) (*archive.Removal, error) {
	ways := 0
	for _, given := range []bool{len(d.ids) > 0, d.olderThan != "", d.retention} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return nil, exit.UsageError(errors.New("sessions delete needs ids, --older-than or --retention, and one of them only"),
			"windlass sessions delete --older-than 90d --dry-run")
	}
	now := time.Now()
	switch {
	case len(d.ids) > 0:
		return arc.RemovalOf(ctx, d.ids)
	case d.olderThan != "":
		age, ok := filter.ParseAge(d.olderThan)
		if !ok {
			return nil, exit.UsageError(fmt.Errorf("--older-than %q is no age", d.olderThan), "--older-than 36h, 90d or 8w")
		}
		before := now.Add(-age)
		return arc.RemovalBefore(ctx, archive.Ages{Rows: before, Journals: before})
	}
	cfg, err := con.config()
	if err != nil {
		return nil, err
	}
	keep := cfg.Retention
	if keep.None() {
		return nil, exit.UsageError(errors.New("windlass.json has no retention"), `"retention": {"cards_days": 30, "rows_days": 365, "journals_days": 90}`)
	}
	return arc.RemovalBefore(ctx, archive.Ages{Cards: daysBefore(now, keep.CardsDays), Rows: daysBefore(now, keep.RowsDays), Journals: daysBefore(now, keep.JournalsDays)})
}

// daysBefore returns the time so many days before another; zero for no days.
func daysBefore(now time.Time, days int) time.Time {
	if days == 0 {
		return time.Time{}
	}
	return now.AddDate(0, 0, -days)
}

func (d *deletion) noteKept(con *console, plan *archive.Removal) {
	for _, k := range plan.Kept {
		fmt.Fprintf(con.err, "Kept: session %s: %s\n", k.ID, term.CleanLines(k.Kept))
	}
}

// confirm asks a person on a terminal. Without one, --yes has to say it.
func (d *deletion) confirm(con *console, plan *archive.Removal) error {
	if d.yes {
		return nil
	}
	what := term.Plural(len(plan.Sessions), "session")
	return confirm(con, consent{
		would: what + " would be deleted", hint: "--dry-run lists them, --yes deletes them", question: "Delete this of " + what + " for good?", refused: "nothing was deleted",
	}, func() error { return con.removed(con.err, plan.Sessions) })
}
