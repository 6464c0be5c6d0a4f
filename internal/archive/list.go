package archive

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Listed is a session of ClickHouse, of this machine, or of both.
type Listed struct {
	clickhouse.Session
	Here      bool   `json:"here"`              // its journal is on this machine
	Resumable bool   `json:"resumable"`         // it can be resumed
	Pending   uint64 `json:"waiting"`           // rows that ClickHouse does not have yet
	Problem   string `json:"problem,omitempty"` // why its journal cannot be read

	ChildOf  string `json:"child_of,omitempty"` // the session that has begun it, "" when none has
	Children int    `json:"children,omitempty"` // sessions here that it has begun, and that these have; of a list without those

	local  *sessions.Session // nil: its journal is not here
	stored bool              // ClickHouse has rows of it
}

// List returns the newest sessions that fit a filter, all when limit is 0. away: why only those here.
func (a *Archive) List(ctx context.Context, limit int, f clickhouse.Filter) (list []Listed, away, err error) {
	return listed(ctx, a, limit, f, false)
}

// ListRuns is [Archive.List] of an archive without sessions that another session has begun. Each has the number of
// those below it.
func ListRuns(ctx context.Context, a *Archive, limit int, f clickhouse.Filter) (list []Listed, away, err error) {
	return listed(ctx, a, limit, f, true)
}

func listed(ctx context.Context, a *Archive, limit int, f clickhouse.Filter, runs bool) (all []Listed, away, err error) {
	find := sync.OnceValues(func() ([]*sessions.Found, error) { return sessions.Find(config.SessionsDir(a.Home)) })
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = find() }) // while ClickHouse is opened
	defer reading.Wait()
	to := ""
	var stored []clickhouse.Session
	if a.Database != nil {
		if to, err = a.Address(); err != nil {
			return nil, nil, err
		}
		away = a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
			asked := f
			asked.Runs = runs
			stored, err = db.Sessions(ctx, limit, asked)
			return err
		})
	}
	local, err := find()
	if err != nil {
		return nil, nil, failure.New(failure.StorageFailed, err, "")
	}
	if away != nil && (len(local) == 0 || failure.Is(away, failure.Interrupted)) {
		return nil, nil, away
	}
	rows := merge(stored, local)
	if runs {
		rows = withoutChildren(rows)
	}
	rows = newestOf(rows, limit, to, f)
	all = make([]Listed, len(rows))
	for i, r := range rows {
		all[i] = r.Listed
	}
	return all, away, nil
}

func look(home string) ([]*sessions.Session, error) {
	all, err := sessions.All(config.SessionsDir(home))
	if err != nil {
		return nil, failure.New(failure.StorageFailed, err, "")
	}
	return all, nil
}

// row is a row of a list that is being made.
type row struct {
	Listed
	found *sessions.Found // here, and not looked at yet; else nil
}

// merge puts the sessions of both together.
func merge(stored []clickhouse.Session, local []*sessions.Found) []*row {
	at := map[string]*row{}
	rows := make([]*row, 0, len(stored)+len(local))
	for _, s := range stored {
		r := &row{Listed: Listed{Session: s, Resumable: canResume(&s), ChildOf: s.ChildOf, stored: true}}
		at[s.ID], rows = r, append(rows, r)
	}
	for _, f := range local {
		r := at[f.ID]
		if r == nil {
			r = &row{Listed: Listed{Session: clickhouse.Session{
				SessionState: clickhouse.SessionState{ID: f.ID}, SessionTimes: clickhouse.SessionTimes{StartedAt: f.StartedAt},
			}}}
			rows = append(rows, r)
		}
		r.found, r.ChildOf = f, f.ChildOf
	}
	return rows
}

// withoutChildren returns the rows of sessions that no other has begun, with the numbers of those below
// them.
func withoutChildren(rows []*row) []*row {
	of := make(map[string]string, len(rows))
	at := make(map[string]*row, len(rows))
	for _, r := range rows {
		of[r.ID], at[r.ID] = r.ChildOf, r
	}
	return slices.DeleteFunc(rows, func(r *row) bool {
		if top := at[rootOf(r.ID, of)]; top != r {
			top.Children++
		}
		return r.ChildOf != ""
	})
}

// rootOf returns the first of the sessions above one, as far as they are known, or itself. of has the
// session that has begun each.
func rootOf(id string, of map[string]string) string {
	for range cascade.MaxDepth {
		if _, known := of[of[id]]; !known {
			break
		}
		id = of[id]
	}
	return id
}

