package bank

import (
	"errors"
	"io"
	"os"
)

// files are the operations by which this package changes a disk, besides locks and folders. Tests stop after any of
// them, or have one fail.
type files interface {
	Open(path string, flags int) (disk, error) // a file by itself, not by a link; with [os.O_CREATE] of the user alone
	Rename(from, to string) error
	Remove(path string) error
	SyncDir(path string) // makes the names in a folder durable, where the system has that
}

// disk is a file, as far as this package uses it.
type disk interface {
	io.ReaderAt
	io.WriterAt
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error // makes what was written durable
	Close() error
}

// osFiles are the files of the operating system.
type osFiles struct{}

func (osFiles) Open(path string, flags int) (disk, error) {
	f, err := openOwn(path, flags)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osFiles) Rename(from, to string) error { return os.Rename(from, to) }
func (osFiles) Remove(path string) error     { return os.Remove(path) }

func (osFiles) SyncDir(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

var errNoFile = errors.New("it is not a file of its own")

// openOwn opens a file that is no link and no device.
func openOwn(path string, flags int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: path, Err: errNoFile}
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
		return nil, errors.Join(&os.PathError{Op: "open", Path: path, Err: errNoFile}, f.Close())
	}
	return f, nil
}
