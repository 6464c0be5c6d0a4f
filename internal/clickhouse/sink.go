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
)

const (
	flushRows    = 500                    // a batch is written as soon as it has this many rows,
	flushEvery   = 250 * time.Millisecond // or this long after its first row
	maxBatchRows = 5000                   // of one write, when rows have piled up
	maxBatchSize = 16 << 20               // bytes of one write, about
	maxCells     = 250_000                // messages that the selections of one write name, about; 100 bytes each
	maxBacklog   = 64 << 20               // bytes that wait in memory, about; above it rows stay in the journal only
	rowOverhead  = 512                    // bytes of a row besides its texts

	firstPause = 100 * time.Millisecond // between attempts, doubled
	longPause  = 5 * time.Second        // up to this
	writeLimit = 30 * time.Second       // for one write
)

// SinkStats is what became of the entries given to a [Sink].
type SinkStats struct {
	Written   int64 // delivered
	Pending   int64 // waiting
	Failed    int64 // given up: the server refused them, or there was no room to keep them
	LastError error // of the last attempt that failed, until one succeeds; else why a selection could not be read
}

// queued is an entry that waits.
type queued struct {
	*echo.Entry
	gap bool // entries before it were left out
}

// batch is what one write delivers.
type batch struct {
	rows   []*row
	size   int64 // as in the queue, about
	unread int   // rows whose selection could not be read, and is left out
}

// SinkOptions are the seams of a [Sink]. The zero value is right for a run.
type SinkOptions struct {
	// Notify is told, once each, that rows are not being delivered and why. It is called from the sink's goroutine and
	// must return quickly. May be nil.
	Notify func(message string)
	// Backlog is how many bytes may wait in memory; 0: 64 MiB.
	Backlog int64
}

// Sink writes entries to ClickHouse behind the run. It is made before the database is open, and opens it itself, so that
// a run waits for neither. It implements echo.Sink.
//
// Write appends to a list under a lock; one goroutine owns everything else: it opens the database, takes the list, and
// writes it. Entries must not change after Write.
type Sink struct {
	open    func(context.Context) (*DB, error)
	options SinkOptions

	rec *recorder // the goroutine's

	mu     sync.Mutex
	queue  []queued
	size   int64 // bytes of queue, about
	closed bool
	lost   bool  // there will be no database: nothing is kept
	full   bool  // the backlog limit was reached,
	gap    bool  // entries were left out behind the newest one in the queue
	unread error // why a selection could not be read, the first time
	stats  SinkStats

	toldFull bool // and the caller told so

	wake chan struct{} // holds one token when there is something to do
	urge chan struct{} // closed when Close wants no more waiting
	done chan struct{} // closed when the goroutine has ended

	cancel context.CancelFunc // ends the goroutine's work at once
	once   sync.Once
}

// NewSink starts a sink. open is called in the background, again after a failure that may pass and when the connection is
// lost; the sink closes the databases that it returns.
func NewSink(open func(context.Context) (*DB, error), options SinkOptions) *Sink {
	if options.Backlog == 0 {
		options.Backlog = maxBacklog
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sink{
		open: open, options: options, cancel: cancel, rec: newRecorder(),
		wake: make(chan struct{}, 1), urge: make(chan struct{}), done: make(chan struct{}),
	}
	go s.work(ctx)
	return s
}

// Write takes an entry. It never blocks on the database and fails only after Close. An entry that finds no room is
// counted as failed, and so are the selections of the visit after it, which cannot be read without it; the journal still
// has them.
func (s *Sink) Write(e *echo.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("write to the ClickHouse sink: it is closed")
	}
	size := entrySize(e)
	if s.lost || s.size+size > s.options.Backlog {
		s.full, s.gap = true, true
		s.stats.Failed++
		return nil
	}
	s.queue = append(s.queue, queued{e, s.gap})
	s.gap = false
	s.size += size
	if len(s.queue) == 1 || len(s.queue) == flushRows {
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

// entrySize estimates the memory that an entry holds on to.
func entrySize(e *echo.Entry) int64 {
	n := rowOverhead + len(e.Data)
	if e.Message != nil {
		n += len(e.Message.JSON())
	}
	if e.Tool != nil {
		n += len(e.Tool.Arguments)
	}
	return int64(n)
}

// Stats returns a snapshot.
func (s *Sink) Stats() SinkStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Pending = int64(len(s.queue))
	stats.LastError = cmp.Or(stats.LastError, s.unread)
	return stats
}

// Close delivers what waits, for as long as ctx allows, and ends the sink. The error says how many rows were not
// delivered and why. It may be called again, and then returns the same.
func (s *Sink) Close(ctx context.Context) error {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		close(s.urge)
		s.signal()
	})
	select {
	case <-s.done:
	case <-ctx.Done():
		s.cancel()
		<-s.done
	}
	stats := s.Stats()
	if lost := stats.Pending + stats.Failed; lost > 0 {
		return &UndeliveredError{Rows: lost, Err: stats.LastError}
	}
	return nil
}

// UndeliveredError says that rows of a run did not reach ClickHouse. They are in the journal.
type UndeliveredError struct {
	Rows int64
	Err  error // the last reason; may be nil when there was no room
}

func (e *UndeliveredError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%d log rows did not reach ClickHouse: too many were waiting", e.Rows)
	}
	return fmt.Sprintf("%d log rows did not reach ClickHouse: %v", e.Rows, e.Err)
}

func (e *UndeliveredError) Unwrap() error { return e.Err }