// filteredAtOnce is how many sessions are looked at before it is known whether they fit a filter.
const filteredAtOnce = 256

func unseenOf(rows []*row) (unseen []*row) {
	for _, r := range rows {
		if r.found != nil {
			unseen = append(unseen, r)
		}
	}
	return unseen
}

// newestOf returns the newest rows that fit, all when limit is 0, whole. Only they are looked at, and those
// that turn out not to be as new as their journals say unchecked.
func newestOf(rows []*row, limit int, to string, f clickhouse.Filter) []*row {
	rows = slices.DeleteFunc(rows, func(r *row) bool { return r.StartedAt.Before(f.Since) })
	for {
		slices.SortStableFunc(rows, func(a, b *row) int {
			return cmp.Or(b.StartedAt.Compare(a.StartedAt), strings.Compare(a.ID, b.ID))
		})
		newest := rows
		if limit > 0 {
			newest = rows[:min(limit, len(rows))]
		}
		unseen := unseenOf(newest)
		if len(unseen) > 0 && !f.IsZero() {
			unseen = unseenOf(rows[:min(max(len(newest), filteredAtOnce), len(rows))])
		}
		if len(unseen) == 0 {
			sessions.Each(newest, (*row).complete)
			return newest
		}
		sessions.Each(unseen, func(r *row) { r.look(to) })
		rows = slices.DeleteFunc(rows, func(r *row) bool { return r.gone() || r.local != nil && !r.fits(f) })
	}
}

// look adds what the folder of a session here says.
func (r *row) look(to string) {
	s, err := sessions.Look(r.found.Dir)
	r.found = nil
	if errors.Is(err, os.ErrNotExist) {
		return // it is here no more
	}
	if !r.stored {
		r.CascadeID, r.StartedAt, r.LastAt, r.Tags = s.CascadeID, s.StartedAt, s.LastAt, sessions.Tags(s.Header.Cascade)
	}
	r.local, r.Here, r.ChildOf = s, true, s.Header.ChildOf
	if s.Err != nil {
		r.Problem, r.Resumable = s.Err.Error(), false
		return
	}
	r.Pending, r.Resumable = s.Waiting(to), s.Resumable() && engine.CheckRules(s.Header.Rules) == nil
}

// fits reports whether a session that is here fits a filter. One whose header cannot be read fits no
// cascade and no tag.
func (r *row) fits(f clickhouse.Filter) bool {
	return f.IsZero() || f.Fits(r.ID, r.CascadeID, r.StartedAt, r.Tags)
}

// gone reports whether nothing is left of a session that was here.
func (r *row) gone() bool { return r.found == nil && r.local == nil && !r.stored }

// canResume reports whether a session that ClickHouse has can be resumed, as far as its end says.
func canResume(s *clickhouse.Session) bool {
	var status echo.Status
	return status.UnmarshalText([]byte(s.Status)) == nil && record.CanResume(status, echo.StopReason(s.Reason))
}

func (l *Listed) complete() {
	switch {
	case l.local == nil:
		return
	case l.Problem != "":
		l.Status = cmp.Or(l.Status, statusOfUnreadable(l.local.Err))
		return
	}
	l.Status = l.local.Status()
	stale := l.Pending > 0 || !l.stored
	if failed := l.Status == echo.StatusFailed.String(); !stale && (!failed || !l.Resumable) {
		return
	}
	rec, err := journal.Read(filepath.Join(l.local.Dir, journal.File))
	if err != nil {
		l.Status, l.Problem, l.Resumable = statusOfUnreadable(err), err.Error(), false
		return
	}
	if stale {
		l.Session = localFigures(l.local, record.Of(rec.Entries))
	}
	l.Resumable = l.Resumable && record.ResumptionOf(rec.Entries).Possible
}

func localFigures(local *sessions.Session, f *record.Fold) clickhouse.Session {
	s := figures(local.ID, f)
	s.CascadeID, s.Status, s.Reason, s.Error = local.CascadeID, local.Status(), "", ""
	s.Tags = sessions.Tags(local.Header.Cascade)
	if s.Status == local.End.Status.String() {
		s.Reason, s.Error = string(local.End.Reason), local.End.Error
	}
	if f.Entries() == 0 {
		s.StartedAt, s.LastAt = local.StartedAt, local.LastAt
	}
	return s
}

// The statuses of a session whose journal cannot be read.
const (
	statusDamaged      = "damaged"
	statusOtherVersion = "other_version"
)

func statusOfUnreadable(err error) string {
	if IsOtherVersion(err) {
		return statusOtherVersion
	}
	return statusDamaged
}
