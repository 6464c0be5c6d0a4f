package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/server"
)

// tailBatch is how many entries a tail returns at once: enough to be quick, few enough to be held in memory.
const tailBatch = 256

// tailBytes is how many bytes of a journal a tail reads at once, and one line more: many clients may follow long entries.
const tailBytes = 1 << 20

// journalTail reads a journal while it grows. It reads the file and nothing else, so it never holds up whoever writes it, and a
// reader that is slow finds everything that it has not read yet. It implements [server.Events].
type journalTail struct {
	path   string
	file   *os.File
	from   uint64      // the first entry that is wanted
	alive  func() bool // more may come
	offset int64       // of the first line that was not read
	line   uint64      // how many lines were read; the first is the header, so the next entry has this number
	quiet  int         // how often nothing was there since the session was last seen alive
	over   bool        // nothing more comes
}

func openTail(path string, from uint64, alive func() bool) (*journalTail, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &journalTail{path: path, file: f, from: from, alive: alive, quiet: lookEvery}, nil
}

// lookEvery is how many times in a row nothing must have been there before it is asked whether the session has ended:
// that takes the session's lock for a moment, which is not to get into the way of others.
const lookEvery = 5

// Next implements [server.Events].
func (t *journalTail) Next() (entries []*echo.Entry, ended bool, err error) {
	if !t.over && t.quiet >= lookEvery {
		t.quiet = 0
		t.over = !t.alive() // asked before reading: what was written before its end is then read
	}
	r := bufio.NewReaderSize(io.NewSectionReader(t.file, t.offset, math.MaxInt64-t.offset), 1<<16)
	for begin := t.offset; len(entries) < tailBatch && (len(entries) == 0 || t.offset-begin < tailBytes); {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // a line without an end is one that is being written, or was torn by a crash
			t.quiet++
			return entries, t.over, nil
		}
		if err != nil {
			return entries, false, fmt.Errorf("read journal %s: %w", t.path, err)
		}
		e, wanted, err := t.read(text)
		if err != nil {
			return entries, false, &server.Problem{
				Kind: server.StorageFailed, Detail: fmt.Sprintf("journal %s is damaged at line %d: %v", t.path, t.line+1, err), Try: "windlass doctor", Err: err,
			}
		}
		t.offset += int64(len(text))
		t.line++
		if wanted {
			entries = append(entries, e)
		}
	}
	return entries, false, nil
}

// read reads one whole line, unless it is the header or an entry that is not wanted.
func (t *journalTail) read(text []byte) (e *echo.Entry, wanted bool, err error) {
	if t.line == 0 || t.line < t.from {
		return nil, false, nil
	}
	e = &echo.Entry{}
	if err := json.Unmarshal(text, e); err != nil {
		return nil, false, err
	}
	if e.Seq != t.line {
		return nil, false, fmt.Errorf("entry %d stands where entry %d should", e.Seq, t.line)
	}
	return e, true, nil
}

// Close implements [server.Events].
func (t *journalTail) Close() error { return t.file.Close() }

// finished are the entries of a session that has ended, or of one of which only ClickHouse knows. It implements
// [server.Events].
type finished struct{ entries []*echo.Entry }

// Next implements [server.Events].
func (f *finished) Next() ([]*echo.Entry, bool, error) {
	n := min(tailBatch, len(f.entries))
	next := f.entries[:n]
	f.entries = f.entries[n:]
	return next, len(f.entries) == 0, nil
}

// Close implements [server.Events].
func (f *finished) Close() error { return nil }
