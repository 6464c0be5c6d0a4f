package journal

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// Journal is an open journal that entries are appended to. It implements [echo.DurableSink]. One
// process owns it at a time, by a file lock.
//
// Write encodes into a buffer, and Flush hands the buffer to the operating system: from then on the
// death of the process loses nothing. The goroutine of a committer makes durable what Commit or
// Wait asks for: entries flushed while it is at work share the next sync. The mutex guards every
// field below it and the writing of the file; the file is synced without it. Who holds it may take
// that of the committer, never the other way round.
type Journal struct {
	path    string
	session string
	file    disk
	lock    *flock.Flock
	commits *committer

	mu       sync.Mutex
	cond     *sync.Cond // signalled when durable, err or closing change
	buf      []byte
	sum      chain.Sum // of the last line
	progress           // guarded by mu, as the rest
	unsynced
	size     int64 // bytes of whole lines in the file
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
	syncs   uint64 // how often some became so
}

// start returns the journal of an open file.
func (m maker) start(path, session string, f disk, lock *flock.Flock) *Journal {
	j := &Journal{path: path, session: session, file: f, lock: lock, commits: m.commits}
	if j.commits == nil {
		j.commits = newCommitter(nil, 0)
	}
	j.cond = sync.NewCond(&j.mu)
	j.commits.join(j)
	return j
}

// Path returns the journal's file.
func (j *Journal) Path() string { return j.path }

// Syncs returns how many times entries of the journal were made durable so far.
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
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if j.closing {
		return echo.ErrLogClosed
	}
	buf, err := e.AppendJSON(j.buf)
	if err != nil {
		return fmt.Errorf("encode journal entry %d (%s): %w", e.Seq, e.Key, err)
	}
	if err := chain.CheckLength(len(buf) - len(j.buf)); err != nil {
		return fmt.Errorf("write journal %s: entry %d (%s): %w", j.path, e.Seq, e.Key, err)
	}
	j.line(buf)
	return nil
}

// line queues one line, an object at the end of buf, which begins with what is queued. The caller
// holds the mutex, or nobody else has the journal yet.
func (j *Journal) line(buf []byte) {
	open := buf[:len(buf)-1]
	j.sum = j.sum.Next(open[len(j.buf):])
	j.buf = chain.End(open, j.sum)
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
	if j.commits.log != nil {
		j.keep(j.buf)
	}
	j.buf = j.buf[:0]
}

// fail keeps the first failure and wakes all who wait. The caller holds the mutex.
func (j *Journal) fail(err error) {
	if j.err == nil {
		j.err = fmt.Errorf("write journal %s: %w", j.path, err)
	}
	j.cond.Broadcast()
}
