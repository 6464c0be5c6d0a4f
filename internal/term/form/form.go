// Package form has the forms in which a person answers a wait with keys: what is asked, the parts of the answer one
// after the other, and the lines that show both. It knows no terminal and no clock.
package form

import (
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/keys"
	"github.com/windlass-run/windlass/internal/waits"
)

// Answer is what a person has said.
type Answer struct {
	Value any
	Grant echo.GrantScope // of an approval: what else it counts for; "": nothing
}

// State says how far a form is.
type State int

// The states.
const (
	Open     State = iota
	Answered       // [Form.Answer] has it
	Left           // the person leaves the wait as it is
)

// Form is a wait that is being answered, or something that a person says by themselves. One goroutine at a time may use it.
type Form struct {
	title   string
	body    func(width int, paint func(term.Colour, string) string) []string // what is asked
	words   wording
	plan    plan
	parts   []*part // those that were shown, in their order
	at      int
	earlier []string
	problem string
	scroll  int
	room    int // lines of what is asked that were shown last
	length  int // lines that it had
	state   State
	outside bool // a text can be changed in an editor
}

// wording is how a form speaks of its end.
type wording struct {
	answers string // what Enter does at last
	leaves  string // what leaving it does
	letter  bool   // a letter leaves it, too
}

// New returns the form of a wait.
func New(w *waits.Wait) *Form {
	body := func(width int, paint func(term.Colour, string) string) []string { return bodyOf(w, width, paint) }
	return begin(&Form{title: "? " + title(w), body: body, words: wording{answers: "answers", leaves: "leaves it waiting", letter: true}, plan: planOf(w)})
}

func begin(f *Form) *Form {
	if first := f.plan.next(nil); first != nil {
		f.parts = []*part{first}
	}
	return f
}

// Earlier shows lines on earlier decisions with what is asked.
func (f *Form) Earlier(lines []string) { f.earlier = lines }

// HasEditor says that whoever shows the form opens an editor for Ctrl-X.
func (f *Form) HasEditor() { f.outside = true }

// State returns how far the form is.
func (f *Form) State() State { return f.state }

// Answer returns what was said, when the state is Answered.
func (f *Form) Answer() Answer { return f.plan.answer(f.values(len(f.parts))) }

// Refuse opens the form again, as the answer was not taken.
func (f *Form) Refuse(why string) { f.state, f.problem = Open, why }

// values returns those of the first parts.
func (f *Form) values(n int) []any {
	out := make([]any, n)
	for i, p := range f.parts[:n] {
		out[i] = p.input.value()
	}
	return out
}

// Key takes a key.
func (f *Form) Key(k keys.Key) {
	if f.state != Open {
		return
	}
	if len(f.parts) == 0 { // nothing can be answered
		if k.Name == keys.Escape || k == keys.Of('l') {
			f.state = Left
		}
		return
	}
	p := f.parts[f.at]
	switch {
	case k.Name == keys.PageUp:
		f.scroll = max(f.scroll-max(f.room-1, 1), 0)
	case k.Name == keys.PageDown:
		f.scroll = min(f.scroll+max(f.room-1, 1), max(f.length-f.room, 0))
	case k.Name == keys.Escape, k.Name == keys.BackTab, k == keys.Of('l') && f.words.letter && !p.input.writes():
		f.back(k)
	case k.Name == keys.Tab && p.optional:
		p.input.clear()
		f.forward(p)
	default:
		f.problem = ""
		if p.input.key(k) {
			f.forward(p)
		}
	}
}

// back goes to the part before; from the first one the wait is left as it is. A letter leaves it from any.
func (f *Form) back(k keys.Key) {
	f.problem = ""
	switch {
	case k.Name == keys.Char, f.at == 0 && k.Name == keys.Escape:
		f.state = Left
	case f.at > 0:
		f.at, f.scroll = f.at-1, 0
	}
}

