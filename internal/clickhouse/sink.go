package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/delivery"
)

const (
	flushRows  = 500                    // a batch is written as soon as it has this many rows,
	flushEvery = 250 * time.Millisecond // or this long after its first row
	maxBacklog = 64 << 20               // bytes that wait in memory, about; above it rows are read back from the journal

	firstPause = 100 * time.Millisecond // between attempts, doubled
	longPause  = 5 * time.Second        // up to this
	lastTries  = 10                     // attempts after Close, of a database that was there before
)

// SinkStats is what became of the entries given to a [Sink].
type SinkStats struct {
	Written   int64 // delivered by this sink
	Waiting   int64 // of the session, not delivered yet
	Unread    int64 // selections that do not fit the entries before them: their rows are delivered without
	LastError error // of the last attempt that failed, until one succeeds; else why a selection could not be read
	MarkError error // why it could not be noted what was delivered; it is then delivered again
}

// SinkOptions say what a [Sink] is for. The zero value keeps everything in memory.
type SinkOptions struct {
	// Dir is the session's folder: delivery goes on where an earlier process left off, is noted
	// there, and reads back from the journal there what memory has no room for.
	Dir string
	// To is the address of the database, see [Options.Address].
	To string
	// Notify is told, once in a row, why rows are not delivered, and returns quickly. May be nil.
	Notify func(message string)
	// Backlog is how many bytes may wait in memory, if there is a Dir; 0: 64 MiB.
	Backlog int64
}

// Sink writes the entries of a session to ClickHouse behind the run. It opens the database itself,
// and again when it is lost. It implements echo.Sink.
//
// Write appends to a list under a lock; one goroutine owns everything else. It passes no entry
// over: what the database refuses is tried again, and what follows waits. Entries must not change
// after Write.
type Sink struct {
	open    func(context.Context) (*DB, error)
	options SinkOptions

	// The goroutine's.
	db      *DB // nil: not open
	packer  *packer
	journal *journalReader
	fresh   []*echo.Entry // taken and in no batch yet
	batch   *batch        // being written; nil: none
	opened  bool          // the database was there once

	backlog

	wake chan struct{} // holds one token when there is something to do
	urge chan struct{} // closed when Close wants no more waiting
	end  chan struct{} // closed when the goroutine has ended

	cancel context.CancelFunc // ends the goroutine's work at once
	once   sync.Once
}

// NewSink starts a sink. open is called in the background; the sink closes what it returns.
func NewSink(open func(context.Context) (*DB, error), options SinkOptions) *Sink {
	if options.Backlog == 0 {
		options.Backlog = maxBacklog
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sink{
		open: open, options: options, cancel: cancel, packer: newPacker(delivery.Mark{}), journal: newJournalReader(options.Dir),
		wake: make(chan struct{}, 1), urge: make(chan struct{}), end: make(chan struct{}),
	}
	s.moved = make(chan struct{})
	if options.Dir != "" {
		s.done = delivery.ReadMarks(options.Dir).Of(options.To).Seq // as far as is known before the database says who it is
	}
	go s.work(ctx)
	return s
}

// Write takes an entry. It never blocks on the database and fails only after Close.
func (s *Sink) Write(e *echo.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("write to the ClickHouse sink: it is closed")
	}
	s.last++
	if s.options.Dir != "" {
		s.last = e.Seq
	}
	if s.keeps(e, s.options) {
		s.queue = append(s.queue, e)
		s.size += entrySize(e)
	}
	if n := s.last - s.taken; n == 1 || n%flushRows == 0 {
		s.signal()
	}
	return nil
}

func (s *Sink) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // a token is there already
	}
}

// Stats returns a snapshot.
func (s *Sink) Stats() SinkStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Waiting = int64(s.last - min(s.done, s.last))
	stats.LastError = cmp.Or(stats.LastError, s.unread)
	return stats
}

// Deliver has what was written so far delivered without waiting for more, and waits for that while
// ctx allows. It returns up to which entry the database has the session, and the newest entry.
func (s *Sink) Deliver(ctx context.Context) (upTo, newest uint64) {
	s.mu.Lock()
	newest = s.last
	s.wanted = newest
	s.mu.Unlock()
	s.signal()
	for {
		s.mu.Lock()
		done, moved, hopeless := s.done, s.moved, s.lost || s.closed
		s.mu.Unlock()
		if done >= newest || hopeless {
			return min(done, newest), newest
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return done, newest
		}
	}
}

