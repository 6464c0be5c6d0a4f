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

	beginning chan struct{} // has one element while somebody begins to make journals

	mu      sync.Mutex
	commits *committer      // nil: no journal was made or opened yet
	left    map[string]bool // the sessions that were in use when others were restored
	closed  bool
}

// NewStore returns a store. It reads and makes nothing yet.
func NewStore(sessions, commit string) *Store {
	return &Store{
		sessions: sessions, folder: commit, on: osFiles{}, limit: maxCommitLog, plain: plainSyncs, beginning: make(chan struct{}, 1),
	}
}

var errStoreClosed = errors.New("the store of sessions was closed before this session, and makes nothing durable any more: " +
	"close every session first, and resume this one")

// Create makes a session and its journal as [Create] does, in the folder of its id. The first journal
// of a store waits for [Store.Recover], or for the end of ctx.
func (s *Store) Create(ctx context.Context, h Header) (*Journal, error) {
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	m, err := s.maker(ctx)
	if err != nil {
		return nil, err
	}
	return m.create(filepath.Join(s.sessions, h.SessionID), h)
}

// Open opens the journal of a session as [Open] does, and waits as [Store.Create] does.
func (s *Store) Open(ctx context.Context, id string) (*Journal, *Recording, error) {
	if !IsSessionID(id) {
		return nil, nil, fmt.Errorf("open journal: %.80q cannot be the id of a session: %w", id, os.ErrNotExist)
	}
	m, err := s.maker(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := s.restoreLeft(ctx, id); err != nil {
		return nil, nil, err
	}
	return m.open(filepath.Join(s.sessions, id))
}

// restoreLeft restores a session that was in use when others were restored.
func (s *Store) restoreLeft(ctx context.Context, id string) error {
	if !s.isLeft(id) {
		return nil
	}
	if err := s.Recover(ctx); err != nil {
		return err
	}
	if s.isLeft(id) {
		return fmt.Errorf("lock session %s: %w", id, ErrBusy)
	}
	return nil
}

func (s *Store) isLeft(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left[id]
}

// leave notes which sessions a recovery could not restore because they are in use.
func (s *Store) leave(busy map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = busy
}

// maker returns what makes journals. The first time it restores what a power failure took: every
// session waits for that, as any of them may be among those that are restored, but only as long as
// its context lasts. Who waits next then tries itself.
func (s *Store) maker(ctx context.Context) (maker, error) {
	if m, err := s.made(); m.commits != nil || err != nil {
		return m, err
	}
	select {
	case s.beginning <- struct{}{}:
		defer func() { <-s.beginning }()
	case <-ctx.Done():
		return maker{}, waiting(ctx)
	}
	if m, err := s.made(); m.commits != nil || err != nil {
		return m, err
	}
	if err := s.Recover(ctx); err != nil {
		return maker{}, err
	}
	if err := makeDurable(s.on, s.sessions); err != nil { // before several make sessions at once
		return maker{}, fmt.Errorf("make session folder: %w", err)
	}
	if err := makeCommitFolder(s.on, s.folder); err != nil {
		return maker{}, err
	}
	s.mu.Lock()
	if !s.closed {
		s.commits = newCommitter(&commitLog{folder: s.folder, on: s.on, limit: s.limit}, s.plain)
	}
	s.mu.Unlock()
	return s.made()
}

// waiting says that a context has ended while others restored sessions.
func waiting(ctx context.Context) error {
	return fmt.Errorf("wait until sessions are restored: %w", context.Cause(ctx))
}

// made returns what maker has made; its committer is nil when it has not.
func (s *Store) made() (maker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return maker{}, errStoreClosed
	}
	return maker{on: s.on, commits: s.commits}, nil
}

// Close ends the store, after all of its journals. One that is still open stays durable as far as
// it was, and fails from then on.
func (s *Store) Close() error {
	s.mu.Lock()
	c := s.commits
	s.closed, s.commits = true, nil
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	return c.end()
}
