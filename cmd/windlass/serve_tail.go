package main

import (
	"errors"
	"io"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

// tailBatch is how many entries a tail returns at once: enough to be quick, few enough to be held in memory.
const tailBatch = 256

// tailBytes is how many bytes of a journal a tail reads at once, and one line more: many clients may follow long entries.
const tailBytes = 1 << 20

// journalTail reads a journal while it grows, in batches. A reader that is slow finds everything that it has not read yet. It
// implements [server.Events].
type journalTail struct {
	*journal.Tail
	alive func() bool // more may come
	quiet int         // how often nothing was there since the session was last seen alive
	over  bool        // nothing more comes
}

// openTail opens the journal at path from an entry on.
func openTail(path string, from uint64, alive func() bool) (*journalTail, error) {
	t, err := journal.OpenTail(path, from)
	if err != nil {
		return nil, err
	}
	return &journalTail{Tail: t, alive: alive, quiet: lookEvery}, nil
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
	for begin := t.Offset(); len(entries) < tailBatch && (len(entries) == 0 || t.Offset()-begin < tailBytes); {
		e, err := t.Tail.Next()
		switch {
		case errors.Is(err, io.EOF): // a line without an end is one that is being written, or was torn by a crash
			t.quiet++
			return entries, t.over, nil
		case err != nil:
			return entries, false, storageProblem(err)
		}
		entries = append(entries, e)
	}
	return entries, false, nil
}

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
