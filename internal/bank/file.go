package bank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/windlass-run/windlass/echo/journal/chain"
)

// lockEvery is how often a lock is tried that another process holds, for one line.
const lockEvery = 2 * time.Millisecond

// file is the file of one bank, with what was read of it. It is safe for concurrent use: mu guards all of it, and is held
// while the file is read or written.
type file struct {
	ref  Ref
	path string
	now  func() time.Time
	on   files

	mu      sync.Mutex
	history *History
	sum     chain.Sum // of the last line
	size    int64     // of the lines, in bytes; 0: not even a head
	synced  int64     // how much of that is known to be on the disk
}

// read returns what the bank has now. One that is not there has nothing.
func (f *file) read() (*History, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, err := f.on.Open(f.path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		f.forget()
		return f.history, nil
	}
	if err != nil {
		return nil, storage("open", f.path, err)
	}
	defer from.Close() //nolint:errcheck // only read from
	if err := f.follow(from); err != nil {
		return nil, err
	}
	return f.history, nil
}

// forget begins anew with what was read.
func (f *file) forget() {
	f.history, f.sum, f.size, f.synced = (&History{Ref: f.ref}).with(), chain.Sum{}, 0, 0
}

// follow reads on from where reading ended. What is no whole line yet is left: somebody writes it, or died.
func (f *file) follow(from disk) error {
	info, err := from.Stat()
	if err != nil {
		return storage("read", f.path, err)
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
// Forgetting, and people, put other files in the place of a bank's.
func (f *file) hasRead(from io.ReaderAt) bool {
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
func (f *file) readLines(lines chain.Lines) error {
	var more []*Entry
	for {
		number := len(f.history.Entries) + len(more) + 2
		if f.size == 0 {
			number = 1
		}
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) || err == nil && isUnwritten(line, f.size, &lines):
			f.history = f.history.with(more...)
			return nil
		case errors.Is(err, chain.ErrLongLine):
			return damaged(f.path, number, err)
		case err != nil:
			return storage("read", f.path, err)
		}
		if number == 1 {
			f.sum, err = readHead(f.path, f.ref, line)
		} else {
			var e *Entry
			e, f.sum, err = readEntry(f.path, number, f.sum, line)
			more = append(more, e)
		}
		if err != nil {
			return err
		}
		f.size = lines.Offset()
	}
}

// sector is what a disk writes as a whole, or not at all.
const sector = 512

// isUnwritten reports whether a line at an offset of a file is what a power failure has left of lines that were not
// synced: sectors that the disk did not get are zero as a whole. All that follows is unsynced too: before any other line
// than one of a view, all is synced. Windlass writes no zero byte into a line. It reads the other lines when there is one.
func isUnwritten(line []byte, at int64, others *chain.Lines) bool {
	if bytes.IndexByte(line, 0) < 0 {
		return false
	}
	line = bytes.Clone(line) // others has the same buffer
	for len(line) > 0 {
		n := min(int64(len(line)), sector-at%sector)
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
		if bytes.IndexByte(other, 0) < 0 && !bytes.Contains(other, []byte(`"command":"`+commandView+`"`)) {
			return false
		}
	}
}

// readEntry checks and reads a line of a number, which is that of its entry and one more.
func readEntry(path string, number int, before chain.Sum, line []byte) (*Entry, chain.Sum, error) {
	sum, err := before.Check(line)
	e := new(Entry)
	if err == nil {
		err = json.Unmarshal(object(line), e)
	}
	if err == nil {
		err = e.check(uint64(number - 1))
	}
	if err != nil {
		return nil, sum, damaged(path, number, err)
	}
	return e, sum, nil
}

// lock takes the lock of those who write. unlock gives it back.
func (f *file) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, storage("make the folder of", f.path, err)
	}
	path := f.path + lockSuffix
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, storage("lock", f.path, &os.PathError{Op: "open", Path: path, Err: errNoFile})
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, lockEvery); err != nil || !ok {
		return nil, storage("lock", f.path, err)
	}
	return func() { _ = lock.Close() }, nil
}

// decide says what is to be written, knowing all that the bank has; nil: nothing.
type decide func(*History) (*Entry, error)

// append writes the entry that is decided on while nobody else writes. When it returns without an error, what was
// written, and what was decided on, is on the disk: whoever wrote that may have died before. Only an entry of a view may
// be lost with the machine.
func (f *file) append(ctx context.Context, what decide) (*Entry, *History, error) {
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	to, err := f.on.Open(f.path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, nil, storage("open", f.path, err)
	}
	defer to.Close() //nolint:errcheck // it is synced where that counts
	if err := f.follow(to); err != nil {
		return nil, nil, err
	}
	before := f.history
	e, err := what(before)
	if err != nil {
		return nil, before, err
	}
	if e == nil || e.durable() {
		if err := f.sync(to); err != nil {
			return nil, before, storage("sync", f.path, err)
		}
	}
	if e == nil {
		return nil, before, nil
	}
	return e, before, f.write(to, e)
}

// sync makes the lines durable that others have left unsynced.
func (f *file) sync(to disk) error {
	if f.synced == f.size {
		return nil
	}
	if err := to.Sync(); err != nil {
		return err
	}
	f.synced = f.size
	return nil
}

// write appends an entry, and the head before it in a new bank.
func (f *file) write(to disk, e *Entry) error {
	if f.size == 0 {
		if err := f.put(to, head{FormatVersion, f.ref.Name, f.ref.Folder, e.At}, true); err != nil {
			return err
		}
		for dir, n := filepath.Dir(f.path), 0; n < newFolders; dir, n = filepath.Dir(dir), n+1 {
			f.on.SyncDir(dir)
		}
	}
	if err := f.put(to, e, e.durable()); err != nil {
		return err
	}
	f.history = f.history.with(e)
	return nil
}

// newFolders is how many folders may have a new name in them when a bank is new: its own, that of all banks, the home.
const newFolders = 3

// put appends a line. When it fails, what there is of the line is taken back where that can be helped.
func (f *file) put(to disk, value any, durable bool) error {
	line, sum, err := sealed(value, f.sum)
	if err != nil {
		return storage("write", f.path, err)
	}
	size := f.size + int64(len(line))
	if err = f.cut(to); err == nil {
		_, err = to.WriteAt(line, f.size)
	}
	if err == nil && durable {
		err = to.Sync()
	}
	if err != nil {
		err = storage("write", f.path, err)
		_ = to.Truncate(f.size)
		f.forget()
		return err
	}
	if f.sum, f.size = sum, size; durable {
		f.synced = size
	}
	return nil
}

// cut takes away what a process that died has left of a line. It is gone from the disk before a line is written in its
// place: a power failure would leave a part of each.
func (f *file) cut(to disk) error {
	info, err := to.Stat()
	if err != nil || info.Size() == f.size {
		return err
	}
	if err := to.Truncate(f.size); err != nil {
		return err
	}
	return to.Sync()
}

// seal gives versions their ids, and an entry its number and time.
func (f *file) seal(e *Entry, seq uint64) error {
	e.Seq, e.At = seq, f.now().UTC().Truncate(time.Microsecond)
	for i := range e.Versions {
		v := &e.Versions[i]
		id, err := idOf(*v, e.origin(v))
		if err != nil {
			return fmt.Errorf("write bank %s: %w", f.path, err)
		}
		v.ID = id
	}
	return nil
}
