// Package live shows a run while it goes on: in place on a terminal, else in lines, or as JSON.
package live

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/term"
)

// View shows a run: its observer hears what begins, its sink what has ended.
type View interface {
	echo.Sink
	engine.Observer
}

// Choose returns the view of a run for w: in place on a terminal, with the notices, else in lines.
func Choose(w io.Writer, c *cascade.Cascade, session string, n *term.Notices) View {
	if !term.CanDraw(w) {
		return NewPlain(w)
	}
	var phases []string
	for i := range c.Phases {
		phases = append(phases, c.Phases[i].Name)
	}
	p := NewProgress(c.CascadeID, session, phases, time.Now)
	n.Redirect(p.Note)
	return NewInPlace(p, w, func() Room { return roomOf(w) }, term.WantsColour(w))
}

// roomOf returns the room of a terminal: without its last column, as a full line wraps on some.
func roomOf(w io.Writer) Room {
	width, height := term.Size(w)
	if width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	return Room{Width: max(width-1, 1), Height: height}
}

// Events is a sink that writes every entry as a line of JSON.
type Events struct{ out io.Writer }

// NewEvents returns a sink that writes to out.
func NewEvents(out io.Writer) *Events { return &Events{out: out} }

// Write implements echo.Sink. A failed write is an [OutputError].
func (e *Events) Write(entry *echo.Entry) error {
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if _, err = e.out.Write(append(line, '\n')); err != nil {
		return &OutputError{err}
	}
	return nil
}

// Close implements echo.Sink.
func (e *Events) Close(context.Context) error { return nil }

// OutputError says that events could not be written to standard output.
type OutputError struct{ err error }

func (e *OutputError) Error() string { return "print the events: " + e.err.Error() }

// Unwrap returns why they could not.
func (e *OutputError) Unwrap() error { return e.err }
