package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/sessions"
)

type shipOptions struct {
	again  bool
	asJSON bool
}

func newShipCommand(a *app) *cobra.Command {
	var o shipOptions
	cmd := &cobra.Command{
		Use:   "ship [SESSION...]",
		Short: "Deliver to ClickHouse what waits on this machine",
		Long: `Delivers what ClickHouse does not have yet of the sessions on this machine, from their journals: of every session, or
of those named. SESSION may be the beginning of an id. It may be repeated at any time: what is there already is not
counted twice.

A session that a process runs is left to that process. One that was run with --no-clickhouse is delivered only when it
is named. Exit code 6 when ClickHouse is not available, or a journal cannot be read; the others are delivered all the same.`,
		Example: "  windlass ship\n  windlass ship 01JZ4K\n  windlass ship --again --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.ship(cmd.Context(), args, o)
		},
	}
	cmd.Flags().BoolVar(&o.again, "again", false, "deliver everything once more, also what was delivered before")
	jsonFlag(cmd, &o.asJSON)
	return cmd
}

// waiting is how much of the sessions on this machine a ClickHouse does not have. Those that a process runs are not
// counted: their rows are on their way.
type waiting struct {
	Rows     uint64 `json:"rows"`
	Sessions int    `json:"sessions"`
}

func (w waiting) String() string {
	if w.Rows == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s of %s: %s ship delivers them", plural(int(w.Rows), "row"), plural(w.Sessions, "session"), selfCommand())
}

// countWaiting also returns why sessions of the folder cannot be read, which are not counted either.
func countWaiting(folder, to string) (w waiting, unreadable []error, err error) {
	all, err := sessions.All(folder)
	for _, s := range all {
		switch {
		case s.Err != nil:
			unreadable = append(unreadable, s.Err)
		case database.IsPending(s, to):
			w.Sessions++
			w.Rows += s.Waiting(to)
		}
	}
	return w, unreadable, err
}

// shipped is what became of one session.
type shipped struct {
	ID        string `json:"session_id"`
	Outcome   string `json:"outcome"`
	Delivered int    `json:"delivered"` // rows
	Waiting   uint64 `json:"waiting"`   // rows that ClickHouse still does not have
	Error     string `json:"error,omitempty"`

	unreadable error // why its journal cannot be read
}

// The outcomes of a session.
const (
	outcomeDelivered = "delivered"
	outcomeRunning   = "running" // left to the process that runs it
	outcomeFailed    = "failed"
)

