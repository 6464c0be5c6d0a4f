package archive

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

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

	local  *sessions.Session // nil: its journal is not here
	stored bool              // ClickHouse has rows of it
}

// List returns the newest sessions, all when limit is 0. away: why only those here.
func (a *Archive) List(ctx context.Context, limit int) (list []Listed, away, err error) {
	local, err := look(a.Home)
	if err != nil {
		return nil, nil, err
	}
	to := ""
	var stored []clickhouse.Session
	if a.Database != nil {
		if to, err = a.Address(); err != nil {
			return nil, nil, err
		}
		away = a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
			stored, err = db.Sessions(ctx, limit)
			return err
		})
	}
	if away != nil && (len(local) == 0 || failure.Is(away, failure.Interrupted)) {
		return nil, nil, away
	}
	list = merge(stored, local, to, limit)
	for i := range list {
		list[i].complete()
	}
	return list, away, nil
}

func look(home string) ([]*sessions.Session, error) {
	all, err := sessions.All(config.SessionsDir(home))
	if err != nil {
		return nil, failure.New(failure.StorageFailed, err, "")
	}
	return all, nil
}

func merge(stored []clickhouse.Session, local []*sessions.Session, to string, limit int) []Listed {
	at := map[string]int{}
	var list []Listed
	for _, s := range stored {
		at[s.ID] = len(list)
		list = append(list, Listed{Session: s, Resumable: canResume(&s), stored: true})
	}
	for _, s := range local {
		i, known := at[s.ID]
		if !known {
			i = len(list)
			list = append(list, Listed{Session: clickhouse.Session{
				SessionState: clickhouse.SessionState{ID: s.ID, CascadeID: s.CascadeID},
				SessionTimes: clickhouse.SessionTimes{StartedAt: s.Header.StartedAt, LastAt: s.LastAt},
			}})
		}
		l := &list[i]
		l.local, l.Here = s, true
		if s.Err != nil {
			l.Problem, l.Resumable = s.Err.Error(), false
			continue
		}
		l.Pending, l.Resumable = s.Waiting(to), s.Resumable() && engine.CheckRules(s.Header.Rules) == nil
	}
	slices.SortStableFunc(list, func(a, b Listed) int {
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
	if s.Status == local.End.Status.String() {
		s.Reason, s.Error = string(local.End.Reason), local.End.Error
	}
	if f.Entries() == 0 {
		s.StartedAt, s.LastAt = local.Header.StartedAt, local.LastAt
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
