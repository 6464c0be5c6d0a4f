package ledger

import (
	"errors"
	"io"
	"os"
)

// Files are the operations by which this package changes a disk, besides locks and folders. Tests stop after any of
// them, or have one fail.
type Files interface {
	Open(path string, flags int) (Disk, error) // a file by itself, not by a link; with [os.O_CREATE] of the user alone
	Rename(from, to string) error
	Remove(path string) error
	SyncDir(path string) // makes the names in a folder durable, where the system has that
}

// Disk is a file, as far as this package uses it.
type Disk interface {
	io.ReaderAt
	io.WriterAt
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error // makes what was written durable
	Close() error
}

// OS are the files of the operating system.
type OS struct{}

// Open implements [Files].
func (OS) Open(path string, flags int) (Disk, error) {
	f, err := openOwn(path, flags)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename implements [Files].
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements [Files].
func (OS) Remove(path string) error { return os.Remove(path) }

// SyncDir implements [Files].
func (OS) SyncDir(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// ErrNoFile is in the place of a file: a link, a folder, a pipe, a device.
var ErrNoFile = errors.New("it is not a file of its own")

// openOwn opens a file that is no link and no device.
func openOwn(path string, flags int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: path, Err: ErrNoFile}
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	at, lerr := os.Lstat(path)
	is, serr := f.Stat()
	if err := errors.Join(lerr, serr); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !os.SameFile(at, is) {
		return nil, errors.Join(&os.PathError{Op: "open", Path: path, Err: ErrNoFile}, f.Close())
	}
	return f, nil
}
