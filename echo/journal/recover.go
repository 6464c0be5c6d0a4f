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

	"github.com/windlass-run/windlass/echo/journal/chain"
)

// Recover restores the journals of sessions whose process, or whose machine, died before they were
// synced: it appends to each journal the lines of commit logs that continue its checksums, and
// then removes the logs. Logs of processes that live are left alone. It is to be called before
// anything reads sessions, costs next to nothing without such logs, and may be cut short at any
// point and be called again. Sessions that cannot be read stay as they are, and so do the logs that
// have something for them; what logs have of sessions that were removed is forgotten.
func (s *Store) Recover(ctx context.Context) error {
	logs, err := findLogs(s.folder)
	if err != nil {
		return err
	}
	if len(logs) == 0 {
		s.leave(nil)
		return nil
	}
	if err := requireOwn(s.folder, true); err != nil {
		return &CommitFolderError{Path: s.folder, Err: err}
	}
	gate, err := enter(ctx, s.folder)
	switch {
	case err != nil && ctx.Err() != nil:
		return waiting(ctx)
	case err != nil:
		return &CommitFolderError{Path: s.folder, Err: err}
	}
	r := recovery{store: s, lines: map[string][]loggedLine{}, needed: map[string]bool{}, busy: map[string]bool{}}
	err = r.run(ctx)
	if err == nil {
		s.leave(r.busy)
	}
	return errors.Join(err, gate.Close())
}

// recovery restores what the logs of dead processes have. It holds their locks, and the gate of the
// commit folder.
type recovery struct {
	store  *Store
	lines  map[string][]loggedLine // of each session, in the order of the logs
	needed map[string]bool         // the logs, by their paths, that have to stay
	busy   map[string]bool         // the sessions that somebody has
}

// loggedLine is a line of a journal as it is in a commit log.
type loggedLine struct {
	seq  uint64 // that it says
	text []byte // with its newline
	log  string // the path of the log
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
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := r.collect(log.path); err != nil && !errors.Is(err, os.ErrNotExist) { // its process has just ended well
			return fmt.Errorf("read commit log %s: %w", log.path, err)
		}
	}
	for session, lines := range r.lines {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		done, err := r.restore(session, lines)
		if err != nil {
			return fmt.Errorf("restore session %s from commit logs: %w", session, err)
		}
		for _, line := range lines {
			r.needed[line.log] = r.needed[line.log] || !done
		}
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
	return r.read(path, f)
}

func (r *recovery) read(path string, file io.ReaderAt) error {
	l := chain.NewLines(file, chain.BoundsOfAll, 0)
	for {
		line, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, chain.ErrLongLine):
			r.needed[path] = true // what follows it is not read
			return nil
		case err != nil:
			return err
		}
		r.add(path, line)
	}
}

// add takes a line that may be one of a journal.
func (r *recovery) add(path string, line []byte) {
	var of struct {
		SessionID string `json:"session_id"`
		Seq       uint64 `json:"seq"`
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return
	}
	if json.Unmarshal(line, &of) != nil {
		r.needed[path] = true // no power failure has left it: it is damage, for people to look at
		return
	}
	if !IsSessionID(of.SessionID) {
		return
	}
	r.lines[of.SessionID] = append(r.lines[of.SessionID], loggedLine{of.Seq, bytes.Clone(line), path})
}

// remove removes logs that are in the journals, and then their locks. A process that has just ended
// has removed its own.
func (r *recovery) remove(logs []foundLog, locks []*flock.Flock) error {
	for _, log := range logs {
		if r.needed[log.path] {
			continue
		}
		if err := r.store.on.Remove(log.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove commit log: %w", err)
		}
	}
	for _, lock := range locks {
		_ = os.Remove(lock.Path()) // nobody needs it, and the next recovery does not see it
	}
	return nil
}
