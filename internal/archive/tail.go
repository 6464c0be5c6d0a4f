package archive

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

// Events reads the entries of one session in their order. It belongs to one goroutine.
type Events interface {
	// Next returns the next entries there are, at most a few hundred; ended: nothing follows them.
	Next() (entries []*echo.Entry, ended bool, err error)
	Close() error
}

// Events opens the entries of a session from a number on, and follows it here while it runs.
func (a *Archive) Events(ctx context.Context, given string, from uint64) (Events, error) {
	id, err := a.Here(given)
	if err != nil {
		return nil, err
	}
	if id != "" {
		t, err := openTail(JournalPath(a.Home, id), from, func() bool { return a.running(id) })
		if err != nil {
			return nil, ReadError(err)
		}
		return t, nil
	}
	_, entries, err := a.stored(ctx, given)
	if err != nil {
		return nil, err
	}
	i, _ := slices.BinarySearchFunc(entries, from, func(e *echo.Entry, from uint64) int { return cmp.Compare(e.Seq, from) })
	return &ended{entries[i:]}, nil
}

const tailBatch = 256

// tailBytes is how many bytes, and one line more, a tail reads at once: it may have many clients.
const tailBytes = 1 << 20

// lookEvery is how often nothing comes before a tail checks, by the lock, whether it is over.
const lookEvery = 5

// tail reads a journal in batches while it grows. It implements [Events].
type tail struct {
	*journal.Tail
	alive func() bool // more may come
	quiet int         // how often nothing was there since the session was last seen alive
	over  bool        // nothing more comes
}

func openTail(path string, from uint64, alive func() bool) (*tail, error) {
	t, err := journal.OpenTail(path, from)
	if err != nil {
		return nil, err
	}
	return &tail{Tail: t, alive: alive, quiet: lookEvery}, nil
}

func (t *tail) Next() (entries []*echo.Entry, ended bool, err error) {
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
			return entries, false, ReadError(err)
		}
		entries = append(entries, e)
	}
	return entries, false, nil
}

// ended are the entries of a session that only ClickHouse has. It implements [Events].
type ended struct{ entries []*echo.Entry }

func (f *ended) Next() ([]*echo.Entry, bool, error) {
	n := min(tailBatch, len(f.entries))
	next := f.entries[:n]
	f.entries = f.entries[n:]
	return next, len(f.entries) == 0, nil
}

func (f *ended) Close() error { return nil }
