// Package memofile keeps memos: one file for each project folder, and one for the global memos, of lines with checksums
// that are only ever added:
//
//	memos/global.memos      for every project
//	memos/FOLDER.memos      for one project folder, by the hash of its path
//
// Any process may read and write at any time ([ledger]). Every version of a memo stays, but for the texts that a person
// has forgotten.
package memofile

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/ledger"
)

const suffix = ".memos"

// Store has the memos of a home, as runs in a project folder see them. It implements [memo.Keeper] and is safe for
// concurrent use, also by other processes.
type Store struct {
	home   string
	folder string
	now    func() time.Time
	began  int64 // of the session that uses it, in microseconds of Unix time; 0: not known
	on     ledger.Files

	mu    sync.Mutex // guards files
	files map[string]*file
}

// Open returns the memos of a home. Nothing is read or made yet. now may be nil.
func Open(home, folder string, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{home: home, folder: folder, now: now, on: ledger.OS{}, files: map[string]*file{}}
}

// For says when the session began that uses the store. It is called before that does, and returns the store.
func (s *Store) For(began time.Time) *Store {
	s.began = began.UnixMicro()
	return s
}

// Clock returns the time, as the store has it.
func (s *Store) Clock() time.Time { return s.now() }

// resolved returns the one path of the project folder, whatever way leads to it.
func (s *Store) resolved() (string, error) {
	folder, err := filepath.Abs(s.folder)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return "", fmt.Errorf("find the project folder of the memos: %w", err)
	}
	return folder, nil
}

// projectOf returns a project folder in short: 16 hexadecimal digits.
func projectOf(folder string) string { return string(echo.TextHash([]byte(folder))) }

// file returns the file of a scope.
func (s *Store) file(scope string) (*file, error) {
	if scope == memo.Global {
		return s.at(""), nil
	}
	folder, err := s.resolved()
	if err != nil {
		return nil, err
	}
	return s.at(folder), nil
}

// at returns the file of a project folder; "": that of the global memos.
func (s *Store) at(folder string) *file {
	name := memo.Global
	if folder != "" {
		name = projectOf(folder)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[name]
	if f == nil {
		scope := memo.Project
		if folder == "" {
			scope = memo.Global
		}
		f = newFile(scope, folder, filepath.Join(config.MemosDir(s.home), name+suffix), s.now, s.on)
		s.files[name] = f
	}
	return f
}

// Read returns all that a scope has; nothing when it is not there.
func (s *Store) Read(scope string) (*History, error) {
	f, err := s.file(scope)
	if err != nil {
		return nil, err
	}
	return f.Read()
}

// both returns what both scopes have, by the scope, and the files.
func (s *Store) both() (map[string]*History, map[string]*file, error) {
	all, files := map[string]*History{}, map[string]*file{}
	for _, scope := range memo.Scopes() {
		f, err := s.file(scope)
		if err != nil {
			return nil, nil, err
		}
		if all[scope], err = f.Read(); err != nil {
			return nil, nil, err
		}
		files[scope] = f
	}
	return all, files, nil
}

// Start implements [memo.Keeper]. Each file notes the session, so that it can say which memos no run is told of any more.
func (s *Store) Start(ctx context.Context, session string) (*echo.MemosStart, error) {
	by := memo.Writer{Session: session, Began: s.began}
	out := &echo.MemosStart{}
	at := map[string]uint64{}
	for _, scope := range memo.Scopes() {
		f, err := s.file(scope)
		if err != nil {
			return nil, err
		}
		h, err := f.open(ctx, by)
		if err != nil {
			return nil, err
		}
		at[scope] = h.Last()
		out.Memos += len(h.Now())
		out.Project = cmp.Or(out.Project, f.project())
	}
	out.At, out.Global = at[memo.Project], at[memo.Global]
	return out, nil
}

// open notes that a session begins, once, and returns what the file had then.
func (f *file) open(ctx context.Context, by memo.Writer) (*History, error) {
	e, h, err := f.Append(ctx, func(h *History) (*Entry, error) {
		if h.opened(by) > 0 {
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		e := &Entry{By: by, Command: commandOpen}
		return e, f.seal(h, e)
	})
	switch {
	case err != nil:
		return nil, err
	case e != nil:
		return h.with(e), nil
	}
	return h.until(h.opened(by)), nil
}

// Bring implements [memo.Keeper].
func (s *Store) Bring(ctx context.Context, m *memo.Message) (*echo.MemosBrought, error) {
	all, files, err := s.both()
	if err != nil {
		return nil, err
	}
	set, err := s.visible(all, files, m.Session, m.Seen)
	if err != nil {
		return nil, err
	}
	out := set.Bring(m.Text, m.Last)
	if memo.Same(out, m.Last) {
		return nil, nil //nolint:nilnil // see [memo.Keeper]
	}
	out.Project = files[memo.Project].project()
	n := note{by: memo.Writer{Session: m.Session, Began: s.began, Key: m.Key}, command: commandBrought, call: echo.TextHash([]byte(m.Text))}
	for _, b := range out.Memos {
		n.reads = append(n.reads, scoped{b.Scope, Read{Memo: b.Memo, Version: b.Version}})
	}
	return out, n.write(ctx, files)
}

// note is that somebody was told of memos.
type note struct {
	by      memo.Writer
	command string
	call    echo.Hash
	reads   []scoped
}

// scoped is a reading with the scope of the memo.
type scoped struct {
	scope string
	Read
}

// write adds a line to the file of each scope, unless an earlier process has done so for the same call. A line may be lost
// with the machine.
func (n *note) write(ctx context.Context, files map[string]*file) error {
	for _, scope := range memo.Scopes() {
		var reads []Read
		for _, r := range n.reads {
			if r.scope == scope {
				reads = append(reads, r.Read)
			}
		}
		if len(reads) == 0 {
			continue
		}
		_, _, err := files[scope].Append(ctx, func(h *History) (*Entry, error) {
			if slices.ContainsFunc(h.Entries, func(e *Entry) bool { return e.By == n.by && e.Call == n.call && slices.Equal(e.Reads, reads) }) {
				return nil, nil //nolint:nilnil // see ledger.File.Append
			}
			e := &Entry{By: n.by, Command: n.command, Call: n.call, Reads: reads}
			return e, files[scope].seal(h, e)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// visible returns the memos that a session sees: those of its start, its own, and those that it was told of.
func (s *Store) visible(all map[string]*History, files map[string]*file, session string, seen memo.Seen) (set memo.Set, err error) {
	run := memo.Writer{Session: session, Began: s.began}
	for _, scope := range memo.Scopes() {
		h := all[scope]
		if seen.Last(scope) > h.Last() {
			return nil, ledger.Damaged(noun, files[scope].Path(), int(h.Last())+1, errCut)
		}
		set = append(set, h.As(func(e *Entry) bool { return seen.Of(scope, e.Seq) || e.By.Mine(run) })...)
	}
	return set, nil
}
