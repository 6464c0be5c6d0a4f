package term

import (
	"fmt"
	"io"
	"sync"
)

// Line is a line of a terminal that is redrawn; elsewhere it draws nothing. It is not locked.
type Line struct {
	Out        io.Writer
	OnTerminal bool

	open bool // the cursor stands in the line
}

// NewLine returns a line of w.
func NewLine(w io.Writer) *Line { return &Line{Out: w, OnTerminal: IsTerminal(w)} }

// Draw shows a text in place of what the line shows now.
func (l *Line) Draw(text string) {
	if !l.OnTerminal {
		return
	}
	fmt.Fprintf(l.Out, "\r\x1b[K%s", text)
	l.open = true
}

// IsOpen reports whether the line shows something that is still to be drawn over.
func (l *Line) IsOpen() bool { return l.open }

// Keep leaves what the line shows on the screen and goes on below it.
func (l *Line) Keep() {
	if l.open {
		fmt.Fprintln(l.Out)
	}
	l.open = false
}

// Clear removes the line from the screen.
func (l *Line) Clear() {
	if l.open {
		fmt.Fprint(l.Out, "\r\x1b[K")
	}
	l.open = false
}

// Counter shows on a terminal how far long work is, by whole percents. Any goroutine may use it.
type Counter struct {
	mu      sync.Mutex // guards what follows
	line    *Line
	what    string
	done    int
	all     int
	percent int
}

// NewCounter counts to all on a line, of what is named in the plural.
func NewCounter(l *Line, what string, all int) *Counter {
	return &Counter{line: l, what: what, all: all}
}

// Step counts one more.
func (c *Counter) Step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	percent := c.done * 100 / c.all
	if percent == c.percent {
		return
	}
	c.percent = percent
	c.line.Draw(fmt.Sprintf("%d of %d %s (%d %%)", c.done, c.all, c.what, percent))
}

// Clear removes the line from the screen.
func (c *Counter) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.Clear()
}

// Notices are short messages, in the live view or a line each. They are safe for concurrent use.
type Notices struct {
	mu  sync.Mutex // guards say, and is held while it writes
	say func(string)
}

// NewNotices writes notices to w until Redirect says otherwise.
func NewNotices(w io.Writer) *Notices {
	return &Notices{say: func(text string) { fmt.Fprintf(w, "\n%s\n", text) }}
}

// Redirect gives notices to say from now on, until back is called.
func (n *Notices) Redirect(say func(string)) (back func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.say
	n.say = say
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.say = before
	}
}

// Say shows a notice.
func (n *Notices) Say(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.say(text)
}
