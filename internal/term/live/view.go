// Package live shows a run while it goes on: in place on a terminal, else in lines, or as JSON.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/term"
)

// View shows a run: its observer hears what begins, its sink what has ended.
type View interface {
	echo.Sink
	engine.Observer
	// Resume shows what a run did so far that is resumed: at least one entry.
	Resume(entries []*echo.Entry)
}

// Mode is how much of a run is shown, and how.
type Mode string

// The modes.
const (
	ModePlain Mode = "plain" // a line for everything of note
	ModeLive  Mode = "live"  // drawn in place on a terminal
	ModeQuiet Mode = "quiet" // errors, and what concerns money
)

// Modes lists the modes.
func Modes() []Mode { return []Mode{ModePlain, ModeLive, ModeQuiet} }

// ReplayModes lists the modes of a replay: it shows progress and nothing else.
func ReplayModes() []Mode { return []Mode{ModePlain, ModeLive} }

// ErrNoTerminal says that nothing can be drawn in place.
var ErrNoTerminal = errors.New("a live view needs a terminal, and standard error is not one")

// For returns the mode of a run that is shown on w: the one that is wanted, "" for live on a
// terminal and plain elsewhere. A live view elsewhere is [ErrNoTerminal].
func (m Mode) For(w io.Writer) (Mode, error) {
	switch {
	case m == ModeLive && !term.CanDraw(w):
		return m, ErrNoTerminal
	case m != "":
		return m, nil
	case term.CanDraw(w):
		return ModeLive, nil
	}
	return ModePlain, nil
}

// Shown is a run that is to be shown.
type Shown struct {
	Cascade *cascade.Cascade
	Session string
	Notices *term.Notices    // a live view shows them
	Now     func() time.Time // of the run
}

// New returns the view of a run in a mode that [Mode.For] has returned for w.
func New(m Mode, w io.Writer, s Shown) View {
	switch m {
	case ModeQuiet:
		return NewQuiet(w)
	case ModePlain:
		return NewPlain(w)
	case ModeLive:
	}
	p := NewProgress(s.Cascade.CascadeID, s.Session, phaseNames(s.Cascade), s.Now)
	v := NewInPlace(p, w, func() Room { return roomOf(w) }, term.WantsColour(w))
	v.ended = s.Notices.Redirect(p.Note)
	return v
}

// Begin shows that the call begins whose end an entry records, as the run's observer heard it.
func Begin(o engine.Observer, e *echo.Entry) {
	site := effect.Site{Phase: e.Phase, Attempt: e.Attempt, Turn: e.Turn, Validator: e.Key.Validator()}
	if purpose := e.Key.Purpose(); purpose != echo.PurposeValidator {
		site.Purpose = purpose
	}
	if e.NodeType == echo.NodeToolCall {
		o.Observe(engine.Event{Kind: engine.EventToolCall, Key: e.Key, Site: site, Tool: e.Tool.Name, Arguments: e.Tool.Arguments})
		return
	}
	o.Observe(engine.Event{Kind: engine.EventModelCall, Key: e.Key, Site: site, Model: e.Model})
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
