package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Open takes ownership of a session and returns its journal, to append to, with what is in it. The
// rest of a line that a crash cut off is removed. The error is [os.ErrNotExist] without a journal,
// [ErrBusy] when another process owns the session, a [*DamageError] or a [*VersionError]; then
// nothing is changed.
func Open(dir string) (*Journal, *Recording, error) {
	path := filepath.Join(dir, File)
	if err := requireVersion(path); err != nil { // before there is a lock file
		return nil, nil, err
	}
	lock, err := acquire(dir)
	if err != nil {
		return nil, nil, err
	}
	j, rec, err := openOwned(path)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	j.lock = lock
	return j, rec, nil
}

func openOwned(path string) (*Journal, *Recording, error) {
	rec, err := Read(path)
	if err != nil {
		return nil, nil, err
	}
	f, err := openOwn(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	if rec.Torn {
		if err := f.Truncate(rec.size); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("cut the torn end of journal %s off: %w", path, err), f.Close())
		}
	}
	j := start(path, rec.Header.SessionID, dataFile{f}, nil)
	j.mu.Lock()
	j.sum, j.size = rec.sum, rec.size
	j.written = uint64(len(rec.Entries)) + 1
	j.flushed = j.written
	j.mu.Unlock()
	if err := j.Wait(context.Background()); err != nil { // what was read is depended on from here
		return nil, nil, errors.Join(err, j.Close(context.Background()))
	}
	return j, rec, nil
}
