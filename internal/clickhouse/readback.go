package clickhouse

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

// journalReader reads entries back from a journal that grows, each line once.
type journalReader struct {
	path string
	tail *journal.Tail // nil: the file is not open
}

func newJournalReader(dir string) *journalReader {
	return &journalReader{path: filepath.Join(dir, journal.File)}
}

// close closes the file. The next read begins with the first line again.
func (r *journalReader) close() {
	if r.tail != nil {
		_ = r.tail.Close() // it is only read from
		r.tail = nil
	}
}

// read returns the entries of one write between two numbers, as far as they are in the file.
func (r *journalReader) read(from, upTo uint64) (entries []*echo.Entry, err error) {
	defer func() {
		if err != nil {
			r.close()
			entries, err = nil, fmt.Errorf("read the journal back: %w", err)
		}
	}()
	if r.tail != nil && r.tail.Seq() >= from {
		r.close()
	}
	if r.tail == nil {
		if r.tail, err = journal.OpenTail(r.path, from); err != nil {
			return nil, err
		}
	}
	r.tail.SkipTo(from)
	for size := int64(0); r.tail.Seq() < upTo && len(entries) < maxBatchRows && size <= maxBatchSize; {
		e, err := r.tail.Next()
		if errors.Is(err, io.EOF) {
			break // what is left of the line is not written yet
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
		size += entrySize(e)
	}
	return entries, nil
}
