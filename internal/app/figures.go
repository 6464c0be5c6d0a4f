package app

import (
	"context"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// figures are the sums of a session, kept as its entries are recorded: they are those that its
// journal comes to. It implements echo.Sink.
type figures struct {
	mu    sync.Mutex // guards the tally
	tally record.Tally
}

func figuresOf(recorded []*echo.Entry) *figures {
	f := &figures{}
	for _, e := range recorded {
		f.tally.Add(e)
	}
	return f
}

// Write implements echo.Sink.
func (f *figures) Write(e *echo.Entry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tally.Add(e)
	return nil
}

// Close implements echo.Sink.
func (f *figures) Close(context.Context) error { return nil }

func (f *figures) sums() record.Sums {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tally.Sums()
}

func (f *figures) visit(key echo.Key) record.Totals {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tally.Visit(key).Totals
}