// ship delivers the named sessions, or all that wait.
func (a *app) ship(ctx context.Context, ids []string, o shipOptions) error {
	home, err := config.Home()
	if err != nil {
		return withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	db, err := a.clickHouse()
	if err != nil {
		return err
	}
	to := db.Address()
	chosen, err := chooseShipment(config.SessionsDir(home), ids, to, o.again)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		fmt.Fprintln(a.err, "Nothing waits: ClickHouse has every session of this machine.")
		if o.asJSON {
			return a.printJSON([]shipped{})
		}
		return nil
	}
	results := []shipped{}
	err = a.withClickHouse(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		for i, s := range chosen {
			r, err := a.shipOne(ctx, db, s, fmt.Sprintf("%d of %d", i+1, len(chosen)), clickhouse.ShipOptions{To: to, Again: o.again})
			results = append(results, r)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if len(results) > 0 {
		err = errors.Join(err, a.printShipped(results, o.asJSON))
	}
	return shipError(err, results)
}

// chooseShipment finds the sessions that are named; without a name those of which something waits, and all of them again.
func chooseShipment(folder string, ids []string, to string, again bool) ([]*sessions.Session, error) {
	all, err := sessions.All(folder)
	if err != nil {
		return nil, withExit(exitStorage, err, "windlass doctor")
	}
	if len(ids) > 0 {
		return namedSessions(all, ids)
	}
	var chosen []*sessions.Session
	for _, s := range all {
		if s.Err != nil || !s.Marks.KeepHere && (again || s.Waiting(to) > 0) {
			chosen = append(chosen, s)
		}
	}
	return chosen, nil
}

func namedSessions(all []*sessions.Session, ids []string) ([]*sessions.Session, error) {
	var names []string
	byID := map[string]*sessions.Session{}
	for _, s := range all {
		names, byID[s.ID] = append(names, s.ID), s
	}
	var chosen []*sessions.Session
	for _, given := range ids {
		id, err := matchSession(given, names)
		if err == nil && (id == "" || given == "") {
			err = fmt.Errorf("no session %q on this machine", given)
		}
		if err != nil {
			return nil, usageError(err, "windlass sessions list")
		}
		if s := byID[id]; s != nil {
			chosen = append(chosen, s)
			delete(byID, id) // who names it twice has it once
		}
	}
	return chosen, nil
}

// shipOne delivers a session. The error ends the whole delivery; what is wrong with this session alone is in the result.
func (a *app) shipOne(ctx context.Context, db *clickhouse.DB, s *sessions.Session, place string, o clickhouse.ShipOptions) (shipped, error) {
	r := shipped{ID: s.ID, Outcome: outcomeFailed, Waiting: s.Waiting(o.To)}
	if s.Busy {
		r.Outcome = outcomeRunning
		return r, nil
	}
	progress := newShipProgress(a.err, place+", "+s.ID)
	o.Told = progress.show
	done, err := db.Ship(ctx, s.Dir, o)
	progress.end()
	r.Delivered = done.Rows
	if now, lookErr := sessions.Look(s.Dir); lookErr == nil {
		r.Waiting = now.Waiting(o.To)
	}
	switch {
	case journal.IsUnreadable(err), err != nil && s.Err != nil:
		r.Error, r.unreadable = err.Error(), err
		return r, nil //nolint:nilerr // it is told in the row of the session; the others are delivered
	case err != nil:
		r.Error = err.Error()
		return r, err
	}
	r.Outcome = outcomeDelivered
	if done.Unread > 0 {
		r.Error = fmt.Sprintf("%s without what was selected: %v", plural(done.Unread, "row"), done.Why)
	}
	return r, delivery.KeepHere(s.Dir, false) // it was asked for by name, if it was to be kept
}

func (a *app) printShipped(results []shipped, asJSON bool) error {
	if asJSON {
		return a.printJSON(results)
	}
	t := newTable("session", ">delivered", ">waiting", "outcome")
	for _, r := range results {
		outcome := r.Outcome
		if r.Outcome == outcomeRunning {
			outcome += ": left to the process that runs it"
		}
		if r.Error != "" {
			outcome += ": " + r.Error
		}
		t.add(r.ID, formatCount(int64(r.Delivered)), formatCount(int64(r.Waiting)), outcome)
	}
	return a.show(t)
}

// shipError is the error of the whole: why ClickHouse did not take it, or which journals cannot be read.
func shipError(err error, results []shipped) error {
	if err != nil {
		return err
	}
	var found []error
	damaged := false
	for _, r := range results {
		if r.unreadable != nil {
			found = append(found, r.unreadable)
			damaged = damaged || !isOtherVersion(r.unreadable)
		}
	}
	switch err := unreadableJournals(found); {
	case err == nil:
		return nil
	case damaged:
		return withExit(exitStorage, err, "restore a damaged journal from a copy, or move its folder away")
	default:
		return withExit(exitStorage, err, "") // it says itself what to do
	}
}

// unreadableJournals is one error for the reasons why journals cannot be read; nil when there is none.
func unreadableJournals(found []error) error {
	switch len(found) {
	case 0:
		return nil
	case 1:
		return found[0]
	}
	return fmt.Errorf("%d journals cannot be read, the first: %w", len(found), found[0])
}

// shipProgress says how far the delivery of a session is: on a terminal, in one line that is drawn over. Elsewhere the
// table at the end says it all.
type shipProgress struct {
	out   io.Writer
	what  string
	drawn bool
}

func newShipProgress(w io.Writer, what string) *shipProgress {
	if !isTerminal(w) {
		w = nil
	}
	return &shipProgress{out: w, what: what}
}

func (p *shipProgress) show(done, last uint64) {
	if p.out == nil {
		return
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s: %s of %s rows", p.what, formatCount(int64(done)), formatCount(int64(last)))
	p.drawn = true
}

func (p *shipProgress) end() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