// Close delivers what waits while ctx allows, and ends the sink. It may be called again.
func (s *Sink) Close(ctx context.Context) error {
	s.once.Do(func() {
		s.locked(func() {
			s.closed = true
			s.move()
		})
		close(s.urge)
		s.signal()
	})
	select {
	case <-s.end:
	case <-ctx.Done():
		s.cancel()
		<-s.end
		s.locked(func() { s.stats.LastError = cmp.Or(s.stats.LastError, errTooSlow) })
	}
	stats := s.Stats()
	switch {
	case stats.Waiting+stats.Unread > 0:
		return &UndeliveredError{Rows: stats.Waiting, Unread: stats.Unread, Err: stats.LastError}
	case stats.MarkError != nil:
		return &UndeliveredError{Err: stats.MarkError}
	}
	return nil
}

// UndeliveredError says that not all of a session reached ClickHouse, or was noted.
type UndeliveredError struct {
	Rows   int64 // that wait
	Unread int64 // selections that could not be read
	Err    error // the last reason; may be nil
}

func (e *UndeliveredError) Error() string {
	reason := ""
	if e.Err != nil {
		reason = ": " + e.Err.Error()
	}
	switch {
	case e.Rows == 1:
		return "1 row of the session waits for ClickHouse" + reason
	case e.Rows > 0:
		return fmt.Sprintf("%d rows of the session wait for ClickHouse%s", e.Rows, reason)
	case e.Unread == 0:
		return "all of the session is in ClickHouse and will be delivered again" + reason
	case e.Unread == 1:
		return "1 selection of the session is not in ClickHouse" + reason
	}
	return fmt.Sprintf("%d selections of the session are not in ClickHouse%s", e.Unread, reason)
}

func (e *UndeliveredError) Unwrap() error { return e.Err }

func (s *Sink) work(ctx context.Context) {
	defer close(s.end)
	defer s.cancel()
	defer s.disconnect()
	defer s.journal.close()
	pause, tries := firstPause, 0
	for s.await(ctx) {
		closed := s.isClosed() // before the look at the journal, which is whole by then
		idle, err := s.step(ctx)
		if err == nil {
			pause, tries = firstPause, 0
			if idle && (closed || !s.rest(ctx, flushEvery)) {
				return
			}
			continue
		}
		s.failed(ctx, err)
		if s.isClosed() {
			if tries++; !s.opened || !isRetryable(err) || tries > lastTries {
				return
			}
			pause = firstPause // the caller stands and waits
		}
		if !s.opened && !isRetryable(err) {
			s.giveUp(ctx)
			return
		}
		if !s.rest(ctx, pause) {
			return
		}
		pause = min(2*pause, longPause)
	}
}

// step opens the database or writes a batch. It is idle when the journal has nothing yet.
func (s *Sink) step(ctx context.Context) (idle bool, err error) {
	if s.db == nil {
		return false, s.connect(ctx)
	}
	if s.batch == nil {
		if idle, err := s.fill(); idle || err != nil || s.batch == nil {
			return idle, err
		}
	}
	if err := s.db.joint.write(ctx, s.db, s.batch); err != nil {
		if isGone(err) || isUnknownObject(err) {
			s.disconnect()
		}
		return false, err
	}
	s.delivered(s.batch)
	s.batch = nil
	return false, nil
}

func (s *Sink) connect(ctx context.Context) error {
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	if s.options.Dir != "" {
		if err := s.goOnFrom(ctx, db); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	s.db, s.opened = db, true
	s.locked(func() { s.stats.LastError = nil })
	return nil
}

func (s *Sink) goOnFrom(ctx context.Context, db *DB) error {
	mark, err := markOf(ctx, db, s.options.Dir, s.options.To)
	switch {
	case err != nil:
		return err
	case !s.opened:
		s.packer.mark = mark
		s.locked(func() {
			s.done = mark.Seq
			s.move()
		})
	case mark.Database != s.packer.mark.Database:
		s.rewind(mark)
	}
	return nil
}

// disconnect closes a database that may be gone: a failing close changes nothing.
func (s *Sink) disconnect() {
	if s.db != nil {
		_ = s.db.Close()
		s.db = nil
	}
}

// rewind begins the delivery anew after a mark. The entries come from the journal.
func (s *Sink) rewind(mark delivery.Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packer, s.batch, s.fresh = newPacker(mark), nil, nil
	s.journal.close()
	s.queue, s.size, s.taken = nil, 0, 0
	s.done = mark.Seq
}

// fill makes the next batch. It is idle when the journal has nothing yet.
func (s *Sink) fill() (idle bool, err error) {
	if len(s.fresh) == 0 {
		if err := s.take(); err != nil || len(s.fresh) == 0 {
			return err == nil, err
		}
	}
	b, rest, err := s.packer.pack(s.fresh)
	if errors.Is(err, errVoidMark) {
		s.rewind(delivery.Mark{To: s.packer.mark.To, Database: s.packer.mark.Database})
		return false, nil
	}
	s.batch, s.fresh = b, rest
	return false, err
}

func (s *Sink) take() error {
	from, upTo, ok := s.takeQueued()
	if ok {
		return nil
	}
	entries, err := s.journal.read(from, upTo)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh = entries
	s.taken += uint64(len(entries))
	for _, e := range entries {
		s.size += entrySize(e)
	}
	return nil
}

// takeQueued takes entries from memory, or says which have to come from the journal.
func (s *Sink) takeQueued() (from, upTo uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return s.taken + 1, s.last, false
	}
	if first := s.queue[0].Seq; s.options.Dir != "" && first > s.taken+1 {
		return s.taken + 1, first - 1, false
	}
	n := batchLength(s.queue)
	s.fresh = slices.Clone(s.queue[:n])
	clear(s.queue[:n]) // once they are delivered they may go
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.queue = nil
	}
	s.taken += uint64(n)
	return 0, 0, true
}

