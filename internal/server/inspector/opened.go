package inspector

import (
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/inspect/course"
)

// opened is a session that was read. Its parts are found when they are first asked for. It is safe for concurrent use.
type opened struct {
	*archive.Reading
	ID    string
	stamp archive.Stamp

	Record func() (*inspect.Record, error)
	Course func() *course.Span
	Matrix func() (*inspect.Matrix, error)

	Soundings func() ([]inspect.Sounding, error)
	Kinds     func() map[echo.NodeType]bool // of its entries
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
	o.Soundings = sync.OnceValues(func() ([]inspect.Sounding, error) {
		of, err := o.Record()
		if err != nil {
			return nil, err
		}
		return of.AllSoundings()
	})
	o.Kinds = sync.OnceValue(func() map[echo.NodeType]bool {
		kinds := map[echo.NodeType]bool{}
		for _, e := range r.Entries {
			kinds[e.NodeType] = true
		}
		return kinds
	})
	return o
}

// How many sessions are kept, and for how long those are that have no journal here: another machine may go on with them.
const (
	mostOpened = 4
	storedFor  = 15 * time.Second
)

// readAgain is how long a reading takes at most to be done again for every change of a journal. A session that takes longer is
// shown as it was for as long again, so that a run that goes on is seen at all.
const readAgain = time.Second

// sessions keeps the sessions that were looked at last, as they were when their journals were as they are. Several that
// ask for the same one wait for one reading. It is safe for concurrent use.
type sessions struct {
	archive *archive.Archive

	mu   sync.Mutex // guards what follows
	kept []*slot    // the one that was asked for last is the last
}

// slot has one session.
type slot struct {
	id string // whole

	mu   sync.Mutex // guards what follows
	last *reading   // nil: never read
}

// reading is a session that is being read, by a goroutine of its own: whoever has asked may go away. It ends by itself.
type reading struct {
	stamp archive.Stamp
	done  chan struct{} // closed when what follows is there
	until time.Time     // up to which the outcome is shown, whatever has come since
	of    *opened
	err   error
}

// serves reports whether a reading is under way, or has an outcome that still counts.
func (r *reading) serves(stamp archive.Stamp) bool {
	return !r.isDone() || r.stamp == stamp && stamp != archive.Stamp{} || time.Now().Before(r.until)
}

func (r *reading) isDone() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// ended waits for a reading, until late, and reports whether it has ended.
func (r *reading) ended(late <-chan time.Time) bool {
	select {
	case <-r.done:
	case <-late:
	}
	return r.isDone()
}

// readWithin is how long a session may take to be read.
const readWithin = 5 * time.Minute

// slowError says that a session is being read still.
type slowError struct {
	id    string
	bytes int64 // of its journal; 0: it is read from ClickHouse
}

func (e *slowError) Error() string { return "session " + e.id + " is being read" }

func newSessions(a *archive.Archive) *sessions { return &sessions{archive: a} }

// open returns the session that a name means. When it takes longer than patience to read it, the error is a [*slowError], and
// the reading goes on; 0: it is waited for.
func (s *sessions) open(ctx context.Context, name string, patience time.Duration) (*opened, error) {
	id, err := s.archive.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	r := s.slot(id).look(ctx, s.archive)
	if patience > 0 {
		if !r.ended(time.After(patience)) {
			return nil, &slowError{id, r.stamp.Size}
		}
	}
	select {
	case <-r.done:
		return r.of, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// look returns the reading that counts for a session as it is now, and begins it when there is none.
func (x *slot) look(ctx context.Context, a *archive.Archive) *reading {
	x.mu.Lock()
	defer x.mu.Unlock()
	stamp := archive.StampOf(a, x.id)
	if x.last == nil || !x.last.serves(stamp) {
		x.last = &reading{stamp: stamp, done: make(chan struct{})}
		go x.last.read(context.WithoutCancel(ctx), a, x.id)
	}
	return x.last
}

// read reads the session, and finds its calls.
func (r *reading) read(ctx context.Context, a *archive.Archive, id string) {
	defer close(r.done)
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	start := time.Now()
	var found *archive.Reading
	if found, r.err = archive.Read(ctx, a, id); r.err == nil {
		r.of = newOpened(found, r.stamp)
		_, _ = r.of.Record() // its error comes to those who ask for it
	}
	now := time.Now()
	if took := now.Sub(start); took > readAgain {
		r.until = now.Add(took)
	}
	if (r.stamp == archive.Stamp{}) {
		r.until = now.Add(storedFor)
	}
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
