package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/windlass-run/windlass/echo/journal/chain"
)

// ErrExists is returned when a new session is to be made where there is one.
var ErrExists = errors.New("the session exists already")

// Create makes the folder dir, which has the id of the session as its name, and a journal in it
// that starts with h, and takes ownership of the session. It sets the version of h; the rules must
// be there. It fails with [ErrExists] when dir has a journal already, of whatever version; a file
// without a whole line is none, as its process died before the session had begun. Nothing is left
// behind on failure.
func Create(dir string, h Header) (*Journal, error) {
	return maker{on: osFiles{}}.create(dir, h)
}

// maker makes and opens journals.
type maker struct {
	on      files
	commits *committer // that syncs them; nil: each has its own
}

func (m maker) create(dir string, h Header) (*Journal, error) {
	h.Version = Version
	path := filepath.Join(dir, File)
	if err := cmp.Or(h.check(), checkFolder(folderOf(path), &h)); err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode journal header: %w", err)
	}
	if err := chain.CheckLength(len(head)); err != nil {
		return nil, fmt.Errorf("create journal: the header: %w", err)
	}
	changed, err := makeSessionFolder(m.on, dir)
	if err != nil {
		return nil, err
	}
	if err := requireFree(path); err != nil { // before there is a lock file
		return nil, err
	}
	lock, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	f, err := m.createFile(path)
	if err != nil {
		if !errors.Is(err, ErrExists) {
			m.clear(dir)
		}
		return nil, errors.Join(err, lock.Close())
	}
	j := m.start(path, h.SessionID, f, lock)
	if err := j.begin(head); err != nil {
		return nil, errors.Join(err, j.discard(m, dir))
	}
	if len(changed) == 0 { // of a process that died before the folder's name was durable, perhaps
		changed = []string{filepath.Dir(dir)}
	}
	// After the file, whose sync makes the names durable, too, on most file systems.
	if err := syncFolders(m.on, append([]string{dir}, changed...)); err != nil {
		return nil, errors.Join(fmt.Errorf("sync session folder: %w", err), j.discard(m, dir))
	}
	return j, nil
}

// begin writes the header, durably: a recovery needs one, so the commit log alone would not do.
func (j *Journal) begin(head []byte) error {
	j.mu.Lock()
	j.line(head)
	j.flush()
	err := j.err
	j.mu.Unlock()
	if err == nil {
		_ = j.syncFile() // the journal keeps its error
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err // also that of a commit log, which fails every journal
}

// makeSessionFolder makes the folder of a session, see [makeFolder].
func makeSessionFolder(on files, dir string) (changed []string, err error) {
	if changed, err = makeFolder(on, dir); err != nil {
		return nil, fmt.Errorf("make session folder: %w", err)
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() { // a link leads to where somebody else keeps something
		return nil, fmt.Errorf("make session folder %s: %w, and is a link", dir, ErrExists)
	}
	return changed, nil
}

// requireFree returns an error when there is a journal of another version at path.
func requireFree(path string) error {
	err := requireVersion(path)
	var version *VersionError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case errors.As(err, &version):
		return fmt.Errorf("%w: %w", ErrExists, err)
	}
	return err
}

// createFile makes an empty file for a journal. The caller owns the session.
func (m maker) createFile(path string) (disk, error) {
	f, err := m.on.Create(path)
	if errors.Is(err, os.ErrExist) {
		if begun, readErr := hasLine(path); readErr != nil || begun {
			return nil, errors.Join(fmt.Errorf("create journal %s: %w", path, ErrExists), readErr)
		}
		if f, err = m.on.Open(path, os.O_WRONLY|os.O_APPEND); err == nil {
			if err = f.Truncate(0); err != nil {
				err = errors.Join(err, f.Close())
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	return journalFile{f, m.on, path}, nil
}

// hasLine reports whether a file begins with a whole line.
func hasLine(path string) (bool, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read from
	l := chain.NewLines(f, chain.BoundsOfEnds, 0)
	_, err = l.Next()
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case errors.Is(err, chain.ErrLongLine):
		return true, nil
	}
	return err == nil, err
}

// discard takes back a journal that could not be begun, and the folder when nothing else is in it.
// The session is given up last: another process may want its id.
func (j *Journal) discard(m maker, dir string) error {
	lock := j.lock
	j.lock = nil
	_ = j.Close(context.Background()) // its error is what made the journal fail, which the caller has
	err := m.on.Remove(j.path)
	m.clear(dir)
	return errors.Join(err, lock.Close())
}

// clear removes the lock of a session that could not be begun, and the folder when nothing else is
// in it. The caller has the lock.
func (m maker) clear(dir string) {
	_ = os.Remove(filepath.Join(dir, lockFile))
	_ = m.on.Remove(dir) // fails when it is not empty, as it should
}

// Remove removes the journal of a session in the folder dir. Nobody may own the session.
func Remove(dir string) error {
	var errs []error
	for _, name := range []string{File, lockFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
