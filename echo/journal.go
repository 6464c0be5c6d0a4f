package echo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// JournalVersion is the format of the journals that this package writes, and the newest one it reads.
//
// Every line of version 2 ends with a member "sum": the first 16 hexadecimal digits of SHA-256 over the sum of the line
// before it and the line itself without that member. So a change of any byte is found, and so is a line that was left out,
// added or moved. Journals of version 1 have no sums.
const JournalVersion = 2

// The files of a session's folder.
const (
	JournalFile = "journal.jsonl"
	lockFile    = "lock"
)

// Header is the first line of a journal: all that a run is a function of, apart from the outcomes of its effects.
type Header struct {
	Version   int             `json:"windlass_journal"`
	SessionID string          `json:"session_id"`
	StartedAt time.Time       `json:"started_at"`
	Windlass  string          `json:"windlass"`         // the version of windlass
	File      string          `json:"file"`             // the cascade file as it was named
	Cascade   json.RawMessage `json:"cascade"`          // the whole cascade, as it was understood
	Script    string          `json:"script,omitempty"` // the script that answered instead of a model
	Input     json.RawMessage `json:"input"`
	Options   json.RawMessage `json:"options,omitempty"` // what else the run was begun with, in the form of whoever began it

	// Of a session that was forked from another: its id, and the number of the last entry that it has of it.
	Parent    string `json:"parent,omitempty"`
	ParentSeq uint64 `json:"parent_seq,omitempty"`
}

// ErrSessionBusy is returned when another process owns the session.
var ErrSessionBusy = errors.New("the session is in use by another process")

// ErrSessionExists is returned when a new session is to be made where there is one.
var ErrSessionExists = errors.New("the session exists already")

// Journal is the file that a session is kept in: a header, then one entry a line. One process owns it at a time, by a
// file lock.
//
// Write encodes into a buffer, and Flush hands the buffer to the operating system: from then on the death of the process
// loses nothing. One goroutine of the journal's own syncs the file whenever Commit or Wait asks, so that entries flushed
// while a sync is under way share the next one. The mutex guards every field below it and the writing of the file; only
// the sync is done without it.
type Journal struct {
	path string
	file disk
	lock *flock.Flock
	done chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex
	cond     *sync.Cond // signalled when wanted, durable, err or closing change
	buf      []byte
	sum      lineSum // of the last line
	written  uint64  // entries accepted; the header counts as one
	flushed  uint64  // entries in the file
	wanted   uint64  // entries that somebody asked to be durable
	durable  uint64  // entries that are
	size     int64   // bytes of whole lines in the file
	syncs    uint64
	err      error // the first failure; nothing is written after it
	closing  bool
	released bool
}

// CreateJournal makes the folder dir and a journal in it that starts with h, and takes ownership of the session. It
// fails with [ErrSessionExists] when dir has a journal already; one without a whole line is none, as its process died
// before the session had begun. Nothing is left behind on failure.
func CreateJournal(dir string, h Header) (*Journal, error) {
	h.Version = JournalVersion
	head, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode journal header: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make session folder: %w", err)
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() { // a link leads to where somebody else keeps something
		return nil, fmt.Errorf("make session folder %s: %w, and is a link", dir, ErrSessionExists)
	}
	lock, err := own(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, JournalFile)
	f, err := createFile(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	j := startJournal(path, dataFile{f}, lock)
	j.line(head)
	if err := j.Wait(context.Background()); err != nil {
		return nil, errors.Join(err, j.discard(dir))
	}
	if err := syncDir(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("sync session folder: %w", err), j.discard(dir))
	}
	return j, nil
}

// createFile makes an empty file for a journal. The caller owns the session.
func createFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		if begun, readErr := hasLine(path); readErr != nil || begun {
			return nil, errors.Join(fmt.Errorf("create journal %s: %w", path, ErrSessionExists), readErr)
		}
		f, err = openRegular(path, os.O_WRONLY|os.O_TRUNC)
	}
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	return f, nil
}

// discard takes back a journal that could not be begun, and the folder when nothing else is in it.
func (j *Journal) discard(dir string) error {
	_ = j.Close(context.Background()) // what made it fail is told already
	_ = os.Remove(filepath.Join(dir, lockFile))
	err := os.Remove(j.path)
	_ = os.Remove(dir) // fails when it is not empty, as it should
	return err
}

// ownLimit is how long a session may be taken by somebody before it counts as in use: who only looks whether it is holds
// the lock for microseconds.
const ownLimit = 100 * time.Millisecond

