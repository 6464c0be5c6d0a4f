package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/sessions"
)

// maxCandidates is how many sessions an [AmbiguousError] lists at most.
const maxCandidates = 10

// Candidate is one of the sessions that a name may mean.
type Candidate struct {
	ID, CascadeID, Status string
	StartedAt             time.Time // zero: not known
}

// AmbiguousError says that a name means several sessions.
type AmbiguousError struct {
	Name     string
	Way      names.Way   // names.Suffix or names.Prefix
	Sessions []Candidate // the first ten, by their ids
	More     int         // that are not listed
}

// Meaning says what the name is of the sessions: "is the end of" or "is the beginning of".
func (e *AmbiguousError) Meaning() string {
	if e.Way == names.Suffix {
		return "is the end of"
	}
	return "is the beginning of"
}

func (e *AmbiguousError) Error() string {
	ids := make([]string, len(e.Sessions))
	for i, s := range e.Sessions {
		ids[i] = s.ID
	}
	more := ""
	if e.More > 0 {
		more = fmt.Sprintf(" and %d more", e.More)
	}
	return fmt.Sprintf("%q %s several sessions: %s%s", e.Name, e.Meaning(), strings.Join(ids, ", "), more)
}

func ambiguous(name string, found names.Found, of func(id string) Candidate) error {
	e := &AmbiguousError{Name: name, Way: found.Way}
	listed := found.IDs[:min(len(found.IDs), maxCandidates)]
	for _, id := range listed {
		e.Sessions = append(e.Sessions, of(id))
	}
	e.More = len(found.IDs) - len(listed)
	return failure.New(failure.UnknownSession, e, "")
}

// local are the sessions with a journal in a home folder. It implements [names.Sessions].
type local struct{ home string }

func (l local) IDs(fits func(string) bool) ([]string, error) { return localWith(l.home, fits) }

func (l local) Nth(n int) (string, error) {
	found, err := l.runs()
	if err != nil || n >= len(found) {
		return "", err
	}
	return found[n].ID, nil
}

// runs returns the sessions that no other has begun, the newest first.
func (l local) runs() ([]*sessions.Found, error) {
	found, err := l.newest()
	return slices.DeleteFunc(found, func(s *sessions.Found) bool { return s.ChildOf != "" }), err
}

// cascadesAtOnce is how many sessions are looked at before it is known whether they are needed.
const cascadesAtOnce = 64

func (l local) NewestOf(cascade string) (string, error) {
	found, err := l.newest()
	if err != nil {
		return "", err
	}
	for some := range slices.Chunk(found, cascadesAtOnce) {
		looked := make([]*sessions.Session, len(some))
		at := make([]int, len(some))
		for i := range at {
			at[i] = i
		}
		sessions.Each(at, func(i int) { looked[i], _ = sessions.Look(some[i].Dir) }) // one without a header has no cascade
		for _, s := range looked {
			if s.CascadeID == cascade {
				return s.ID, nil
			}
		}
	}
	return "", nil
}

// newest returns the sessions as [Archive.List] sorts them, those that people and programs have begun
// before children.
func (l local) newest() ([]*sessions.Found, error) {
	found, err := sessions.Find(config.SessionsDir(l.home))
	if err != nil {
		return nil, failure.New(failure.StorageFailed, err, "")
	}
	slices.SortStableFunc(found, func(a, b *sessions.Found) int {
		return cmp.Or(childLast(a.ChildOf, b.ChildOf), b.StartedAt.Compare(a.StartedAt), strings.Compare(a.ID, b.ID))
	})
	return found, nil
}

// childLast orders what a session has begun behind all else.
func childLast(a, b string) int { return cmp.Compare(min(len(a), 1), min(len(b), 1)) }

// Folders lists the names of the folders that may be sessions of this machine, without looking into
// them: it takes a fraction of [Local].
func Folders(home string) ([]string, error) {
	entries, err := os.ReadDir(config.SessionsDir(home))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.New(failure.StorageFailed, fmt.Errorf("list the sessions on this machine: %w", err), "")
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		if journal.IsSessionID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// Recent returns the sessions among those with these ids that began last, at most so many. It is for
// showing them to people: when a session with an id that windlass made began, the id is believed.
func Recent(home string, ids []string, most int) []Candidate {
	type begun struct {
		id string
		at time.Time
	}
	list := make([]*begun, len(ids))
	for i, id := range ids {
		list[i] = &begun{id: id}
	}
	sessions.Each(list, func(b *begun) {
		if made, err := ulid.ParseStrict(b.id); err == nil {
			b.at = made.Timestamp()
			return
		}
		seen, _, _ := journal.Glance(JournalPath(home, b.id)) // without a time it is an old one
		b.at = seen.StartedAt
	})
	slices.SortStableFunc(list, func(a, b *begun) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(b.id, a.id)) })
	var found []Candidate
	for _, b := range list {
		if len(found) == most {
			break
		}
		if _, err := os.Lstat(JournalPath(home, b.id)); err == nil {
			found = append(found, candidateHere(home, b.id))
		}
	}
	return found
}

func candidateHere(home, id string) Candidate {
	s, err := sessions.Look(config.SessionDir(home, id))
	c := Candidate{ID: id, CascadeID: s.CascadeID, Status: s.Status(), StartedAt: s.StartedAt}
	if err != nil {
		c.Status = statusOfUnreadable(err)
	}
	return c
}

// stored are the sessions of a ClickHouse that a name may mean, but for [names.Last], which is for
// those of a machine. It implements [names.Sessions].
type stored struct {
	ctx  context.Context //nolint:containedctx // of one search
	db   *clickhouse.DB
	name string
}

func (s stored) IDs(fits func(string) bool) ([]string, error) {
	ids, err := clickhouse.IDsLike(s.ctx, s.db, s.name, names.MinSuffix)
	return slices.DeleteFunc(ids, func(id string) bool { return !fits(id) }), err
}

func (s stored) Nth(int) (string, error) { return "", nil }

func (s stored) NewestOf(cascade string) (string, error) {
	return clickhouse.NewestOf(s.ctx, s.db, cascade)
}

func candidateOf(s *clickhouse.Session) Candidate {
	return Candidate{ID: s.ID, CascadeID: s.CascadeID, Status: s.Status, StartedAt: s.StartedAt}
}

// listing are the sessions of a list, the newest first. It implements [names.Sessions], for ids.
type listing []Listed

func (l listing) IDs(fits func(string) bool) (ids []string, err error) {
	for i := range l {
		if fits(l[i].ID) {
			ids = append(ids, l[i].ID)
		}
	}
	return ids, nil
}

func (l listing) Nth(int) (string, error) { return "", nil }

func (l listing) NewestOf(string) (string, error) { return "", nil }

func (l listing) with(id string) *Listed {
	return &l[slices.IndexFunc(l, func(one Listed) bool { return one.ID == id })]
}

// localWith is [Local] of the ids that fit.
func localWith(home string, fits func(id string) bool) ([]string, error) {
	dir := config.SessionsDir(home)
	folders, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.New(failure.StorageFailed, fmt.Errorf("list the sessions on this machine: %w", err), "")
	}
	var ids []string
	for _, f := range folders {
		name := f.Name()
		if !fits(name) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, name, journal.File)); err == nil { // reading refuses a link
			ids = append(ids, name)
		}
	}
	return ids, nil
}
