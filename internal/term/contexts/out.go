// Package contexts writes for a terminal what internal/inspect finds of the calls of a session:
// what each was sent, in which form and why, and what that saved. It computes nothing of that
// itself.
package contexts

import (
	"fmt"
	"io"
	"strings"

	"github.com/windlass-run/windlass/internal/term"
)

// Out is where something is written, and what that place can show.
type Out struct {
	W     io.Writer
	Width int  // the columns of a terminal, 0 for none
	Wide  bool // tables have all columns, and nothing of them is cut
	Safe  bool // texts of messages cannot control the terminal; else they are the very bytes
	term.Painter
}

// To returns what w can show.
func To(w io.Writer) Out {
	return Out{W: w, Width: term.Width(w), Safe: term.IsTerminal(w), Painter: term.Painter{On: term.WantsColour(w)}}
}

// Room is that of tables.
func (o Out) Room() term.Room {
	if o.Wide {
		return term.Room{Painter: o.Painter}
	}
	return term.Room{Width: o.Width, Painter: o.Painter}
}

// Text writes a text that others wrote, which may have several lines.
func Text(o Out, s string) error {
	_, err := io.WriteString(o.W, o.text(s))
	return err
}

// text returns a text of a message as it may be shown.
func (o Out) text(s string) string {
	if o.Safe {
		return term.CleanLines(s)
	}
	return s
}

// lineWidth returns how long a line should be: as the terminal is wide, and 100 columns elsewhere.
func (o Out) lineWidth() int {
	if o.Width > 0 {
		return o.Width
	}
	return 100
}

// printer writes lines and keeps the first error.
type printer struct {
	Out
	err error
}

// line writes a line.
func (p *printer) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.W, format+"\n", args...); p.err == nil {
		p.err = err
	}
}

// sentence writes a line, or several where the terminal is narrow.
func (p *printer) sentence(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if p.Width > 0 {
		s = strings.Join(term.Wrapped(s, p.Width), "\n")
	}
	p.line("%s", s)
}

// fact writes a line with a name, or several where the terminal is narrow.
func (p *printer) fact(name, format string, args ...any) {
	const column = 9
	lines := []string{fmt.Sprintf(format, args...)}
	if p.Width > 2*column {
		lines = term.Wrapped(lines[0], p.Width-column)
	}
	for i, l := range lines {
		if i == 0 {
			p.line("%s%s", p.Paint(term.Bold, fmt.Sprintf("%-*s", column, name)), l)
			continue
		}
		p.line("%*s%s", column, "", l)
	}
}

// table writes a table.
func (p *printer) table(t *term.Table) {
	if err := t.Render(p.W, p.Room()); p.err == nil {
		p.err = err
	}
}
