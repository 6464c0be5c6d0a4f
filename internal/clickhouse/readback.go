package clickhouse

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

// journalReader reads entries back from the journal of a session that goes on, in their order. It remembers where it is in
// the file, so that each line is read once. What the process itself has written is not checked again.
type journalReader struct {
	path   string
	offset int64  // where the next line begins
	line   uint64 // how many lines are before it; entry n is on the line after n others, as the header is a line too
}

func newJournalReader(dir string) *journalReader {
	return &journalReader{path: filepath.Join(dir, journal.File)}
}

func (r *journalReader) rewind() { r.offset, r.line = 0, 0 }

// read returns the entries from one number up to another, as many as one write should take and as are in the file.
func (r *journalReader) read(from, upTo uint64) ([]*echo.Entry, error) {
	f, err := os.Open(r.path)
	if err != nil {
		return nil, fmt.Errorf("read the journal back: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	if r.line > from {
		r.rewind()
	}
	if _, err := f.Seek(r.offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the journal back: %w", err)
	}
	in := bufio.NewReaderSize(f, 1<<16)
	var entries []*echo.Entry
	for size := int64(0); r.line <= upTo && len(entries) < maxBatchRows && size <= maxBatchSize; {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what is left of the line is not written yet
		}
		if err != nil {
			return nil, fmt.Errorf("read the journal back: %w", err)
		}
		if r.line >= from {
			e := &echo.Entry{}
			if err := json.Unmarshal(text, e); err != nil {
				return nil, r.damage(err)
			}
			if e.Seq != r.line {
				return nil, r.damage(fmt.Errorf("entry %d stands where entry %d should", e.Seq, r.line))
			}
			entries = append(entries, e)
			size += entrySize(e)
		}
		r.offset += int64(len(text))
		r.line++
	}
	return entries, nil
}

func (r *journalReader) damage(err error) error {
	return &journal.DamageError{Path: r.path, Line: int(r.line) + 1, Err: err}
}