func own(dir string) (*flock.Flock, error) {
	if err := requireRegular(filepath.Join(dir, lockFile)); err != nil {
		return nil, fmt.Errorf("lock session: %w", err)
	}
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), ownLimit)
	defer cancel()
	ok, err := lock.TryLockContext(ctx, ownLimit/20)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock session: %w", err)
	}
	if !ok {
		return nil, fmt.Errorf("lock session %s: %w", filepath.Base(dir), ErrSessionBusy)
	}
	return lock, nil
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

func startJournal(path string, f disk, lock *flock.Flock) *Journal {
	j := &Journal{path: path, file: f, lock: lock, done: make(chan struct{})}
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

// Write queues an entry. It fails when an earlier write to the disk has.
func (j *Journal) Write(e *Entry) error {
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
		return ErrLogClosed
	}
	j.line(line)
	return nil
}

// encodeEntry returns what json.Marshal makes of an entry, byte for byte, in about half the time: of what a marshaler returns
// encoding/json reads every byte once more, and the message is most of an entry. So it is put in its place here.
func encodeEntry(e *Entry) ([]byte, error) {
	rest := *e
	rest.Message = nil
	line, err := json.Marshal(&rest)
	if err != nil || e.Message == nil {
		return line, err
	}
	// The first of these is the member itself: quotes in the values before it are escaped.
	at := bytes.Index(line, []byte(afterMessage))
	if at < 0 {
		return json.Marshal(e)
	}
	message, err := e.Message.MarshalJSON()
	if err != nil {
		return nil, err
	}
	whole := make([]byte, 0, len(line)+len(messageMember)+len(message))
	whole = append(append(whole, line[:at]...), messageMember...)
	return append(append(whole, message...), line[at:]...), nil
}

const (
	messageMember = `,"message":`
	afterMessage  = `,"content_hash":` // the member that follows; the log gives every message one
)

// line queues one line. The caller holds the mutex, or is the only one who knows the journal.
func (j *Journal) line(text []byte) {
	j.sum = j.sum.next(text)
	j.buf = appendSummed(j.buf, text, j.sum)
	j.written++
}

// Flush hands what was written to the operating system. A failure is kept, and told by the next Write or Wait.
func (j *Journal) Flush() {
	j.mu.Lock()
	j.flush()
	j.mu.Unlock()
}

// flush writes the buffer out. When the write fails, the part that got through is cut off again, so that the file ends
// with a whole line. The caller holds the mutex.
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

// fail keeps the first failure and wakes whoever waits. The caller holds the mutex.
func (j *Journal) fail(err error) {
	if j.err == nil {
		j.err = fmt.Errorf("write journal %s: %w", j.path, err)
	}
	j.cond.Broadcast()
}

// Commit flushes, and begins to make what was written durable.
func (j *Journal) Commit() {
	j.mu.Lock()
	j.want(j.written)
	j.mu.Unlock()
}

// want flushes and asks for n entries to be made durable. The caller holds the mutex.
func (j *Journal) want(n uint64) {
	j.flush()
	if j.wanted < n {
		j.wanted = n
		j.cond.Broadcast()
	}
}

// Wait returns when everything written before the call is durable. The disk cannot be interrupted: ctx ends only the
// waiting.
func (j *Journal) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		j.mu.Lock()
		j.cond.Broadcast()
		j.mu.Unlock()
	})
	defer stop()
	j.mu.Lock()
	defer j.mu.Unlock()
	target := j.written
	j.want(target)
	for j.durable < target && j.err == nil {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		j.cond.Wait()
	}
	if j.durable < target {
		return j.err
	}
	return nil
}

// run syncs until the journal is closed or the disk fails.
func (j *Journal) run() {
	defer close(j.done)
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		for j.wanted <= j.durable && !j.closing && j.err == nil {
			j.cond.Wait()
		}
		if j.err != nil || j.wanted <= j.durable {
			return // the disk has failed, or the journal is closing and nothing is left to do
		}
		upTo := j.flushed
		j.mu.Unlock()
		err := j.file.Sync()
		j.mu.Lock()
		if err != nil {
			j.fail(err)
			return
		}
		j.durable = upTo
		j.syncs++
		j.cond.Broadcast()
	}
}

// Close makes everything written durable, ends the goroutine, and gives up the session. It is safe to call twice.
func (j *Journal) Close(ctx context.Context) error {
	err := j.Wait(ctx)
	j.mu.Lock()
	j.closing = true
	j.cond.Broadcast()
	released := j.released
	j.released = true
	j.mu.Unlock()
	if released {
		return nil
	}
	<-j.done
	if cerr := j.file.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close journal: %w", cerr)
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	return err
}