// forward goes to the next part, when this one is answered; after the last one the form is.
func (f *Form) forward(p *part) {
	if why := p.check(); why != "" {
		f.problem = why
		return
	}
	next := f.plan.next(f.values(f.at + 1))
	switch {
	case next == nil:
		f.parts, f.state = f.parts[:f.at+1], Answered
		return
	case f.at+1 < len(f.parts) && f.parts[f.at+1].name == next.name && next.lines == nil: // what was typed there stays
	default:
		f.parts = append(f.parts[:f.at+1], next)
	}
	f.at, f.scroll, f.problem = f.at+1, 0, ""
}

// Text returns the text that is being written, for an editor; false: none is.
func (f *Form) Text() (string, bool) {
	if e := f.editor(); e != nil {
		return string(e.text), true
	}
	return "", false
}

// Write puts a text in the place of the one that is being written.
func (f *Form) Write(text string) {
	if e := f.editor(); e != nil {
		e.clear()
		e.insert(text)
	}
}

func (f *Form) editor() *editor {
	if len(f.parts) == 0 || f.state != Open {
		return nil
	}
	e, _ := f.parts[f.at].input.(*editor)
	return e
}

// Lines returns what a terminal of a width shows, in at most so many lines: what is asked, the part that is to be
// answered, and the keys that do it.
func (f *Form) Lines(width, height int, paint func(term.Colour, string) string) []string {
	width = max(width, 20)
	head := paint(term.Yellow, cut(f.title, width))
	var foot []string
	if f.problem != "" {
		for _, line := range wrap(f.problem, width-4) {
			foot = append(foot, "  "+paint(term.Red, "✗ "+line))
		}
		foot = foot[:min(len(foot), 3)]
	}
	body, below, hint := f.asked(width-2, paint), []string(nil), "l "+f.words.leaves
	if len(f.parts) > 0 {
		p := f.parts[f.at]
		if p.lines != nil {
			body = p.lines(width-2, paint)
		}
		below = p.show(width-2, max((height-len(foot)-3)/2, 1), paint)
		hint = p.hint(f.at == 0, f.words)
		if f.outside && f.editor() != nil {
			hint += "  Ctrl-X opens your editor"
		}
	}
	foot = append(foot, "  "+paint(term.Dim, cut(hint, width-2)))
	if len(below) > 0 && height > spacious {
		body = append(body, "")
	}
	body = f.window(body, width-2, height-1-len(below)-len(foot), paint)
	out := []string{head}
	for _, line := range append(body, below...) {
		out = append(out, fitted("  "+line, width))
	}
	out = append(out, foot...)
	if len(out) > height && height > 0 { // a terminal of a few lines: the last ones are for the answer
		out = out[len(out)-height:]
	}
	return out
}

// spacious is the height from which there is a line between what is asked and its answer.
const spacious = 14

// window returns the lines of what is asked that have room, from where the person has scrolled to.
func (f *Form) window(body []string, width, room int, paint func(term.Colour, string) string) []string {
	f.length, f.room = len(body), max(room-1, 1)
	if len(body) <= room {
		f.room, f.scroll = max(room, 1), 0
		return body
	}
	f.scroll = min(f.scroll, len(body)-f.room)
	shown := append([]string(nil), body[f.scroll:f.scroll+f.room]...)
	return append(shown, paint(term.Dim, cut(more(f.scroll, len(body)-f.scroll-f.room), width)))
}

// asked returns the lines of what is asked, with earlier decisions.
func (f *Form) asked(width int, paint func(term.Colour, string) string) []string {
	out := f.body(width, paint)
	if len(f.earlier) > 0 {
		out = append(out, "")
		for _, line := range f.earlier {
			out = append(out, paint(term.Dim, cut(line, width)))
		}
	}
	return out
}

// fitted cuts a line only where it is too wide, and takes its colour from it then.
func fitted(line string, width int) string {
	if bare := term.StripColour(line); term.Cut(bare, width) != bare {
		return term.Cut(bare, width)
	}
	return line
}

func cut(line string, width int) string { return term.Cut(term.Clean(line), width) }

// wrap divides a text of several lines into lines of a width, without what controls a terminal. A word that is wider is
// divided, so that nothing of the text is hidden.
func wrap(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\t", "    "), "\n") {
		for _, row := range term.Wrapped(term.Clean(line), max(width, 1)) {
			out = append(out, divide(row, max(width, 1))...)
		}
	}
	return out
}
