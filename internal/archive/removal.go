package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Ages are the times before which a session must have been silent for parts of it to be removed;
// zero removes none. Rows are removed with the cards.
type Ages struct{ Cards, Rows, Journals time.Time }

// Removed is what is to be removed of a session, or was.
type Removed struct {
	ID        string    `json:"session_id"`
	CascadeID string    `json:"cascade_id"`
	Status    string    `json:"status"`
	LastAt    time.Time `json:"last_at"`
	ChildOf   string    `json:"child_of,omitempty"` // the session that has begun it
	Journal   bool      `json:"journal"`            // its folder on this machine
	Rows      bool      `json:"rows"`               // of ClickHouse
	Cards     bool      `json:"cards"`              // of ClickHouse
	Kept      string    `json:"kept,omitempty"`

	busy  bool           // it is kept because it runs
	owned *journal.Owned // while it is removed; nil when it is not on this machine
}

// any reports whether anything is removed of the session.
func (r *Removed) any() bool { return r.Kept == "" && (r.Journal || r.Rows || r.Cards) }

// Removal are the sessions that are to be removed. Kept are those that were old enough.
type Removal struct {
	Sessions, Kept []Removed

	home, to string
	database Database
}

// RemovalOf plans to remove all of the sessions that are given by their ids, or the ends or
// beginnings of these, and those that they have begun. No other name is taken, as what it means changes
// with the next run. A session that runs, or of which ClickHouse does not have all, is an error.
func (a *Archive) RemovalOf(ctx context.Context, given []string) (*Removal, error) {
	r, list, cards, err := a.removable(ctx)
	if err != nil {
		return nil, err
	}
	var chosen []string
	for _, name := range given {
		named, err := toRemove(list, name)
		if err != nil {
			return nil, err
		}
		for _, l := range listing(list).family(named) {
			if slices.Contains(chosen, l.ID) {
				continue
			}
			chosen = append(chosen, l.ID)
			s := removed(l)
			if s.Kept, s.busy = l.mustStay(); s.Kept != "" {
				return nil, s.refusal()
			}
			s.Journal, s.Rows, s.Cards = l.Here, l.stored, cards[l.ID]
			r.Sessions = append(r.Sessions, s)
		}
	}
	return r, nil
}

// family returns a session of a list, and behind it those that it has begun, and that these have.
func (list listing) family(l *Listed) []*Listed {
	all := []*Listed{l}
	for i := 0; i < len(all) && len(all) <= len(list); i++ {
		for j := range list {
			if list[j].ChildOf == all[i].ID {
				all = append(all, &list[j])
			}
		}
	}
	return all
}

// lastOf returns when something was last recorded of a session, or of what belongs to the same run.
func (list listing) lastOf() func(l *Listed) time.Time {
	of := make(map[string]string, len(list))
	for i := range list {
		of[list[i].ID] = list[i].ChildOf
	}
	last := map[string]time.Time{}
	for i := range list {
		if root := rootOf(list[i].ID, of); list[i].LastAt.After(last[root]) {
			last[root] = list[i].LastAt
		}
	}
	return func(l *Listed) time.Time { return last[rootOf(l.ID, of)] }
}

// toRemove returns the session of a list that a name means, as far as one is removed by that.
func toRemove(list listing, name string) (*Listed, error) {
	found, err := names.Find(name, names.IDs, list)
	switch {
	case err != nil:
		return nil, err
	case len(found.IDs) > 1:
		return nil, ambiguous(name, found, func(id string) Candidate { return candidateOf(&list.with(id).Session) })
	case len(found.IDs) == 1:
		return list.with(found.IDs[0]), nil
	}
	isCascade := name != "" && slices.ContainsFunc(list, func(l Listed) bool { return l.CascadeID == name })
	if names.IsReserved(name) || isCascade {
		return nil, notByID(name, "deleted")
	}
	return nil, failure.Newf(failure.UnknownSession, "no session %q on this machine or in ClickHouse", name)
}

// notByID refuses a name that means another session after the next run, for what cannot be undone.
func notByID(name, done string) error {
	err := fmt.Errorf("%q is no session's id: a session is %s by its id, or the end or the beginning of that", name, done)
	return failure.New(failure.InvalidRequest, err, "windlass sessions list")
}

// refusal says why a session that was named is not removed.
func (r *Removed) refusal() error {
	err := fmt.Errorf("session %s is not deleted: %s", r.ID, r.Kept)
	if r.busy {
		return failure.New(failure.SessionBusy, err, "")
	}
	return failure.New(failure.InvalidRequest, err, "windlass ship "+r.ID+", then delete it")
}

// RemovalBefore plans to remove what is older than ages allow: a session and those that it has begun are
// as old as the newest of them. What runs, or may run elsewhere, what
// cannot be read and what ClickHouse does not have all of is kept.
func (a *Archive) RemovalBefore(ctx context.Context, ages Ages) (*Removal, error) {
	r, list, cards, err := a.removable(ctx)
	if err != nil {
		return nil, err
	}
	lastOf := listing(list).lastOf()
	for i := range list {
		l := &list[i]
		s, last := removed(l), lastOf(l)
		s.Journal = l.Here && last.Before(ages.Journals)
		s.Rows = l.stored && last.Before(ages.Rows)
		s.Cards = cards[l.ID] && (last.Before(ages.Rows) || last.Before(ages.Cards))
		if !s.any() {
			continue
		}
		if s.Kept, s.busy = l.mustStay(); s.Kept == "" {
			s.Kept = l.mayBeInUse()
		}
		if s.Kept != "" {
			s.Journal, s.Rows, s.Cards = false, false, false
			r.Kept = append(r.Kept, s)
			continue
		}
		r.Sessions = append(r.Sessions, s)
	}
	return r, nil
}

