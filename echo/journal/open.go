package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Open takes ownership of a session and returns its journal, to append to, with what is in it. The
// rest of a line that a crash cut off is removed; so is what follows the first line with zeros in
// place of what a disk did not get before its power failed, which a file beside the journal keeps.
// The error is [os.ErrNotExist] without a journal, [ErrBusy] when another process owns the session,
// a [*DamageError] or a [*VersionError]; then nothing is changed.
func Open(dir string) (*Journal, *Recording, error) { return maker{on: osFiles{}}.open(dir) }

func (m maker) open(dir string) (*Journal, *Recording, error) {
	path := filepath.Join(dir, File)
	if err := requireVersion(path); err != nil { // before there is a lock file
		return nil, nil, err
	}
	lock, err := acquire(dir)
	if err != nil {
		return nil, nil, err
	}
	j, rec, err := m.openOwned(path)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	j.lock = lock
	return j, rec, nil
}

func (m maker) openOwned(path string) (*Journal, *Recording, error) {
	d, err := m.on.Open(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	f := journalFile{d, m.on, path}
	rec, err := m.repair(path, f)
	if err == nil {
		err = f.Sync() // what was read is depended on from here
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	j := m.start(path, rec.Header.SessionID, f, nil)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sum, j.size = rec.sum, rec.size
	j.written = uint64(len(rec.Entries)) + 1
	j.flushed, j.wanted, j.durable, j.syncs = j.written, j.written, j.written, 1
	return j, rec, nil
}

// repair reads a journal and cuts off what a crash left of lines that nobody relies on: the rest of
// a torn line, and what is from the first line on that has zeros where the disk did not get it. The
// latter is kept beside the journal: a disk that loses blocks later looks the same.
func (m maker) repair(path string, f disk) (*Recording, error) {
	rec, err := Read(path)
	var damage *DamageError
	if errors.As(err, &damage) {
		if err := m.cutUnwritten(path, f); err != nil {
			return nil, err
		}
		rec, err = Read(path)
	}
	if err == nil && rec.Torn {
		err = cut(path, f, rec.size)
	}
	return rec, err
}

// cutUnwritten cuts off what the disk did not get, if that is what is wrong with a journal.
func (m maker) cutUnwritten(path string, f disk) error {
	end, err := soundEnd(path, 0)
	if err != nil || end == nil || !end.unwritten {
		return err
	}
	if err := m.setAside(lost{path: path, from: end.size, tail: end.whole - end.size}); err != nil {
		return fmt.Errorf("keep the lost end of journal %s: %w", path, err)
	}
	return cut(path, f, end.size)
}

func cut(path string, f disk, size int64) error {
	if err := f.Truncate(size); err != nil {
		return fmt.Errorf("cut the torn end of journal %s off: %w", path, err)
	}
	return nil
}
