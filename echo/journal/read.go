package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/windlass-run/windlass/echo"
)

// Recording is a journal as it was read.
type Recording struct {
	Header  Header
	Entries []*echo.Entry
	Torn    bool // the last line was cut off in the middle and has been left out

	size int64   // bytes of whole lines
	sum  lineSum // of the last one
}

// DamageError says which line of a journal cannot be read, and why.
type DamageError struct {
	Path string
	Line int // from 1; the header is line 1
	Err  error
}

func (d *DamageError) Error() string {
	return fmt.Sprintf("journal %s is damaged at line %d: %v", d.Path, d.Line, d.Err)
}

// Unwrap returns what is wrong with the line.
func (d *DamageError) Unwrap() error { return d.Err }

// Read reads a journal. A last line without its newline is what a crash leaves behind: it is dropped and Torn is
// set. Any other damage is a [*DamageError].
func Read(path string) (*Recording, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	return read(path, f)
}

func read(path string, r io.Reader) (*Recording, error) {
	rec := &Recording{}
	br := bufio.NewReaderSize(r, 1<<16)
	for line := 1; ; line++ {
		text, err := readLine(br)
		if errors.Is(err, io.EOF) {
			rec.Torn = len(text) > 0
			if line == 1 {
				return nil, &DamageError{Path: path, Line: 1, Err: errors.New("no header: its process died before the session had begun")}
			}
			return rec, nil
		}
		if errors.Is(err, errLongLine) {
			return nil, &DamageError{Path: path, Line: line, Err: err}
		}
		if err != nil {
			return nil, fmt.Errorf("read journal %s: %w", path, err)
		}
		if err := rec.add(line, text); err != nil {
			return nil, &DamageError{Path: path, Line: line, Err: err}
		}
		rec.size += int64(len(text))
	}
}

// add reads one whole line.
func (r *Recording) add(line int, text []byte) error {
	if line == 1 {
		if err := json.Unmarshal(text, &r.Header); err != nil {
			return err
		}
		if v := r.Header.Version; v < 1 || v > Version {
			return fmt.Errorf("format version %d, this windlass reads up to %d", v, Version)
		}
	}
	if r.Header.Version >= 2 {
		body, sum, ok := cutSum(text)
		if r.sum = r.sum.next(body); !ok || r.sum != sum {
			return errors.New("the line does not match its checksum: it was changed, or a line before it was added, removed or moved")
		}
	}
	if line == 1 {
		return nil
	}
	e, err := decodeEntry(text)
	if err != nil {
		return err
	}
	if want := uint64(line - 1); e.Seq != want {
		return fmt.Errorf("entry %d stands where entry %d should", e.Seq, want)
	}
	r.Entries = append(r.Entries, e)
	return nil
}
