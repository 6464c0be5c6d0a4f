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

	mu      sync.Mutex
	info    os.FileInfo // of what was read; nil: nothing
	history *History
	sum     chain.Sum // of the last line
	size    int64     // of the lines, in bytes; 0: not even a head
}

// read returns what the bank has now. One that is not there has nothing.
func (f *file) read() (*History, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, err := openOwn(f.path, os.O_RDONLY)
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
	f.info, f.history, f.sum, f.size = nil, (&History{Ref: f.ref}).with(), chain.Sum{}, 0
}

// follow reads on from where reading ended. What is no whole line yet is left: somebody writes it, or died.
func (f *file) follow(from *os.File) error {
	info, err := from.Stat()
	if err != nil {
		return storage("read", f.path, err)
	}
	if f.info == nil || !os.SameFile(f.info, info) || info.Size() < f.size {
		f.forget()
	}
	if f.info = info; info.Size() == f.size {
		return nil
	}
	if err := f.readLines(chain.NewLines(from, chain.BoundsOfAll, f.size)); err != nil {
		f.forget()
		return err
	}
	return nil
}

// readLines takes all whole lines. A line with zeros is what the disk did not get before a power failure.
func (f *file) readLines(lines chain.Lines) error {
	var more []*Entry
	for {
		number := len(f.history.Entries) + len(more) + 2
		if f.size == 0 {
			number = 1
		}
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) || err == nil && bytes.IndexByte(line, 0) >= 0:
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

// append writes the entry that is decided on while nobody else writes. What was written is on the disk when it returns,
// if the entry has versions; before, nobody is given them.
func (f *file) append(ctx context.Context, what decide) (*Entry, *History, error) {
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	to, err := openOwn(f.path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, nil, storage("open", f.path, err)
	}
	defer to.Close() //nolint:errcheck // it is synced where that counts
	if err := f.follow(to); err != nil {
		return nil, nil, err
	}
	before := f.history
	e, err := what(before)
	if e == nil || err != nil {
		return nil, before, err
	}
	return e, before, f.write(to, e)
}

// write appends an entry, and the head before it in a new bank. What a process that died has left of a line goes.
func (f *file) write(to *os.File, e *Entry) error {
	var text []byte
	sum := f.sum
	if f.size == 0 {
		line, next, err := sealed(head{FormatVersion, f.ref.Name, f.ref.Folder, e.At}, sum)
		if err != nil {
			return storage("write", f.path, err)
		}
		text, sum = line, next
	}
	line, sum, err := sealed(e, sum)
	if err != nil {
		return storage("write", f.path, err)
	}
	text = append(text, line...)
	if err := f.put(to, text, len(e.Versions) > 0); err != nil {
		_ = to.Truncate(f.size) // no half line is left where that can be helped
		f.forget()
		return storage("write", f.path, err)
	}
	if f.size == 0 {
		syncFolder(filepath.Dir(f.path))
	}
	f.history, f.sum, f.size = f.history.with(e), sum, f.size+int64(len(text))
	f.info, err = to.Stat()
	if err != nil {
		return storage("read", f.path, err)
	}
	return nil
}

func (f *file) put(to *os.File, text []byte, durable bool) error {
	if err := to.Truncate(f.size); err != nil {
		return err
	}
	if _, err := to.WriteAt(text, f.size); err != nil {
		return err
	}
	if !durable {
		return nil
	}
	return to.Sync()
}

// syncFolder makes the name of a new file durable, where the system has that.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
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

// folderOf returns the project folder that the head of a bank's file names.
func folderOf(path string) (string, error) {
	from, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return "", storage("open", path, err)
	}
	defer from.Close() //nolint:errcheck // only read from
	lines := chain.NewLines(from, chain.BoundsOfEnds, 0)
	var h head
	line, err := lines.Next()
	if err == nil {
		err = json.Unmarshal(object(line), &h)
	}
	if err != nil {
		return "", damaged(path, 1, err)
	}
	return h.Folder, nil
}
