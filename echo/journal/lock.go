package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockFile is the file of a session's folder that the owner of the session holds a lock of.
const lockFile = "lock"

// ErrBusy is returned when another process owns the session.
var ErrBusy = errors.New("the session is in use by another process")

// lockLimit is how long another process may own the session before it counts as in use. Who only
// asks about it has a share of the lock, for microseconds or, on a machine with much to do, longer:
// that is waited for until askLimit.
const (
	lockLimit = 100 * time.Millisecond
	askLimit  = 10 * time.Second
)

// lockTries bounds how often a lock may turn out to be of a session that was removed meanwhile.
const lockTries = 20

// acquire takes ownership of the session in a folder.
func acquire(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockFile)
	for tries := 1; ; tries++ {
		if err := requireRegular(path); err != nil {
			return nil, fmt.Errorf("lock session: %w", err)
		}
		lock := flock.New(path, flock.SetPermissions(0o600))
		ok, err := takeLock(lock, dir)
		if err != nil {
			return nil, fmt.Errorf("lock session: %w", err)
		}
		if !ok {
			return nil, fmt.Errorf("lock session %s: %w", filepath.Base(dir), ErrBusy)
		}
		if tries == lockTries || isAt(lock, path) { // some file systems tell files apart badly
			return lock, nil
		}
		if err := lock.Close(); err != nil {
			return nil, fmt.Errorf("lock session: %w", err)
		}
	}
}

// takeLock takes the lock of the session in a folder, unless a process owns it.
func takeLock(lock *flock.Flock, dir string) (bool, error) {
	began := time.Now()
	for owned := began; ; time.Sleep(lockLimit / 20) { // owned: since when it may be
		if ok, err := lock.TryLock(); ok || err != nil {
			return ok, err
		}
		busy, err := Busy(dir)
		if err != nil {
			return false, err
		}
		now := time.Now()
		if !busy {
			owned = now
		}
		if now.Sub(owned) >= lockLimit || now.Sub(began) >= askLimit {
			return false, nil
		}
	}
}

// isAt reports whether a locked file is still the one at its path. Who removes a session removes its
// lock, too: then another process may have a lock of that name.
func isAt(lock *flock.Flock, path string) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && os.SameFile(locked, info)
}

// Busy reports whether a process owns the session in a folder. It changes nothing there. It asks
// for a share of the lock, which others who ask do not notice; a process that takes ownership at
// the same time waits for it.
func Busy(dir string) (bool, error) {
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetFlag(os.O_RDONLY|nonblock))
	free, err := lock.TryRLock()
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // a journal that was copied here
	}
	if err != nil {
		return false, fmt.Errorf("look at the lock of session %s: %w", filepath.Base(dir), err)
	}
	if free {
		return false, lock.Close()
	}
	return true, nil
}
