package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
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

// makeFolder makes a folder that may be there already, with its parents. It returns the folders that
// have new names in them, which syncFolders makes durable.
func makeFolder(on files, dir string) (changed []string, err error) {
	for p := dir; p != filepath.Dir(p); p = filepath.Dir(p) {
		if _, err := os.Lstat(p); !errors.Is(err, os.ErrNotExist) {
			break
		}
		changed = append(changed, filepath.Dir(p))
	}
	return changed, on.Mkdir(dir)
}

// syncFolders syncs folders, at once: together that takes no longer than one.
func syncFolders(on files, changed []string) error {
	var syncs errgroup.Group
	for _, dir := range changed {
		syncs.Go(func() error { return on.SyncDir(dir) })
	}
	return syncs.Wait()
}

// makeDurable makes a folder, and its name durable. One that is there and has nothing in it may be of
// a process that died before it had done so.
func makeDurable(on files, dir string) error {
	changed, err := makeFolder(on, dir)
	if err != nil {
		return err
	}
	if len(changed) == 0 && isEmpty(dir) {
		changed = []string{filepath.Dir(dir)}
	}
	return syncFolders(on, changed)
}

func isEmpty(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close() //nolint:errcheck // only read from
	_, err = d.Readdirnames(1)
	return errors.Is(err, io.EOF)
}
