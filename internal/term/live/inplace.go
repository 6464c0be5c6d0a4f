package live

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/term"
)

// InPlace draws a run in place on a terminal. One goroutine of its own draws, at most ten times a
// second and only what has changed; Close draws the end of the run in full and leaves it on the
// screen.
type InPlace struct {
	progress *Progress
	out      io.Writer
	room     func() Room
	color    bool
	screen   screen                // guarded by still
	ended    func()                // nil: nobody wants to know that nothing is drawn any more
	panel    atomic.Pointer[panel] // nil: nothing is below the frame
	wake     chan struct{}         // something below the frame has changed
	still    sync.Mutex            // held while something else has the terminal
	stop     chan struct{}
	done     chan struct{}
	once     sync.Once
}

// panel returns the lines below the frame.
type panel func(room Room, paint func(term.Colour, string) string) []string

const redrawEvery = 100 * time.Millisecond

// NewInPlace begins to draw; room is asked before each frame, as terminals change their size.
func NewInPlace(p *Progress, out io.Writer, room func() Room, color bool) *InPlace {
	v := &InPlace{progress: p, out: out, room: room, color: color, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go v.run()
	return v
}

func (v *InPlace) run() {
	defer close(v.done)
	t := time.NewTicker(redrawEvery)
	defer t.Stop()
	for {
		room := v.room()
		room.Height = max(room.Height-1, 1) // the cursor stands below the frame
		v.draw(room)
		select {
		case <-t.C:
		case <-v.wake:
		case <-v.stop:
			v.progress.End()
			v.panel.Store(nil)
			v.still.Lock()
			v.screen.changed = true // a Ctrl-C may have left its mark
			v.still.Unlock()
			v.draw(Room{Width: v.room().Width})
			return
		}
	}
}

// draw writes what stays, and the frame over the one before.
func (v *InPlace) draw(room Room) {
	v.still.Lock()
	defer v.still.Unlock()
	said := v.progress.Said(room.Width, v.color)
	if text := v.screen.next(said, v.frame(room), room.Width); text != "" {
		_, _ = io.WriteString(v.out, text) // a terminal that went away does not stop the run
	}
}

// leastFrame is how many lines of the frame stay above a panel.
const leastFrame = 4

// frame returns the frame and what is below it.
func (v *InPlace) frame(room Room) []string {
	var below []string
	if p := v.panel.Load(); p != nil && room.Height > 0 {
		below = (*p)(Room{Width: room.Width, Height: max(room.Height-leastFrame, min(room.Height-1, leastFrame))}, term.Painter{On: v.color}.Paint)
		room.Height = max(room.Height-len(below), 1)
	}
	return append(v.progress.Frame(room, v.color), below...)
}

// below has lines shown below the frame.
func (v *InPlace) below(p panel) { v.panel.Store(&p) }

// redraw draws soon: something below the frame has changed.
func (v *InPlace) redraw() {
	select {
	case v.wake <- struct{}{}:
	default: // it will
	}
}

// hold lets something else have the terminal, and begins the frame anew after that.
func (v *InPlace) hold(do func()) {
	v.still.Lock()
	defer v.still.Unlock()
	do()
	v.screen.width = 0 // what stood there may be gone
}

// screen is the frame that stands on a terminal.
type screen struct {
	lines   []string
	width   int  // of the room that it was drawn for
	changed bool // what stands there may be something else
}

// next returns what puts lines that stay, and below them a frame, over the frame that stands there:
// only its lines that differ are written, in one piece, so that nothing flickers. When the terminal has
// another width, the frame begins anew below: terminals differ in where lines and the cursor are
// then, and what stays must not be written over.
func (s *screen) next(said, frame []string, width int) string {
	same, up := 0, len(s.lines)
	switch {
	case width != s.width:
		up = 0
	case !s.changed && len(said) == 0:
		for same < min(len(frame), up) && frame[same] == s.lines[same] {
			same++
		}
		if same == len(frame) && same == up {
			return ""
		}
		up -= same
	}
	whole := same == 0 && (len(said) > 0 || s.changed || width != s.width)
	var b strings.Builder
	b.WriteString("\r")
	if up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	for _, line := range said {
		b.WriteString(line + "\x1b[K\n")
	}
	for i, line := range frame[same:] {
		if at := same + i; !whole && at < len(s.lines) && line == s.lines[at] {
			b.WriteString("\n")
			continue
		}
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	s.lines, s.width, s.changed = frame, width, false
	return b.String()
}

// Observe implements engine.Observer.
func (v *InPlace) Observe(ev engine.Event) { v.progress.Event(ev) }

// Write implements echo.Sink.
func (v *InPlace) Write(e *echo.Entry) error { v.progress.Entry(e); return nil }

// Resume implements [View]: all that the run did so far is drawn.
func (v *InPlace) Resume(entries []*echo.Entry) { v.progress.Resume(entries) }

// Close draws the end of the run and leaves it on the screen.
func (v *InPlace) Close(context.Context) error {
	v.once.Do(func() {
		close(v.stop)
		<-v.done
		if v.ended != nil {
			v.ended()
		}
	})
	<-v.done
	return nil
}
