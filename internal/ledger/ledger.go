// Package ledger has files of lines with checksums that are only ever added: a head, and entries that follow from each
// other. Any process may read one at any time. Who writes holds the lock beside it for as long as one line takes. An
// entry is on the disk before it is reported. What a process that died, or a power failure, has left of a line is passed
// over, and cut off by the next write.
package ledger

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/echo/journal/chain"
)

// LockSuffix ends the name of the file whose lock those hold who write.
const LockSuffix = ".lock"

// lockEvery is how often a lock is tried that another process holds, for one line.
const lockEvery = 2 * time.Millisecond

// Format is what the lines of one kind of ledger are: a head, and entries of type E, which come to a content of type C. A
// content is not changed once it is made.
type Format[E, C any] struct {
	Noun    string // what a ledger is called: "bank"
	None    C      // the content of no entry
	With    func(c C, more ...*E) C
	Head    func(first *E) any     // the head before the first entry
	Durable func(e *E) bool        // whether an entry is on the disk before somebody is told of it; nil: each is
	Loses   func(line []byte) bool // whether a line is one that the disk may lose; nil: none is
	// ReadHead and ReadEntry check and read a line with its checksum. The line of an entry has the number of the entry and
	// one more.
	ReadHead  func(path string, line []byte) (chain.Sum, error)
	ReadEntry func(path string, line int, before chain.Sum, text []byte) (*E, chain.Sum, error)
	// Anew returns all entries of a file, where one can be added to it only by writing the file anew, as its head says that
	// it has no such entries; nil: by a line. HeadOf makes the head of a file that is written anew. Both fields may be nil:
	// no entry needs another head.
	Anew   func(c C, e *E) []*E
	HeadOf func(all []*E) any
}

// File is one ledger, with what was read of it. It is safe for concurrent use, also by other processes: mu guards all of
// it, and is held while the file is read or written.
type File[E, C any] struct {
	format *Format[E, C]
	path   string
	on     Files

	mu      sync.Mutex
	content C
	lines   int       // how many were read, with the head
	sum     chain.Sum // of the last line
	size    int64     // of the lines, in bytes; 0: not even a head
	synced  int64     // how much of that is known to be on the disk
}

// New returns the ledger at a path. Nothing is read or made yet.
func New[E, C any](format *Format[E, C], path string, on Files) *File[E, C] {
	f := &File[E, C]{format: format, path: path, on: on}
	f.forget()
	return f
}

// Path returns the path of the file.
func (f *File[E, C]) Path() string { return f.path }

// Read returns what the ledger has now. One that is not there has nothing.
func (f *File[E, C]) Read() (C, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, err := f.on.Open(f.path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		f.forget()
		return f.content, nil
	}
	if err != nil {
		return f.format.None, f.failed("open", err)
	}
	defer from.Close() //nolint:errcheck // only read from
	if err := f.follow(from); err != nil {
		return f.format.None, err
	}
	return f.content, nil
}

func (f *File[E, C]) failed(verb string, err error) error {
	return Failed(f.format.Noun, verb, f.path, err)
}

// forget begins anew with what was read.
func (f *File[E, C]) forget() {
	f.content, f.lines, f.sum, f.size, f.synced = f.format.None, 0, chain.Sum{}, 0, 0
}

// follow reads on from where reading ended. What is no whole line yet is left: somebody writes it, or died.
func (f *File[E, C]) follow(from Disk) error {
	info, err := from.Stat()
	if err != nil {
		return f.failed("read", err)
	}
	if !f.hasRead(from) {
		f.forget()
	}
	if info.Size() == f.size {
		return nil
	}
	if err := f.readLines(chain.NewLines(from, chain.BoundsOfAll, f.size)); err != nil {
		f.forget()
		return err
	}
	return nil
}

// hasRead reports whether a file begins with what was read: the checksum of the last line is one of all lines before it.
// Forgetting, and people, put other files in the place of a ledger's.
func (f *File[E, C]) hasRead(from io.ReaderAt) bool {
	if f.size == 0 {
		return true
	}
	end := make([]byte, chain.Size)
	if _, err := from.ReadAt(end, f.size-int64(len(end))); err != nil {
		return false
	}
	sum, ok := chain.SumOf(end)
	return ok && sum == f.sum
}

