package mailbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// leave gives a whole file its name, unless there is one of that name: then the error is [fs.ErrExist].
func (b Box) leave(file, name string) error {
	link := b.link
	if link == nil {
		link = os.Link
	}
	path := filepath.Join(b.Dir, name)
	err := link(file, path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist) && isSame(file, path): // a server was asked twice, and the first time did it
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if locked := b.rename(file, path); locked != nil {
		return errors.Join(locked, err)
	}
	return nil
}

func isSame(file, path string) bool {
	a, err := os.Lstat(file)
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// lockFile is the file that is locked where a file system has no hard links. It stays.
const lockFile = ".lock"

// rename does what leave does where the file system has no hard links: all that write to this mailbox find that, and
// rename one after the other.
func (b Box) rename(file, path string) error {
	lock := flock.New(filepath.Join(b.Dir, lockFile))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("the file system has no hard links, and its mailbox cannot be locked: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // the end of the process unlocks it, too
	switch _, err := os.Lstat(path); {
	case err == nil:
		return &fs.PathError{Op: "leave", Path: path, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.Rename(file, path)
}
