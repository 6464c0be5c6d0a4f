package ledger

import (
	"errors"
	"fmt"
	"os"

	"github.com/windlass-run/windlass/internal/failure"
)

// Health says how the file of a ledger stands on the disk.
type Health struct {
	Path    string
	Entries int
	Left    int64 // bytes behind the last whole line: a process that died has left them, and the next write takes them away
	Err     error // why it cannot be read, or that it has no whole entry; nil: it can be read
}

// Health reads the file, and changes nothing.
func (f *File[E, C]) Health() Health {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := Health{Path: f.path}
	from, err := f.on.Open(f.path, os.O_RDONLY)
	if err != nil {
		h.Err = f.failed("open", err)
		return h
	}
	defer from.Close() //nolint:errcheck // only read from
	if h.Err = f.follow(from); h.Err != nil {
		return h
	}
	info, err := from.Stat()
	if err != nil {
		h.Err = f.failed("read", err)
		return h
	}
	h.Entries, h.Left = max(f.lines-1, 0), info.Size()-f.size
	if h.Entries == 0 {
		h.Err = Cut(f.format.Noun, f.path)
	}
	return h
}

// Whole is an error where the file is there and has no whole entry: it has nothing then, as one that is not there, but
// whoever looks for what it had must be told.
func (f *File[E, C]) Whole() error {
	if h := f.Health(); !errors.Is(h.Err, os.ErrNotExist) {
		return h.Err
	}
	return nil
}

// Cut returns the error of a file without a whole entry.
func Cut(noun, path string) error {
	return failure.New(failure.Damaged, fmt.Errorf("%s %s has no whole entry: it was cut off, or whoever began it died before the first one was written", noun, path),
		"put a sound copy of the "+noun+" in its place, or remove the file: the next write begins it anew")
}
