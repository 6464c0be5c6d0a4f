package journal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// Recording is a journal as it was read.
type Recording struct {
	Header  Header
	Entries []*echo.Entry
	Torn    bool // the last line was cut off in the middle and has been left out

	size int64     // bytes of whole lines
	sum  chain.Sum // of the last one
}

// DamageError says which line of a journal is not what was written, and why.
type DamageError struct {
	Path    string
	Line    int // from 1; the header is line 1
	FromEnd int // in place of Line when the journal was read from its end: the last whole line is 1
	Err     error
}

// Error names the line.
func (d *DamageError) Error() string {
	line := fmt.Sprintf("line %d", d.Line)
	if d.FromEnd > 0 {
		line = fmt.Sprintf("line %d from its end", d.FromEnd)
	}
	return fmt.Sprintf("journal %s is damaged at %s: %v", d.Path, line, d.Err)
}

// Try returns the next step; "" when the error says it itself.
func (d *DamageError) Try() string {
	var folder *FolderError
	switch {
	case errors.As(d.Err, &folder):
		return ""
	case errors.Is(d.Err, ErrNotBegun):
		return "remove its folder: there is nothing in it, and its id can be used again"
	}
	return "put a sound copy of the journal in its place"
}

// Unwrap returns what is wrong with the line.
func (d *DamageError) Unwrap() error { return d.Err }

// IsUnreadable reports whether an error is a [*DamageError] or a [*VersionError].
func IsUnreadable(err error) bool {
	var damage *DamageError
	var version *VersionError
	return errors.As(err, &damage) || errors.As(err, &version)
}

// Read reads the journal of a session, which is in the folder of that name. A last line without its
// newline is what a crash leaves behind: it is left out and Torn is set. Any other damage is a
// [*DamageError]. A journal of another version is a [*VersionError].
func Read(path string) (*Recording, error) { return readFile(path, folderOf(path), openOwn) }

// ReadCopy reads a journal as [Read] does, in whatever folder and by whatever name a copy of it is.
func ReadCopy(path string) (*Recording, error) { return readFile(path, "", openRegular) }

func readFile(path, folder string, open func(path string, flags int) (*os.File, error)) (*Recording, error) {
	f, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	return read(path, folder, f, chain.BoundsOfAll)
}

func read(path, folder string, file io.ReaderAt, b chain.Bounds) (*Recording, error) {
	t := newTail(path, folder, file, b)
	var entries []*echo.Entry
	for {
		e, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if t.header == nil {
		return nil, &DamageError{Path: path, Line: 1, Err: ErrNotBegun}
	}
	return &Recording{
		Header: *t.header, Entries: entries, Torn: len(t.lines.Unread()) > 0, size: t.lines.Offset(), sum: t.sum,
	}, nil
}
