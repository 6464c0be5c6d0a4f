package journal

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Owned is the folder of a session that the process owns without writing its journal: nobody else
// runs the session meanwhile.
type Owned struct {
	dir  string
	lock *flock.Flock
}

// Own takes ownership of the session in a folder. The error is [os.ErrNotExist] when the folder is
// not there, and [ErrBusy] when another process owns the session. Close or Remove ends it.
func Own(dir string) (*Owned, error) {
	if _, err := os.Lstat(dir); err != nil {
		return nil, err
	}
	lock, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	return &Owned{dir: dir, lock: lock}, nil
}

// Close gives the session back as it is.
func (o *Owned) Close() error { return o.lock.Close() }

// Remove removes the folder with all that is in it, the journal after everything but the lock: a
// removal that is cut short leaves a session, which can be removed again. Links are not followed.
func (o *Owned) Remove() error {
	names, err := os.ReadDir(o.dir)
	for _, n := range names {
		if n.Name() != File && n.Name() != lockFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(o.dir, n.Name())))
		}
	}
	if err != nil {
		return errors.Join(err, o.lock.Close())
	}
	if err := os.Remove(filepath.Join(o.dir, File)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, o.lock.Close())
	}
	// A process that takes the lock from here on finds no journal. Some systems remove no open file.
	return errors.Join(o.lock.Close(), os.RemoveAll(o.dir))
}