// work is the sink's goroutine.
func (s *Sink) work(ctx context.Context) {
	defer close(s.done)
	defer s.cancel()
	db := s.connect(ctx)
	if db == nil {
		return
	}
	w := newWriter(db)
	defer func() { _ = w.db.Close() }() // the rows are delivered or counted; a failing close changes nothing
	for s.await(ctx) {
		if !s.deliver(ctx, w, s.take()) {
			return
		}
	}
}

// connect opens the database, trying again while it may help. It returns nil when there will be none.
func (s *Sink) connect(ctx context.Context) *DB {
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		db, err := s.open(ctx)
		if err == nil {
			s.succeeded(0)
			return db
		}
		s.failed(err)
		// A database that never answered is not waited for at the end of a run.
		if !isRetryable(err) || !s.rest(ctx, pause) || s.isClosed() {
			s.awaitClose(ctx)
			return nil
		}
	}
}

// awaitClose keeps the goroutine until Close. Nothing is kept for a database that will not come; Write only counts.
func (s *Sink) awaitClose(ctx context.Context) {
	s.mu.Lock()
	s.lost = true
	s.stats.Failed += int64(len(s.queue))
	s.queue, s.size = nil, 0
	s.mu.Unlock()
	select {
	case <-s.urge:
	case <-ctx.Done():
	}
}

// await waits until a batch is due. It returns false when there is nothing more to come.
func (s *Sink) await(ctx context.Context) bool {
	for {
		n, closed := s.waiting()
		switch {
		case n >= flushRows || n > 0 && closed:
			return true
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
}

// linger gives a batch time to grow.
func (s *Sink) linger(ctx context.Context) {
	t := time.NewTimer(flushEvery)
	defer t.Stop()
	for {
		select {
		case <-s.wake:
			if n, closed := s.waiting(); n >= flushRows || closed {
				return
			}
		case <-t.C:
			return
		case <-s.urge:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s *Sink) waiting() (rows int, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue), s.closed
}

func (s *Sink) isClosed() bool {
	_, closed := s.waiting()
	return closed
}

// take returns the next batch. Its entries stay in the queue until they are delivered, so that Stats and the backlog's
// limit count them.
func (s *Sink) take() *batch {
	b := &batch{}
	cells := 0
	for _, q := range s.next() {
		if cells > maxCells { // they are known only once they are read; what is left comes with the next batch
			break
		}
		if q.gap { // selections say what changed since one that is not here
			s.rec.forget()
		}
		r, err := s.rec.row(q.Entry)
		if err != nil {
			b.unread++
			s.mu.Lock()
			s.unread = cmp.Or(s.unread, fmt.Errorf("session %s: %w", q.SessionID, err))
			s.mu.Unlock()
		}
		if r.selection != nil {
			cells += len(r.selection.cells)
		}
		b.rows = append(b.rows, r)
		b.size += entrySize(q.Entry)
	}
	return b
}

// next returns the entries that one write should take.
func (s *Sink) next() []queued {
	s.mu.Lock()
	defer s.mu.Unlock()
	var size int64
	for i, q := range s.queue {
		if i == maxBatchRows || size > maxBatchSize {
			return slices.Clone(s.queue[:i])
		}
		size += entrySize(q.Entry)
	}
	return slices.Clone(s.queue)
}

// deliver writes a batch, again and again while that may help. It returns false when it had to give up the sink.
func (s *Sink) deliver(ctx context.Context, w *writer, b *batch) bool {
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		err := writeBatch(ctx, w, b.rows)
		if err == nil {
			s.remove(b)
			s.succeeded(len(b.rows) - b.unread)
			s.gaveUp(b.unread)
			return true
		}
		s.failed(err)
		if ctx.Err() != nil {
			return false
		}
		if !isRetryable(err) {
			s.remove(b)
			s.gaveUp(len(b.rows))
			return true
		}
		if !s.rest(ctx, pause) {
			return false
		}
		if isNetwork(err) {
			s.reopen(ctx, w)
		}
	}
}

// reopen opens the database anew after its connection was lost: an embedded engine that has died comes back at another
// address. When that fails, the next attempt at the old one says how it is.
func (s *Sink) reopen(ctx context.Context, w *writer) {
	db, err := s.open(ctx)
	if err != nil {
		s.failed(err)
		return
	}
	_ = w.db.Close() // there is nothing to say goodbye to
	w.db = db
}

func writeBatch(ctx context.Context, w *writer, rows []*row) error {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	return w.insert(ctx, rows)
}

// rest waits between two attempts. It returns false when the sink has to end. After Close it waits only briefly: the
// caller stands and waits too.
func (s *Sink) rest(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	urge := s.urge
	if s.isClosed() {
		urge = nil
		t.Reset(min(pause, firstPause))
	}
	select {
	case <-t.C:
	case <-urge:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func (s *Sink) remove(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(b.rows)
	clear(s.queue[:n]) // the entries may go
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.queue = nil
	}
	s.size -= b.size
}

func (s *Sink) succeeded(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Written += int64(n)
	s.stats.LastError = nil
}

func (s *Sink) gaveUp(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Failed += int64(n)
}

// failed records why an attempt failed and tells it, the first time in a row and once when the backlog is full.
func (s *Sink) failed(err error) {
	s.mu.Lock()
	first := s.stats.LastError == nil
	s.stats.LastError = err
	n, full := len(s.queue), s.full && !s.toldFull
	s.toldFull = s.toldFull || full
	s.mu.Unlock()
	if s.options.Notify == nil {
		return
	}
	if first {
		s.options.Notify(fmt.Sprintf("ClickHouse does not take the log now; the journal has everything: %v", err))
	}
	if full {
		s.options.Notify(fmt.Sprintf("%d log rows wait for ClickHouse; more are kept in the journal only", n))
	}
}
