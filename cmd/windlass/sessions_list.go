package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/sessions"
)

// listedSession is a session of ClickHouse, of this machine, or of both.
type listedSession struct {
	clickhouse.Session
	Here      bool   `json:"here"`              // its journal is on this machine
	Resumable bool   `json:"resumable"`         // its run can be gone on with
	Waiting   uint64 `json:"waiting"`           // rows that ClickHouse does not have yet
	Problem   string `json:"problem,omitempty"` // why its journal cannot be read

	local *sessions.Session // nil: its journal is not here
	known bool              // ClickHouse has rows of it
}

func (a *app) listSessions(ctx context.Context, limit int, asJSON bool) error {
	home, err := config.Home()
	if err != nil {
		return withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	local, err := sessions.All(config.SessionsDir(home))
	if err != nil {
		return withExit(exitStorage, err, "windlass doctor")
	}
	options, err := a.clickHouse()
	if err != nil {
		return err
	}
	stored, away := a.storedSessions(ctx, limit)
	var ee *exitError
	if away != nil && (len(local) == 0 || errors.As(away, &ee) && ee.code == exitInterrupted) {
		return away
	}
	list := mergeSessions(stored, local, options.Address(), limit)
	for i := range list {
		list[i].complete()
	}
	if asJSON {
		err = a.printJSON(append([]listedSession{}, list...)) // an empty list is [], not null
	} else {
		err = a.printSessions(list)
	}
	if away != nil {
		fmt.Fprintf(a.err, "Warning: only the sessions of this machine are listed: %s\n", cleanLines(away.Error()))
	}
	return err
}

func (a *app) storedSessions(ctx context.Context, limit int) (list []clickhouse.Session, err error) {
	err = a.withClickHouse(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
		list, err = db.Sessions(ctx, limit)
		return err
	})
	return list, err
}

// mergeSessions puts what ClickHouse has and what this machine has together, the newest first.
func mergeSessions(stored []clickhouse.Session, local []*sessions.Session, to string, limit int) []listedSession {
	at := map[string]int{}
	var list []listedSession
	for _, s := range stored {
		at[s.ID] = len(list)
		list = append(list, listedSession{Session: s, Resumable: canResume(&s), known: true})
	}
	for _, s := range local {
		i, known := at[s.ID]
		if !known {
			i = len(list)
			list = append(list, listedSession{Session: clickhouse.Session{
				ID: s.ID, CascadeID: s.CascadeID, StartedAt: s.Header.StartedAt, LastAt: s.LastAt,
			}})
		}
		l := &list[i]
		l.local, l.Here = s, true
		if s.Err != nil {
			l.Problem, l.Resumable = s.Err.Error(), false
			continue
		}
		l.Waiting, l.Resumable = s.Waiting(to), s.Resumable() && engine.CheckRules(s.Header.Rules) == nil
	}
	slices.SortStableFunc(list, func(a, b listedSession) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), strings.Compare(a.ID, b.ID))
	})
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list
}

// canResume reports whether a session that ClickHouse has can be resumed, as far as its end says.
func canResume(s *clickhouse.Session) bool {
	var status echo.Status
	return status.UnmarshalText([]byte(s.Status)) == nil && record.CanResume(status, echo.StopReason(s.Reason))
}

// complete fills in what ClickHouse does not know, from the journal.
func (l *listedSession) complete() {
	switch {
	case l.local == nil:
		return
	case l.Problem != "":
		l.Status = cmp.Or(l.Status, statusOfUnreadable(l.local.Err))
		return
	}
	l.Status = l.local.Status()
	stale := l.Waiting > 0 || !l.known
	if failed := l.Status == echo.StatusFailed.String(); !stale && (!failed || !l.Resumable) {
		return
	}
	rec, err := journal.Read(filepath.Join(l.local.Dir, journal.File))
	if err != nil {
		l.Status, l.Problem, l.Resumable = statusOfUnreadable(err), err.Error(), false
		return
	}
	if stale {
		l.Session = sessionOf(l.local, record.Of(rec.Entries))
	}
	l.Resumable = l.Resumable && record.ResumptionOf(rec.Entries).Possible
}