// readLines takes all whole lines, up to one that the disk did not get before a power failure.
func (f *File[E, C]) readLines(lines chain.Lines) error {
	var more []*E
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) || err == nil && f.format.isUnwritten(line, f.size, &lines):
			f.content = f.format.With(f.content, more...)
			return nil
		case errors.Is(err, chain.ErrLongLine):
			return Damaged(f.format.Noun, f.path, f.lines+1, err)
		case err != nil:
			return f.failed("read", err)
		}
		if f.size == 0 {
			f.sum, err = f.format.ReadHead(f.path, line)
		} else {
			var e *E
			e, f.sum, err = f.format.ReadEntry(f.path, f.lines+1, f.sum, line)
			more = append(more, e)
		}
		if err != nil {
			return err
		}
		f.lines, f.size = f.lines+1, lines.Offset()
	}
}

// Sector is what a disk writes as a whole, or not at all.
const Sector = 512

// FirstLine returns the first line of a ledger. The error is an [io.EOF] where there is no whole one.
func (t *Format[E, C]) FirstLine(from io.ReaderAt) ([]byte, error) {
	lines := chain.NewLines(from, chain.BoundsOfEnds, 0)
	line, err := lines.Next()
	if err == nil && t.isUnwritten(line, 0, &lines) {
		err = io.EOF
	}
	return line, err
}

// isUnwritten reports whether a line at an offset of a file is what a power failure has left of lines that were not
// synced: sectors that the disk did not get are zero as a whole. All that follows is unsynced too: before any other line
// than one that the disk may lose, all is synced. Windlass writes no zero byte into a line. It reads the other lines when
// there is one.
func (t *Format[E, C]) isUnwritten(line []byte, at int64, others *chain.Lines) bool {
	if bytes.IndexByte(line, 0) < 0 {
		return false
	}
	line = bytes.Clone(line) // others has the same buffer
	for len(line) > 0 {
		n := min(int64(len(line)), Sector-at%Sector)
		if part := line[:n]; bytes.IndexByte(part, 0) >= 0 && len(bytes.Trim(part, "\x00")) > 0 {
			return false
		}
		line, at = line[n:], at+n
	}
	for {
		other, err := others.Next()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if bytes.IndexByte(other, 0) < 0 && (t.Loses == nil || !t.Loses(other)) {
			return false
		}
	}
}

// Lock takes the lock of those who write. unlock gives it back.
func (f *File[E, C]) Lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, f.failed("make the folder of", err)
	}
	path := f.path + LockSuffix
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, f.failed("lock", &os.PathError{Op: "open", Path: path, Err: ErrNoFile})
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, lockEvery); err != nil || !ok {
		return nil, f.failed("lock", err)
	}
	return func() { _ = lock.Close() }, nil
}

// Append writes the entry that is decided on, knowing all that the ledger has, while nobody else writes; nil: nothing is
// written. When it returns without an error, what was written, and what was decided on, is on the disk: whoever wrote
// that may have died before. Only an entry that need not be durable may be lost with the machine. It also returns what
// was decided on.
func (f *File[E, C]) Append(ctx context.Context, decide func(C) (*E, error)) (*E, C, error) {
	unlock, err := f.Lock(ctx)
	if err != nil {
		return nil, f.format.None, err
	}
	defer unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	to, err := f.on.Open(f.path, os.O_RDWR)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return f.first(decide)
	case err != nil:
		return nil, f.format.None, f.failed("open", err)
	}
	defer to.Close() //nolint:errcheck // it is synced where that counts
	if err := f.follow(to); err != nil {
		return nil, f.format.None, err
	}
	before := f.content
	e, err := decide(before)
	if err != nil {
		return nil, before, err
	}
	if e == nil || f.durable(e) {
		if err := f.sync(to); err != nil {
			return nil, before, f.failed("sync", err)
		}
	}
	if e == nil {
		return nil, before, nil
	}
	if f.size > 0 && f.format.Anew != nil {
		if all := f.format.Anew(before, e); all != nil {
			_ = to.Close() // some systems put no file in the place of an open one
			f.forget()
			return e, before, f.Replace(all)
		}
	}
	return e, before, f.write(to, e)
}

// first is [File.Append] to a ledger that is not there: it is made when there is something to write, with its first entry at once,
// whenever the process may die.
func (f *File[E, C]) first(decide func(C) (*E, error)) (*E, C, error) {
	f.forget()
	none := f.content
	e, err := decide(none)
	if e == nil || err != nil {
		return nil, none, err
	}
	if err := f.Replace([]*E{e}); err != nil {
		return nil, none, err
	}
	f.syncFolders()
	return e, none, nil
}

