package live

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/term"
)

// InPlace draws a run in place on a terminal. One goroutine of its own draws, ten times a second;
// Close draws the end of the run in full and leaves it on the screen.
type InPlace struct {
	progress *Progress
	out      io.Writer
	room     func() Room
	color    bool
	drawn    []int // widths of the lines on the screen; owned by the drawing goroutine
	stop     chan struct{}
	done     chan struct{}
	once     sync.Once
}

const redrawEvery = 100 * time.Millisecond

// NewInPlace begins to draw; room is asked before each frame, as terminals change their size.
func NewInPlace(p *Progress, out io.Writer, room func() Room, color bool) *InPlace {
	v := &InPlace{progress: p, out: out, room: room, color: color, stop: make(chan struct{}), done: make(chan struct{})}
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
		case <-v.stop:
			v.progress.Note("")
			v.draw(Room{Width: v.room().Width})
			return
		}
	}
}

// draw writes a frame over the one before, line by line, so that nothing flickers.
func (v *InPlace) draw(room Room) {
	lines := v.progress.Frame(room, v.color)
	var b strings.Builder
	if up := v.rows(room.Width); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	v.drawn = v.drawn[:0]
	for _, l := range lines {
		b.WriteString(l + "\x1b[K\n")
		v.drawn = append(v.drawn, runewidth.StringWidth(term.StripColour(l)))
	}
	b.WriteString("\x1b[J")
	_, _ = io.WriteString(v.out, b.String()) // a terminal that went away does not stop the run
}

// rows returns how many lines the last frame takes on a terminal that is this wide now.
func (v *InPlace) rows(width int) int {
	n := 0
	for _, w := range v.drawn {
		n += 1 + max(w-1, 0)/(width+1) // the terminal is a column wider than frames are
	}
	return n
}

// Observe implements engine.Observer.
func (v *InPlace) Observe(ev engine.Event) { v.progress.Event(ev) }

// Write implements echo.Sink.
func (v *InPlace) Write(e *echo.Entry) error { v.progress.Entry(e); return nil }

// SetAside has entries count no longer, see [Progress.SetAside].
func (v *InPlace) SetAside(seqs []uint64) { v.progress.SetAside(seqs) }

// Close draws the end of the run and leaves it on the screen.
func (v *InPlace) Close(context.Context) error {
	v.once.Do(func() { close(v.stop) })
	<-v.done
	return nil
}
