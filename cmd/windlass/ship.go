package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/sessions"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func newShipCommand(con *console) *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "ship [SESSION...]",
		Short: "Deliver pending rows of this machine's sessions to ClickHouse",
		Long: `Delivers the rows that ClickHouse does not have yet, from the journals on this machine: those of all sessions, or of the
named ones. It can be repeated at any time: a row that is there already is not counted twice.

The process that runs a session delivers its rows itself. A session that ran with --no-clickhouse is delivered only when
it is named. The exit code is 6 when ClickHouse is not available or a journal cannot be read; the other sessions are
delivered all the same.`,
		Example: "  windlass ship\n  windlass ship last\n  windlass ship --again --json",
		RunE:    func(cmd *cobra.Command, args []string) error { return shipSessions(cmd.Context(), con, args, again) },
	}
	cmd.Flags().BoolVar(&again, "again", false, "deliver all rows again, also those that were delivered before")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

// backlogText says what is pending, and what delivers it.
func backlogText(b archive.Backlog) string {
	if b.Rows == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s of %s: %s ship delivers them", term.Plural(int(b.Rows), "row"), term.Plural(b.Sessions, "session"), commandline.Self())
}

// ship delivers the named sessions, or all that wait.
func shipSessions(ctx context.Context, con *console, ids []string, again bool) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	chosen, err := arc.Shipment(ids, again)
	if err != nil {
		return err
	}
	all := len(chosen.Sessions)
	if all == 0 {
		fmt.Fprintln(con.err, "Nothing is pending: ClickHouse has every session of this machine.")
		return con.print([]archive.Shipped{}, func() error { return nil })
	}
	results, err := chosen.Deliver(ctx, func(n int, s *sessions.Session) archive.Progress {
		return shipProgress{term.NewLine(con.err), fmt.Sprintf("%d of %d, %s", n, all, s.ID)}
	})
	if len(results) > 0 {
		err = errors.Join(err, con.print(results, func() error {
			return con.sessionTable(con.out, reports.Shipped(results), sessionIDs(results, func(s archive.Shipped) string { return s.ID }))
		}))
	}
	return shipError(err, results)
}

// shipError says why ClickHouse took nothing, or which journals cannot be read.
func shipError(err error, results []archive.Shipped) error {
	if err != nil {
		return err
	}
	var found []error
	damaged := false
	for _, r := range results {
		if r.Unreadable != nil {
			found = append(found, r.Unreadable)
			damaged = damaged || !archive.IsOtherVersion(r.Unreadable)
		}
	}
	switch err := archive.Unreadable(found); {
	case err == nil:
		return nil
	case damaged:
		return exit.With(exit.Storage, err, "restore a damaged journal from a copy, or move its folder away")
	default:
		return exit.With(exit.Storage, err, "") // it says itself what to do
	}
}

// shipProgress shows on a terminal how far the delivery of a session is.
type shipProgress struct {
	*term.Line
	what string
}

func (p shipProgress) Show(done, last uint64) {
	p.Draw(fmt.Sprintf("%s: %s of %s rows", p.what, term.Count(int64(done)), term.Count(int64(last))))
}

func (p shipProgress) End() { p.Clear() }
