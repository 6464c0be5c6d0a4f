package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Store is a folder of sessions and a commit folder beside it. The journals that a process makes
// and opens by one share their waits for the disk: when several ask to be durable at once, or one
// has asked often, their lines go into one file of the commit folder, which is synced in place of
// every journal. A journal itself is synced when it is closed. What a power failure takes from
// journals that were not is restored from there by [Store.Recover].
//
// It is safe for concurrent use.
type Store struct {
	sessions, folder string
	on               files
	limit            int64 // of a commit log
	plain            int   // see committer

	mu      sync.Mutex
	commits *committer // nil: no journal was made or opened yet
	closed  bool
}

// NewStore returns a store. It reads and makes nothing yet.
func NewStore(sessions, commit string) *Store {
	return &Store{sessions: sessions, folder: commit, on: osFiles{}, limit: maxCommitLog, plain: plainSyncs}
}

var errStoreClosed = errors.New("the store of sessions is closed")

// Create makes a session and its journal as [Create] does, in the folder of its id.
func (s *Store) Create(h Header) (*Journal, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	m, err := s.maker()
	if err != nil {
		return nil, err
	}
	return m.create(filepath.Join(s.sessions, h.SessionID), h)
}

// Open opens the journal of a session as [Open] does.
func (s *Store) Open(id string) (*Journal, *Recording, error) {
	if !IsSessionID(id) {
		return nil, nil, fmt.Errorf("open journal: %.80q cannot be the id of a session: %w", id, os.ErrNotExist)
	}
	m, err := s.maker()
	if err != nil {
		return nil, nil, err
	}
	return m.open(filepath.Join(s.sessions, id))
}

// maker returns what makes journals. The first time it restores what a power failure took.
func (s *Store) maker() (maker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return maker{}, errStoreClosed
	case s.commits == nil:
		if err := s.Recover(context.Background()); err != nil {
			return maker{}, err
		}
		if err := makeDurable(s.on, s.sessions); err != nil { // before several make sessions at once
			return maker{}, fmt.Errorf("make session folder: %w", err)
		}
		if err := makeCommitFolder(s.on, s.folder); err != nil {
			return maker{}, err
		}
		s.commits = newCommitter(&commitLog{folder: s.folder, on: s.on, limit: s.limit}, s.plain)
	}
	return maker{on: s.on, commits: s.commits}, nil
}

// Close ends the store, after all of its journals. One that is still open stays durable as far as
// it was, and fails from then on.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.commits == nil {
		return nil
	}
	c := s.commits
	s.commits = nil
	return c.end()
}
