package memory

import (
	"context"
	"maps"

	"github.com/windlass-run/windlass/echo"
)

// Seen is how much of a bank a run sees: the bank as of the run's start, and files as of a later entry that the run
// itself has written, or was told of. It is not changed any more once it is made.
type Seen struct {
	Start uint64            // the number of the newest entry of the bank at the start
	Paths map[string]uint64 // the number of a later entry, by the paths that are seen as of it

	Own map[echo.Hash]bool `json:",omitempty"` // texts that the bank has remembered of the run itself since
}

// Of returns the number of the newest entry as of which a path is seen.
func (s Seen) Of(path string) uint64 { return max(s.Start, s.Paths[path]) }

// Last returns the number of the newest entry that is seen of any path.
func (s Seen) Last() uint64 {
	last := s.Start
	for _, at := range s.Paths {
		last = max(last, at)
	}
	return last
}

// With returns s with some paths seen as of later entries. What calls of one turn came to is added in any order.
func (s Seen) With(paths []echo.MemorySeen) Seen {
	if len(paths) == 0 {
		return s
	}
	all := maps.Clone(s.Paths)
	if all == nil {
		all = map[string]uint64{}
	}
	for _, p := range paths {
		all[p.Path] = max(all[p.Path], p.At)
	}
	return Seen{Start: s.Start, Paths: all, Own: s.Own}
}

// Request is a call of the memory tool.
type Request struct {
	Bank    string // as the cascade names it
	Session string
	Key     echo.Key  // of the call
	Hash    echo.Hash // of its arguments; with the key it tells a repeated call
	Command *Command
	Seen    Seen
}

// Banks keeps what runs remember. It is safe for concurrent use.
type Banks interface {
	// Start returns as of which entry a session sees a bank. Asked again, it returns the same.
	Start(ctx context.Context, bank, session string) (*echo.MemoryStart, error)
	// Call runs a command. What it writes is on the disk before it returns. Asked again with the same key and arguments
	// it writes nothing and returns the same. The error says why the bank cannot be read or written; what is wrong with
	// the command is told to the model.
	Call(ctx context.Context, r *Request) (*echo.MemoryCall, error)
	// Remember keeps texts of a visit, those that the bank does not have. They are on the disk before it returns. Asked
	// again with the same key it returns the same.
	Remember(ctx context.Context, r *Remembering) (*echo.MemoryCall, error)
	// Search has somebody choose among all that a run sees of a bank, and notes what was chosen as read.
	Search(ctx context.Context, s *Search) error
	// ProjectFile reads a file of the project folder, by its path there; there is false where it has none. The error says why
	// it cannot be read.
	ProjectFile(ctx context.Context, path string) (text string, there bool, err error)
}
