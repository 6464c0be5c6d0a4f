package inspector

import (
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/inspect/course"
)

// opened is a session that was read. Its parts are found when they are first asked for. It is safe for concurrent use.
type opened struct {
	*archive.Reading
	ID    string
	stamp archive.Stamp
	until time.Time // of one without a journal here: when it is read again

	Record func() (*inspect.Record, error)
	Course func() *course.Span
	Matrix func() (*inspect.Matrix, error)
}

func newOpened(r *archive.Reading, stamp archive.Stamp) *opened {
	o := &opened{Reading: r, ID: r.Detail.ID, stamp: stamp}
	o.Record = sync.OnceValues(func() (*inspect.Record, error) { return inspect.New(r.Detail.ID, r.Entries) })
	o.Course = sync.OnceValue(func() *course.Span { return course.Of(r.Entries) })
	o.Matrix = sync.OnceValues(func() (*inspect.Matrix, error) {
		of, err := o.Record()
		if err != nil {
			return nil, err
		}
		return of.Matrix()
	})
	return o
}

// How many sessions are kept, and how long those are that have no journal here: another machine may go on with them.
const (
	mostOpened = 4
	storedFor  = 15 * time.Second
)

// sessions keeps the sessions that were looked at last, as they were when their journals were as they are. Several that
// ask for the same one wait for one reading. It is safe for concurrent use.
type sessions struct {
	archive *archive.Archive

	mu   sync.Mutex // guards what follows
	kept []*slot    // the one that was asked for last is the last
}

// slot has one session. Whoever holds mu reads it.
type slot struct {
	id string // whole
	mu sync.Mutex
	of *opened // nil: not read
}

func newSessions(a *archive.Archive) *sessions { return &sessions{archive: a} }

// open returns the session that a name means.
func (s *sessions) open(ctx context.Context, name string) (*opened, error) {
	id, err := s.archive.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	x := s.slot(id)
	x.mu.Lock()
	defer x.mu.Unlock()
	stamp := archive.StampOf(s.archive, id)
	if x.of != nil && x.of.stamp == stamp && (stamp != archive.Stamp{} || time.Now().Before(x.of.until)) {
		return x.of, nil
	}
	r, err := archive.Read(ctx, s.archive, id)
	if err != nil {
		return nil, err
	}
	x.of = newOpened(r, stamp)
	x.of.until = time.Now().Add(storedFor)
	return x.of, nil
}

// slot returns the place of a session; the one that was not asked for longest makes room.
func (s *sessions) slot(id string) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &slot{id: id}
	for i, k := range s.kept {
		if k.id == id {
			x = k
			s.kept = append(s.kept[:i], s.kept[i+1:]...)
			break
		}
	}
	if len(s.kept) >= mostOpened {
		s.kept = s.kept[1:]
	}
	s.kept = append(s.kept, x)
	return x
}
