package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/gofrs/flock"
)

// Recover restores the journals of sessions whose process, or whose machine, died before they were
// synced: it appends to each journal the lines of commit logs that continue its checksums, and
// then removes the logs. Logs of processes that live are left alone. It is to be called before
// anything reads sessions, costs next to nothing without such logs, and may be cut short at any
// point and be called again. Sessions that cannot be read, or are not there, stay as they are.
func (s *Store) Recover(ctx context.Context) error {
	logs, err := findLogs(s.folder)
	if err != nil || len(logs) == 0 {
		return err
	}
	if err := requireOwn(s.folder, true); err != nil {
		return &CommitFolderError{Path: s.folder, Err: err}
	}
	gate, err := enter(ctx, s.folder)
	if err != nil {
		return &CommitFolderError{Path: s.folder, Err: err}
	}
	r := recovery{store: s, lines: map[string][]loggedLine{}}
	err = r.run(ctx)
	return errors.Join(err, gate.Close())
}

// recovery restores what the logs of dead processes have. It holds their locks, and the gate of the
// commit folder.
type recovery struct {
	store *Store
	lines map[string][]loggedLine // of each session, in the order of the logs
	busy  bool                    // somebody has one of the sessions
}

// loggedLine is a line of a journal as it is in a commit log.
type loggedLine struct {
	seq  uint64 // that it says
	text []byte // with its newline
}

// foundLog is a file of a commit folder that is named as a commit log.
type foundLog struct {
	path   string
	owner  string // the id of the process
	number int
}

var logNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{16})-([0-9]{1,9})\.log$`) })

// findLogs returns the commit logs of a folder, which need not be there, in their order.
func findLogs(folder string) ([]foundLog, error) {
	names, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoFolder) {
		return nil, nil // who makes it finds out what is in the way
	}
	if err != nil {
		return nil, &CommitFolderError{Path: folder, Err: err}
	}
	var logs []foundLog
	for _, name := range names {
		if m := logNames().FindStringSubmatch(name.Name()); m != nil {
			n, _ := strconv.Atoi(m[2]) // nine digits
			logs = append(logs, foundLog{filepath.Join(folder, name.Name()), m[1], n})
		}
	}
	slices.SortFunc(logs, func(a, b foundLog) int {
		return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.number, b.number))
	})
	return logs, nil
}

func (r *recovery) run(ctx context.Context) error {
	logs, err := findLogs(r.store.folder) // again: who was before us at the gate has removed some
	if err != nil {
		return err
	}
	dead, locks, err := lockDead(logs, r.store.folder)
	defer func() {
		for _, lock := range locks {
			_ = lock.Close()
		}
	}()
	if err != nil {
		return err
	}
	for _, log := range dead {
		if err := r.collect(log.path); err != nil && !errors.Is(err, os.ErrNotExist) { // its process has just ended well
			return fmt.Errorf("read commit log %s: %w", log.path, err)
		}
	}
	for session, lines := range r.lines {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := r.restore(session, lines); err != nil {
			return fmt.Errorf("restore session %s from commit logs: %w", session, err)
		}
	}
	if r.busy {
		return nil
	}
	return r.remove(dead, locks)
}

// lockDead returns the logs that no process holds, and their locks, which are held now.
func lockDead(logs []foundLog, folder string) (dead []foundLog, locks []*flock.Flock, err error) {
	free := map[string]bool{}
	for _, log := range logs {
		ours, known := free[log.owner]
		if !known {
			path := filepath.Join(folder, log.owner+lockSuffix)
			if err := requireRegular(path); err != nil {
				return nil, locks, err
			}
			lock := flock.New(path, flock.SetPermissions(0o600))
			if ours, err = lock.TryLock(); err != nil {
				return nil, locks, fmt.Errorf("lock commit log %s: %w", log.path, err)
			}
			if ours {
				locks = append(locks, lock)
			}
			free[log.owner] = ours
		}
		if ours {
			dead = append(dead, log)
		}
	}
	return dead, locks, nil
}

// collect takes the lines of a log. What the disk did not get of a write that was not synced is
// passed over: nobody relies on it.
func (r *recovery) collect(path string) error {
	if err := requireOwn(path, false); err != nil {
		return err
	}
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read from
	return r.read(f)
}

func (r *recovery) read(file io.ReaderAt) error {
	l := lines{bounds: boundsOfAll, file: file}
	for {
		line, err := l.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errLongLine):
			return nil
		case err != nil:
			return err
		}
		r.add(line)
	}
}

// add takes a line that may be one of a journal.
func (r *recovery) add(line []byte) {
	var of struct {
		SessionID string `json:"session_id"`
		Seq       uint64 `json:"seq"`
	}
	if bytes.IndexByte(line, 0) >= 0 || json.Unmarshal(line, &of) != nil || !IsSessionID(of.SessionID) {
		return
	}
	r.lines[of.SessionID] = append(r.lines[of.SessionID], loggedLine{of.Seq, bytes.Clone(line)})
}

// remove removes logs that are in the journals, and then their locks.
func (r *recovery) remove(logs []foundLog, locks []*flock.Flock) error {
	for _, log := range logs {
		if err := r.store.on.Remove(log.path); err != nil {
			return fmt.Errorf("remove commit log: %w", err)
		}
	}
	for _, lock := range locks {
		_ = os.Remove(lock.Path()) // nobody needs it, and the next recovery does not see it
	}
	return nil
}

// restore appends to the journal of a session what continues it, and syncs it.
func (r *recovery) restore(session string, lines []loggedLine) error {
	dir := filepath.Join(r.store.sessions, session)
	path := filepath.Join(dir, File)
	if err := requireVersion(path); err != nil {
		if errors.Is(err, os.ErrNotExist) || IsUnreadable(err) || errors.Is(err, errLink) {
			return nil // it was removed, or is none of ours
		}
		return err
	}
	lock, err := acquire(dir)
	if errors.Is(err, ErrBusy) {
		r.busy = true
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(r.restoreOwned(path, lines), lock.Close())
}

func (r *recovery) restoreOwned(path string, lines []loggedLine) (err error) {
	end, err := soundEnd(path)
	if err != nil || end == nil || end.damaged {
		return err
	}
	f, err := r.store.on.Open(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	missing := end.continued(lines)
	if len(missing) > 0 || end.unwritten {
		if err := cut(path, f, end.size); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		if _, err := f.Write(missing); err != nil {
			return errors.Join(err, f.Truncate(end.size))
		}
	}
	return f.Sync()
}

// journalEnd is how far a journal is sound.
type journalEnd struct {
	session   string
	sum       lineSum // of its last sound line
	seq       uint64  // of the entry there
	size      int64   // of the sound lines
	unwritten bool    // what follows is what the disk did not get
	damaged   bool    // what follows was changed, which is for people to look at
}

// soundEnd reads a journal to its end, or to where it is damaged; nil when nothing of it is sound.
func soundEnd(path string) (*journalEnd, error) {
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	t := newTail(path, folderOf(path), f, boundsOfAll)
	if err := t.readHeader(); err != nil {
		if errors.Is(err, io.EOF) || IsUnreadable(err) {
			err = nil
		}
		return nil, err
	}
	end := &journalEnd{session: t.header.SessionID}
	for {
		end.sum, end.seq, end.size = t.sum, t.seq, t.lines.offset
		_, err := t.Next()
		var damage *DamageError
		switch {
		case err == nil:
			continue
		case errors.As(err, &damage):
			end.unwritten = hasZeros(f, end.size)
			end.damaged = !end.unwritten
		case !errors.Is(err, io.EOF):
			return nil, err
		}
		return end, nil
	}
}

// continued returns the lines, one after the other, that continue the journal.
func (e *journalEnd) continued(lines []loggedLine) (text []byte) {
	slices.SortStableFunc(lines, func(a, b loggedLine) int { return cmp.Compare(a.seq, b.seq) })
	sum, seq := e.sum, e.seq
	for _, line := range lines {
		if line.seq != seq+1 {
			continue
		}
		next, err := sum.check(line.text)
		if err != nil {
			continue
		}
		entry, err := decodeEntry(line.text, e.session)
		if err != nil || checkSeq(entry, seq+1) != nil {
			continue
		}
		text = append(text, line.text...)
		sum, seq = next, seq+1
	}
	return text
}
