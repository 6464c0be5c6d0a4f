package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/echo"
)

// Journal is an open journal that entries are appended to. It implements [echo.DurableSink]. One
// process owns it at a time, by a file lock.
//
// Write encodes into a buffer, and Flush hands the buffer to the operating system: from then on the
// death of the process loses nothing. One goroutine of the journal's own syncs the file whenever
// Commit or Wait asks, so that entries flushed while a sync is under way share the next one. The
// mutex guards every field below it and the writing of the file; only the sync is done without it.
type Journal struct {
	path    string
	session string
	file    disk
	lock    *flock.Flock
	done    chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex
	cond     *sync.Cond // signalled when wanted, durable, err or closing change
	buf      []byte
	sum      lineSum // of the last line
	progress         // guarded by mu, as the rest
	size     int64   // bytes of whole lines in the file
	syncs    uint64
	err      error // the first failure; nothing is written after it
	closing  bool
	released bool
}

// progress is how far the entries of a journal are on their way to the disk. The header counts as
// one.
type progress struct {
	written uint64 // entries accepted
	flushed uint64 // entries in the file
	wanted  uint64 // entries that were asked to be durable
	durable uint64 // entries that are
}

// disk is the file of a journal, as far as the journal uses it.
type disk interface {
	Write(b []byte) (int, error)
	Sync() error // makes what was written durable
	Truncate(size int64) error
	Close() error
}

// dataFile is a file that syncs its content and not its times.
type dataFile struct{ *os.File }

func (f dataFile) Sync() error { return syncData(f.File) }

func start(path, session string, f disk, lock *flock.Flock) *Journal {
	j := &Journal{path: path, session: session, file: f, lock: lock, done: make(chan struct{})}
	j.cond = sync.NewCond(&j.mu)
	go j.run()
	return j
}

// Path returns the journal's file.
func (j *Journal) Path() string { return j.path }

// Syncs returns how many times the file was synced so far.
func (j *Journal) Syncs() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.syncs
}

// Write queues an entry of the session. It fails when an earlier write to the disk has.
func (j *Journal) Write(e *echo.Entry) error {
	if err := checkSession(e, j.session); err != nil {
		return fmt.Errorf("write journal %s: %w", j.path, err)
	}
	line, err := encodeEntry(e)
	if err != nil {
		return fmt.Errorf("encode journal entry %d (%s): %w", e.Seq, e.Key, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if j.closing {
		return echo.ErrLogClosed
	}
	j.line(line)
	return nil
}

// line queues one line. The caller holds the mutex, or nobody else has the journal yet.
func (j *Journal) line(text []byte) {
	open := text[:len(text)-1]
	j.sum = j.sum.next(open)
	j.buf = appendLine(j.buf, open, j.sum)
	j.written++
}

// Flush hands what was written to the operating system. A failure is kept, and returned by the next
// Write or Wait.
func (j *Journal) Flush() {
	j.mu.Lock()
	j.flush()
	j.mu.Unlock()
}

// flush writes the buffer out. When the write fails, the part that got through is cut off again, so
// that the file ends with a whole line. The caller holds the mutex.
func (j *Journal) flush() {
	if j.err != nil || len(j.buf) == 0 {
		return
	}
	n, err := j.file.Write(j.buf)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, j.file.Truncate(j.size))
		}
		j.fail(err)
		return
	}
	j.size += int64(n)
	j.flushed = j.written
	j.buf = j.buf[:0]
}

// fail keeps the first failure and wakes all who wait. The caller holds the mutex.
func (j *Journal) fail(err error) {
	if j.err == nil {
		j.err = fmt.Errorf("write journal %s: %w", j.path, err)
	}
	j.cond.Broadcast()
}