func (s *Sink) delivered(b *batch) {
	s.mu.Lock()
	s.done = max(s.done, b.last)
	s.size -= b.size
	s.stats.Written += int64(len(b.rows) - b.unread)
	s.stats.Unread += int64(b.unread)
	s.unread = cmp.Or(s.unread, b.why)
	s.stats.LastError = nil
	s.move()
	s.mu.Unlock()
	if s.options.Dir == "" || b.last <= s.packer.mark.Seq {
		return
	}
	err := delivery.SetMark(s.options.Dir, s.packer.markAt(b))
	s.locked(func() { s.stats.MarkError = err })
}

// giveUp waits for Close. Nothing is kept for a database that will not come.
func (s *Sink) giveUp(ctx context.Context) {
	s.mu.Lock()
	s.lost = true
	s.queue, s.size = nil, 0
	s.move()
	s.mu.Unlock()
	select {
	case <-s.urge:
	case <-ctx.Done():
	}
}

// await waits until a batch is due. It returns false when there is nothing more to come.
func (s *Sink) await(ctx context.Context) bool {
	for s.batch == nil && len(s.fresh) == 0 {
		n, closed := s.waiting()
		switch {
		case n >= flushRows || n > 0 && (closed || s.hurried()):
			return ctx.Err() == nil
		case closed || ctx.Err() != nil:
			return false
		case n > 0:
			s.linger(ctx)
			if n, _ := s.waiting(); n > 0 {
				return ctx.Err() == nil
			}
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

func (s *Sink) linger(ctx context.Context) {
	grown := time.After(flushEvery)
	for {
		select {
		case <-s.wake:
			if n, closed := s.waiting(); n >= flushRows || closed || s.hurried() {
				return
			}
		case <-grown:
			return
		case <-s.urge:
			return
		case <-ctx.Done():
			return
		}
	}
}

// rest waits between two attempts. It returns false when the sink has to end.
func (s *Sink) rest(ctx context.Context, pause time.Duration) bool {
	urge := s.urge
	if s.isClosed() {
		urge = nil
	}
	select {
	case <-time.After(pause):
	case <-urge:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// failed records why an attempt failed, unless ctx ended it, and tells it the first time in a row.
func (s *Sink) failed(ctx context.Context, err error) {
	s.mu.Lock()
	if ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	first := s.stats.LastError == nil
	s.stats.LastError = err
	s.mu.Unlock()
	if first && s.options.Notify != nil {
		s.options.Notify(fmt.Sprintf("ClickHouse does not take the log now; the journal has everything: %v", err))
	}
}

var errTooSlow = errors.New("it did not answer in time")

// backlog is what a sink was given and has not delivered. Entries are counted from 1.
type backlog struct {
	mu     sync.Mutex
	queue  []*echo.Entry // without gaps
	size   int64         // bytes of queue and of what was taken from it, about
	last   uint64        // the newest that exists
	taken  uint64
	done   uint64        // delivered up to here
	wanted uint64        // somebody waits for the delivery up to here
	moved  chan struct{} // closed when one of the others changes that [Sink.Deliver] looks at
	closed bool
	lost   bool // there will be no database: nothing is kept in memory
	stats  SinkStats
	unread error // why the first selection could not be read
}

func (b *backlog) locked(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
}

// keeps reports whether an entry is kept in memory. The caller holds the mutex.
func (b *backlog) keeps(e *echo.Entry, o SinkOptions) bool {
	switch {
	case o.Dir == "":
		return !b.lost
	case b.lost || b.size+entrySize(e) > o.Backlog:
		return false
	case len(b.queue) > 0:
		return e.Seq == b.queue[len(b.queue)-1].Seq+1
	}
	return e.Seq == b.taken+1
}

func (b *backlog) waiting() (entries uint64, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last - b.taken, b.closed
}

// hurried reports whether somebody waits for what is to be taken.
func (b *backlog) hurried() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wanted > b.taken
}

// move wakes those who wait for a delivery. The caller holds the mutex.
func (b *backlog) move() {
	close(b.moved)
	b.moved = make(chan struct{})
}

func (b *backlog) isClosed() bool {
	_, closed := b.waiting()
	return closed
}