func (f *File[E, C]) durable(e *E) bool { return f.format.Durable == nil || f.format.Durable(e) }

// sync makes the lines durable that others have left unsynced.
func (f *File[E, C]) sync(to Disk) error {
	if f.synced == f.size {
		return nil
	}
	if err := to.Sync(); err != nil {
		return err
	}
	f.synced = f.size
	return nil
}

// write appends an entry, and the head before it in a new ledger.
func (f *File[E, C]) write(to Disk, e *E) error {
	if f.size == 0 {
		if err := f.put(to, f.format.Head(e), true); err != nil {
			return err
		}
		f.syncFolders()
	}
	if err := f.put(to, e, f.durable(e)); err != nil {
		return err
	}
	f.content = f.format.With(f.content, e)
	return nil
}

// newFolders is how many folders may have a new name in them when a ledger is new: its own, that of all, the home.
const newFolders = 3

// syncFolders makes the names of a new ledger durable, and those of folders that were made for it.
func (f *File[E, C]) syncFolders() {
	for dir, n := filepath.Dir(f.path), 0; n < newFolders; dir, n = filepath.Dir(dir), n+1 {
		f.on.SyncDir(dir)
	}
}

// put appends a line. When it fails, what there is of the line is taken back where that can be helped.
func (f *File[E, C]) put(to Disk, value any, durable bool) error {
	line, sum, err := Sealed(value, f.sum)
	if err != nil {
		return f.failed("write", err)
	}
	size := f.size + int64(len(line))
	if err = f.cut(to); err == nil {
		_, err = to.WriteAt(line, f.size)
	}
	if err == nil && durable {
		err = to.Sync()
	}
	if err != nil {
		err = f.failed("write", err)
		_ = to.Truncate(f.size)
		f.forget()
		return err
	}
	if f.lines, f.sum, f.size = f.lines+1, sum, size; durable {
		f.synced = size
	}
	return nil
}

// cut takes away what a process that died has left of a line. It is gone from the disk before a line is written in its
// place: a power failure would leave a part of each.
func (f *File[E, C]) cut(to Disk) error {
	info, err := to.Stat()
	if err != nil || info.Size() == f.size {
		return err
	}
	if err := to.Truncate(f.size); err != nil {
		return err
	}
	return to.Sync()
}

// Rewrite writes the whole file anew, with the entries that are decided on, knowing all that the ledger has, while nobody else
// writes. Where the decision is an error, nothing is written.
func (f *File[E, C]) Rewrite(ctx context.Context, decide func(C) ([]*E, error)) error {
	unlock, err := f.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	content, err := f.Read()
	if err != nil {
		return err
	}
	entries, err := decide(content)
	if err != nil {
		return err
	}
	return f.Replace(entries)
}

// NewSuffix ends the name of the file that takes the place of a ledger's.
const NewSuffix = ".new"

// Replace writes the whole file anew, with these entries, and puts it in the place of the old one; whoever calls it has
// the lock. A process that has died here has left a part of the new file, which goes first.
func (f *File[E, C]) Replace(entries []*E) (err error) {
	path := f.path + NewSuffix
	if err := f.on.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return f.failed("write", err)
	}
	to, err := f.on.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return f.failed("write", err)
	}
	err = f.fill(to, entries)
	if err = errors.Join(err, to.Close()); err == nil {
		err = f.on.Rename(path, f.path)
	}
	if err != nil {
		_ = f.on.Remove(path)
		return f.failed("write", err)
	}
	f.on.SyncDir(filepath.Dir(f.path))
	return nil
}

// fill writes a head and entries into an empty file, and syncs it.
func (f *File[E, C]) fill(to Disk, entries []*E) error {
	lines := []any{f.format.Head(entries[0])}
	if f.format.HeadOf != nil {
		lines[0] = f.format.HeadOf(entries)
	}
	for _, e := range entries {
		lines = append(lines, e)
	}
	var sum chain.Sum
	var at int64
	for _, l := range lines {
		line, next, err := Sealed(l, sum)
		if err != nil {
			return err
		}
		if _, err := to.WriteAt(line, at); err != nil {
			return err
		}
		sum, at = next, at+int64(len(line))
	}
	return to.Sync()
}