// removable returns all sessions, and which of them have cards. Without ClickHouse nothing can be
// removed, as its rows would stay.
func (a *Archive) removable(ctx context.Context) (*Removal, []Listed, map[string]bool, error) {
	list, away, err := a.List(ctx, 0, clickhouse.Filter{})
	if err = errors.Join(err, away); err != nil {
		return nil, nil, nil, err
	}
	r := &Removal{home: a.Home, database: a.Database}
	cards := map[string]bool{}
	if a.Database == nil {
		return r, list, cards, nil
	}
	if r.to, err = a.Address(); err != nil {
		return nil, nil, nil, err
	}
	err = a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
		cards, err = db.Having(ctx, clickhouse.PartCards)
		return err
	})
	return r, list, cards, err
}

func removed(l *Listed) Removed {
	return Removed{ID: l.ID, CascadeID: l.CascadeID, Status: l.Status, LastAt: l.LastAt, ChildOf: l.ChildOf}
}

// mustStay says why a session is never removed; "" when it may be.
func (l *Listed) mustStay() (why string, busy bool) {
	switch {
	case l.local == nil:
		return "", false
	case l.local.Busy:
		return "a process runs it", true
	case l.Problem == "" && l.Pending > 0 && !l.local.Marks.KeepHere:
		return undelivered(l.Pending), false
	}
	return "", false
}

func undelivered(rows uint64) string {
	return "ClickHouse does not have " + quantity.Of(int(rows), "row") + " of it"
}

// mayBeInUse says why a session is only removed when it is named; "" when it needs not be.
func (l *Listed) mayBeInUse() string {
	var status echo.Status
	switch {
	case l.Problem != "":
		return "its journal cannot be read"
	case l.local == nil && (status.UnmarshalText([]byte(l.Status)) != nil || !status.IsDone()):
		return "it has no end in ClickHouse, and may run on another machine"
	}
	return ""
}

// heldAtOnce is how many sessions are owned together while their rows are removed.
const heldAtOnce = 100

// Do removes what was planned: of each session what ClickHouse has, then the folder. It returns what
// it has come to, also with an error. A session that somebody runs by now is kept.
func (r *Removal) Do(ctx context.Context) (done []Removed, err error) {
	done = []Removed{}
	for rest := r.Sessions; len(rest) > 0 && err == nil; {
		n := min(len(rest), heldAtOnce)
		var some []Removed
		some, err = r.removeSome(ctx, slices.Clone(rest[:n]))
		done, rest = append(done, some...), rest[n:]
	}
	return done, err
}

func (r *Removal) removeSome(ctx context.Context, some []Removed) ([]Removed, error) {
	for i := range some {
		if err := r.hold(&some[i]); err != nil {
			return nil, errors.Join(err, release(some))
		}
	}
	if err := r.removeStored(ctx, some); err != nil {
		return nil, errors.Join(err, release(some))
	}
	for i := range some {
		s := &some[i]
		if s.owned == nil || !s.Journal {
			continue
		}
		err := s.owned.Remove()
		s.owned = nil
		if err != nil {
			return some[:i], errors.Join(failure.New(failure.StorageFailed, fmt.Errorf("delete session %s: %w", s.ID, err), ""), release(some))
		}
	}
	return some, release(some)
}

// hold owns a session that is on this machine, so that nobody resumes it meanwhile. One that
// somebody has by now, or that has gone on since it was looked at, is kept.
func (r *Removal) hold(s *Removed) error {
	dir := config.SessionDir(r.home, s.ID)
	o, err := journal.Own(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.Journal = false
		return nil
	case errors.Is(err, journal.ErrBusy):
		*s = Removed{ID: s.ID, CascadeID: s.CascadeID, Status: s.Status, LastAt: s.LastAt, ChildOf: s.ChildOf, Kept: "a process runs it", busy: true}
		return nil
	case err != nil:
		return failure.New(failure.StorageFailed, fmt.Errorf("delete session %s: %w", s.ID, err), "")
	}
	if now, err := sessions.Look(dir); err == nil && !now.Marks.KeepHere && now.Waiting(r.to) > 0 && r.database != nil {
		*s = Removed{ID: s.ID, CascadeID: s.CascadeID, Status: s.Status, LastAt: s.LastAt, ChildOf: s.ChildOf, Kept: undelivered(now.Waiting(r.to))}
	}
	s.owned = o
	return nil
}

func (r *Removal) removeStored(ctx context.Context, some []Removed) error {
	var rows, cards []string
	for _, s := range some {
		if s.Rows {
			rows = append(rows, s.ID)
		}
		if s.Cards {
			cards = append(cards, s.ID)
		}
	}
	if r.database == nil || len(rows)+len(cards) == 0 {
		return nil
	}
	return r.database(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		return errors.Join(db.Remove(ctx, clickhouse.PartCards, cards), db.Remove(ctx, clickhouse.PartRows, rows))
	})
}

// release gives back the sessions that are still owned.
func release(some []Removed) error {
	var errs []error
	for i := range some {
		if o := some[i].owned; o != nil {
			some[i].owned = nil
			errs = append(errs, o.Close())
		}
	}
	return errors.Join(errs...)
}
