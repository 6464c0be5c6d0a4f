package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Open takes ownership of a session that there is, reads its journal, and returns both: what is in it, and the
// journal to go on writing it. The rest of a line that a crash cut off is removed. Without a journal in dir the error is
// [os.ErrNotExist]; when another process owns the session it is [ErrBusy]; damage is a [*DamageError], and
// then nothing is changed.
func Open(dir string) (*Journal, *Recording, error) {
	path := filepath.Join(dir, File)
	if _, err := os.Stat(path); err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
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
	if rec.Header.Version < Version {
		return nil, nil, fmt.Errorf("journal %s has format version %d: this windlass reads it and goes on with none but version %d",
			path, rec.Header.Version, Version)
	}
	f, err := openRegular(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	if rec.Torn {
		if err := f.Truncate(rec.size); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("cut the torn end of journal %s off: %w", path, err), f.Close())
		}
	}
	j := start(path, dataFile{f}, nil)
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
