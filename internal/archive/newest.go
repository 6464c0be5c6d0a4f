package archive

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/sessions"
)

// SessionList is the newest sessions.
type SessionList struct {
	Sessions []Session `json:"sessions"`
	Notes    []string  `json:"notes"` // what of the list may be missing, and why
}

type seenJournal struct {
	size    int64
	change  time.Time
	session Session
}

// Newest returns the newest sessions that no other has begun, the newest first: those of this machine by
// their journals, so that unlike [Archive.List] it always sees how far a run is, and those that only ClickHouse has.
func (a *Archive) Newest(ctx context.Context, limit int) (*SessionList, error) {
	list := &SessionList{Sessions: []Session{}, Notes: []string{}}
	local, err := look(a.Home)
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, l := range local {
		here[l.ID] = true
	}
	local = slices.DeleteFunc(local, func(s *sessions.Session) bool { return s.Header.ChildOf != "" })
	for _, l := range newest(local, limit) {
		s, err := a.sum(l.ID)
		if err != nil {
			list.Notes = append(list.Notes, fmt.Sprintf("session %s is left out: %v", l.ID, err))
			continue
		}
		list.Sessions = append(list.Sessions, s)
	}
	if a.Database != nil {
		others, err := a.others(ctx, limit, here)
		if err != nil {
			list.Notes = append(list.Notes, fmt.Sprintf("sessions of other machines are left out: %v", err))
		}
		list.Sessions = append(list.Sessions, others...)
	}
	slices.SortFunc(list.Sessions, func(a, b Session) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	list.Sessions = list.Sessions[:min(limit, len(list.Sessions))]
	return list, nil
}

// newest returns the sessions here that began last. A damaged header counts as new, to be reported.
func newest(local []*sessions.Session, limit int) []*sessions.Session {
	slices.SortStableFunc(local, func(a, b *sessions.Session) int {
		headless := func(s *sessions.Session) int {
			if s.StartedAt.IsZero() && !IsOtherVersion(s.Err) {
				return 0
			}
			return 1
		}
		return cmp.Or(headless(a)-headless(b), b.StartedAt.Compare(a.StartedAt))
	})
	return local[:min(limit, len(local))]
}

func (a *Archive) others(ctx context.Context, limit int, here map[string]bool) ([]Session, error) {
	var out []Session
	err := a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) error {
		out = nil // it may be the second time
		rows, err := db.Sessions(ctx, limit+len(here), clickhouse.Filter{Runs: true})
		for _, row := range rows {
			if here[row.ID] {
				continue
			}
			row.StartedAt, row.LastAt = row.StartedAt.UTC(), row.LastAt.UTC()
			out = append(out, newSession(row))
		}
		return err
	})
	return out, err
}

// Detail returns what a session did.
func (a *Archive) Detail(ctx context.Context, given string) (*Detail, error) {
	r, err := a.reading(ctx, given)
	if err != nil {
		return nil, err
	}
	return r.Detail, nil
}

// Reading is a session that was read: what it did, and what that was found from.
type Reading struct {
	Detail  *Detail
	Fold    *record.Fold
	Entries []*echo.Entry
}

// Read reads a session, of the journal or else ClickHouse.
func Read(ctx context.Context, a *Archive, given string) (*Reading, error) {
	return a.reading(ctx, given)
}

// Stamp is another one when more was recorded of a session here, or when it has stopped or gone on. The zero value is that
// of a session without a journal here.
type Stamp struct {
	Size    int64 // of the journal, in bytes
	Changed time.Time
	Running bool
}

// StampOf returns the stamp of a session by its whole id.
func StampOf(a *Archive, id string) Stamp {
	running := a.running(id) // asked first: what ends in between is then seen by the next stamp
	info, err := os.Stat(JournalPath(a.Home, id))
	if err != nil {
		return Stamp{}
	}
	return Stamp{info.Size(), info.ModTime(), running}
}

func (a *Archive) reading(ctx context.Context, given string) (*Reading, error) {
	id, err := a.Here(given)
	if err != nil {
		return nil, err
	}
	if id != "" {
		r, err := a.read(id)
		return r, ReadError(err)
	}
	id, entries, err := a.stored(ctx, given)
	if err != nil {
		return nil, err
	}
	f := record.Of(entries)
	return &Reading{summarize(id, f, Unfinished), f, entries}, nil
}

func (a *Archive) read(id string) (*Reading, error) {
	running := a.running(id) // asked first: what ends in between is then not taken for killed
	rec, err := journal.Read(JournalPath(a.Home, id))
	if err != nil {
		return nil, err
	}
	open := Killed
	if running {
		open = sessions.Running
	}
	f := record.Of(rec.Entries)
	d := summarize(id, f, open)
	d.Here = true
	r := &Reading{d, f, rec.Entries}
	if len(rec.Entries) == 0 { // it has only just begun
		d.StartedAt, d.LastAt, d.CascadeID = rec.Header.StartedAt, rec.Header.StartedAt, sessions.CascadeID(rec.Header.Cascade)
	}
	if running {
		return r, nil
	}
	d.Resumable = record.ResumptionOf(rec.Entries).Possible && engine.CheckRules(rec.Header.Rules) == nil
	if why := a.refusal(id); why != "" {
		d.Error = why
	}
	return r, nil
}

// sum returns the figures of a session here, kept while nobody runs or changes it.
func (a *Archive) sum(id string) (Session, error) {
	info, err := os.Stat(JournalPath(a.Home, id))
	if err != nil {
		return Session{}, err
	}
	settled := !a.running(id) && a.refusal(id) == ""
	a.mu.Lock()
	known, ok := a.seen[id]
	a.mu.Unlock()
	if ok && settled && known.size == info.Size() && known.change.Equal(info.ModTime()) {
		return known.session, nil
	}
	r, err := a.read(id)
	if err != nil {
		return Session{}, err
	}
	if settled {
		a.keep(id, seenJournal{info.Size(), info.ModTime(), r.Detail.Session})
	}
	return r.Detail.Session, nil
}

func (a *Archive) keep(id string, s seenJournal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[string]seenJournal{}
	}
	a.seen[id] = s
}

func (a *Archive) running(id string) bool {
	if a.Engines != nil && a.Engines.Runs(id) {
		return true
	}
	s, _ := sessions.Look(config.SessionDir(a.Home, id)) // what else is wrong with it is found by who reads it
	return s.Busy
}
