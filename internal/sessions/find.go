package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/windlass-run/windlass/echo/journal"
)

// Found is a session's folder that was not looked at yet.
type Found struct {
	ID  string
	Dir string
	// StartedAt is when the session began, as its journal says without being checked; zero when it
	// does not say it. What [Look] finds may only be that, or no time.
	StartedAt time.Time
	ChildOf   string // the session that has begun it, "" when none has; not checked either
}

// All looks at every session below a folder, in the order of their ids. The error says why the
// folder itself cannot be read; it may not exist. What is wrong with one session is in that
// session's Err.
func All(folder string) ([]*Session, error) {
	dirs, err := list(folder)
	if err != nil {
		return nil, err
	}
	return each(dirs, func(dir string) *Session {
		s, err := Look(dir)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return s
	}), nil
}

// Find returns the sessions that [All] looks at, in the order of their ids, for a fraction of that.
func Find(folder string) ([]*Found, error) {
	dirs, err := list(folder)
	if err != nil {
		return nil, err
	}
	return each(dirs, func(dir string) *Found {
		seen, _, err := journal.Glance(filepath.Join(dir, journal.File))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		id := filepath.Base(dir)
		return &Found{ID: id, Dir: dir, StartedAt: began(id, seen.StartedAt), ChildOf: seen.ChildOf}
	}), nil
}

// list returns the folders that may be sessions.
func list(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions on this machine: %w", err)
	}
	dirs := make([]string, 0, len(entries))
	for _, e := range entries {
		if dir := filepath.Join(folder, e.Name()); e.IsDir() || leadsToJournal(dir, e) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// leadsToJournal reports whether a link leads to a session's folder, which is no session.
func leadsToJournal(dir string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return false
	}
	_, err := os.Lstat(filepath.Join(dir, journal.File))
	return err == nil
}

// each returns what of makes of each of the folders, in their order, without what is nil.
func each[T any](dirs []string, of func(dir string) *T) []*T {
	made := make([]*T, len(dirs))
	at := make([]int, len(dirs))
	for i := range at {
		at[i] = i
	}
	Each(at, func(i int) { made[i] = of(dirs[i]) })
	return slices.DeleteFunc(made, func(t *T) bool { return t == nil })
}

// Each does something for each of a list, as many at once as there are processors: what is read of
// sessions is mostly system calls that do not wait.
func Each[T any](list []T, do func(T)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				do(list[i])
			}
		})
	}
	workers.Wait()
}