// The statuses of a session whose journal cannot be read.
const (
	statusDamaged      = "damaged"
	statusOtherVersion = "other_version"
)

// statusOfUnreadable returns the status of a session whose journal cannot be read for err.
func statusOfUnreadable(err error) string {
	if isOtherVersion(err) {
		return statusOtherVersion
	}
	return statusDamaged
}

// isOtherVersion reports whether an error says that a journal has another version than this windlass reads.
func isOtherVersion(err error) bool {
	var version *journal.VersionError
	return errors.As(err, &version)
}

// sessionOf sums a journal up as ClickHouse does.
func sessionOf(local *sessions.Session, f *record.Fold) clickhouse.Session {
	spent := f.Spent()
	s := clickhouse.Session{
		ID: local.ID, CascadeID: local.CascadeID, Status: local.Status(), StartedAt: local.Header.StartedAt, LastAt: local.LastAt,
		Phases: uint64(len(f.Visits())), ToolCalls: uint64(spent.ToolCalls), Calls: uint64(spent.Totals.Calls),
		ScriptedCalls: uint64(spent.Totals.Scripted), UnknownCostCalls: uint64(spent.Totals.UnknownCosts), TokensIn: spent.Totals.Usage.In,
		TokensCached: spent.Totals.Usage.Cached, TokensOut: spent.Totals.Usage.Out, CostUSD: spent.Totals.KnownUSD(),
	}
	if s.Status == local.End.Status.String() {
		s.Reason, s.Error = string(local.End.Reason), local.End.Error
	}
	if f.Entries() > 0 {
		s.StartedAt, s.LastAt = f.StartedAt(), spent.LastAt
	}
	return s
}

// printSessions shows a table, and what can be done with the sessions in it.
func (a *app) printSessions(list []listedSession) error {
	if len(list) == 0 {
		fmt.Fprintln(a.err, "No sessions yet. Make one: windlass run FILE")
		return nil
	}
	heads := []string{
		"session", "cascade", "status", "started", ">duration", ">phases", ">calls",
		">tokens in", ">cached", ">tokens out", ">cost",
	}
	anyWaits := slices.ContainsFunc(list, func(s listedSession) bool { return s.Waiting > 0 })
	if anyWaits {
		heads = append(heads, ">waiting")
	}
	t := newTable(heads...)
	for _, s := range list {
		cells := s.cells()
		if anyWaits && s.Waiting > 0 {
			cells = append(cells, formatCount(int64(s.Waiting)))
		} else if anyWaits {
			cells = append(cells, "")
		}
		t.add(cells...)
	}
	if err := a.show(t); err != nil {
		return err
	}
	if w := waitingOf(list); w.Rows > 0 {
		fmt.Fprintf(a.err, "Waiting for ClickHouse: %s\n", w)
	}
	for _, s := range list {
		if s.Problem != "" {
			fmt.Fprintf(a.err, "Problem with session %s: %s\n", s.ID, s.Problem)
		}
	}
	return nil
}

func (l *listedSession) cells() []string {
	status := l.Status
	if l.Resumable {
		status += ", resumable"
	}
	started := ""
	if !l.StartedAt.IsZero() { // it is in the header, which may be unreadable
		started = l.StartedAt.Local().Format(time.DateTime)
	}
	return []string{
		l.ID, l.CascadeID, status, started, formatDuration(l.Duration()),
		formatCount(int64(l.Phases)), formatCount(int64(l.Calls)),
		formatCount(l.TokensIn), formatCount(l.TokensCached), formatCount(l.TokensOut),
		formatCost(l.CostUSD, l.Calls, l.UnknownCostCalls),
	}
}

// waitingOf sums up what waits to be delivered by a later run or windlass ship.
func waitingOf(list []listedSession) waiting {
	var w waiting
	for _, s := range list {
		if s.Waiting > 0 && !s.local.Busy && !s.local.Marks.KeepHere && s.Problem == "" {
			w.Sessions++
			w.Rows += s.Waiting
		}
	}
	return w
}
