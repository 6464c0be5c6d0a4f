package bank

import (
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/ledger"
)

// Store has the banks of a home, as runs in a project folder name them. It implements [memory.Banks] and is safe for
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

// Open returns the banks of a home. Nothing is read or made yet. now may be nil.
func Open(home, folder string, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{home: home, folder: folder, now: now, on: ledger.OS{}, files: map[string]*file{}}
}

// Read returns what a bank has; nothing when it is not there.
func (s *Store) Read(bank string) (*History, error) {
	f, err := s.file(bank)
	if err != nil {
		return nil, err
	}
	return f.Read()
}

func (s *Store) file(bank string) (*file, error) {
	ref, err := RefOf(bank, s.folder)
	if err != nil {
		return nil, err
	}
	return s.at(ref), nil
}

func (s *Store) at(ref Ref) *file {
	path := ref.path(s.home)
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[path]
	if f == nil {
		f = newFile(ref, s.home, s.now, s.on)
		s.files[path] = f
	}
	return f
}

// For says when the session began that uses the store. It is called before that does, and returns the store.
func (s *Store) For(began time.Time) *Store {
	s.began = began.UnixMicro()
	return s
}

// commandOpen is the entry of a session that sees a bank.
const commandOpen = "open"

// Start implements [memory.Banks]. The bank notes each session, so that it can say what no run reads any more.
func (s *Store) Start(ctx context.Context, bank, session string) (*echo.MemoryStart, error) {
	f, err := s.file(bank)
	if err != nil {
		return nil, err
	}
	by := Writer{Session: session, Began: s.began}
	var at uint64
	e, h, err := f.Append(ctx, func(h *History) (*Entry, error) {
		if had := h.by(by, commandOpen, func(*Entry) bool { return true }); had != nil {
			at = had.Seq
			return nil, nil //nolint:nilnil // see ledger.File.Append
		}
		e := &Entry{By: by, Command: commandOpen}
		return e, f.seal(e, h.Last()+1)
	})
	if err != nil {
		return nil, err
	}
	if e != nil {
		at = e.Seq
	}
	return &echo.MemoryStart{At: at, Files: len(h.Files(memory.Seen{Start: at})), Project: f.ref.Project()}, nil
}

// Clock returns the time, as the store has it.
func (s *Store) Clock() time.Time { return s.now() }
