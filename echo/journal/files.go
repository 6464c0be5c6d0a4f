package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// files are the operations by which this package changes a disk, besides locks. Tests record them,
// and cut the power between any two.
type files interface {
	Mkdir(path string) error                   // with its parents; whatever is there already is kept
	Create(path string) (disk, error)          // an empty file, of the user alone; [os.ErrExist]
	Open(path string, flags int) (disk, error) // a file that is there, by itself and not by a link
	Remove(path string) error
	SyncDir(path string) error // makes the names in a folder durable
}

// disk is a file, as far as this package writes it.
type disk interface {
	Write(b []byte) (int, error) // at the end
	WriteAt(b []byte, at int64) (int, error)
	Sync() error // makes what was written durable
	Truncate(size int64) error
	Close() error
}

// osFiles are the files of the operating system.
type osFiles struct{}

func (osFiles) Mkdir(path string) error { return os.MkdirAll(path, 0o700) }

func (osFiles) Create(path string) (disk, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return dataFile{f}, nil
}

func (osFiles) Open(path string, flags int) (disk, error) {
	f, err := openOwn(path, flags)
	if err != nil {
		return nil, err
	}
	return dataFile{f}, nil
}

func (osFiles) Remove(path string) error  { return os.Remove(path) }
func (osFiles) SyncDir(path string) error { return syncDir(path) }

// dataFile is a file that syncs its content and not its times. It may be closed while it is synced.
type dataFile struct{ *os.File }

func (f dataFile) Sync() error { return syncData(f.File) }

// makeFolder makes a folder that may be there already, with its parents. The names of those that
// were not there are durable when it returns.
func makeFolder(on files, dir string) error {
	var made []string
	for p := dir; ; p = filepath.Dir(p) {
		if _, err := os.Lstat(p); !errors.Is(err, os.ErrNotExist) || p == filepath.Dir(p) {
			break
		}
		made = append(made, p)
	}
	err := on.Mkdir(dir)
	for _, p := range made {
		if err == nil {
			err = on.SyncDir(filepath.Dir(p))
		}
	}
	return err
}

// makeSessionFolder makes the folder of a session.
func makeSessionFolder(on files, dir string) error {
	if err := makeFolder(on, dir); err != nil {
		return fmt.Errorf("make session folder: %w", err)
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() { // a link leads to where somebody else keeps something
		return fmt.Errorf("make session folder %s: %w, and is a link", dir, ErrExists)
	}
	return nil
}
