package form

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/keys"
)

// editor writes a text of one line or more.
type editor struct {
	text []rune
	at   int  // of the cursor
	code bool // lines matter: Enter begins one, and Ctrl-D is done
}

// caret shows where the cursor is.
const caret = '▏'

func (e *editor) key(k keys.Key) bool {
	switch k.Name { //nolint:exhaustive // the others do nothing
	case keys.Enter:
		if !e.code {
			return true
		}
		e.insert("\n")
	case keys.Done:
		return true
	case keys.NewLine:
		e.insert("\n")
	case keys.Char, keys.Paste:
		e.insert(k.Text)
	case keys.Tab:
		e.insert("  ")
	default:
		e.move(k.Name)
		e.remove(k.Name)
	}
	return false
}

// insert puts a text at the cursor, as far as there is room in an answer.
func (e *editor) insert(text string) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	if len(string(e.text))+len(text) > waiting.MaxText {
		return
	}
	e.text = slices.Insert(e.text, e.at, []rune(text)...)
	e.at += utf8.RuneCountInString(text)
}

func (e *editor) move(name keys.Name) {
	from, to := e.line(e.at)
	switch name { //nolint:exhaustive // the others move nothing
	case keys.Left:
		e.at = max(e.at-1, 0)
	case keys.Right:
		e.at = min(e.at+1, len(e.text))
	case keys.Home:
		e.at = from
	case keys.End:
		e.at = to
	case keys.Up:
		if from > 0 {
			before, end := e.line(from - 1)
			e.at = min(before+e.at-from, end)
		}
	case keys.Down:
		if to < len(e.text) {
			_, end := e.line(to + 1)
			e.at = min(to+1+e.at-from, end)
		}
	}
}

// line returns where the line of a place begins and ends.
func (e *editor) line(at int) (from, to int) {
	from, to = at, at
	for from > 0 && e.text[from-1] != '\n' {
		from--
	}
	for to < len(e.text) && e.text[to] != '\n' {
		to++
	}
	return from, to
}

func (e *editor) remove(name keys.Name) {
	line, end := e.line(e.at)
	from, to := e.at, e.at
	switch name { //nolint:exhaustive // the others remove nothing
	case keys.Backspace:
		from = max(e.at-1, 0)
	case keys.Delete:
		to = min(e.at+1, len(e.text))
	case keys.DeleteLine:
		from = line
	case keys.DeleteRest:
		to = end
	case keys.DeleteWord:
		for from > 0 && unicode.IsSpace(e.text[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(e.text[from-1]) {
			from--
		}
	}
	e.text = slices.Delete(e.text, from, to)
	e.at = from
}

// show shows the lines around the cursor.
func (e *editor) show(width, height int, paint func(term.Colour, string) string) []string {
	rows, at := e.rows(max(width-2, 1))
	most := max(min(height, len(rows)), 1)
	from := min(max(at-most/2, 0), len(rows)-most)
	out := slices.Clone(rows[from : from+most])
	for i := range out {
		out[i] = paint(term.Cyan, "│ ") + out[i]
	}
	return out
}

// rows returns the lines with the cursor in them, and which of them has it.
func (e *editor) rows(width int) (rows []string, at int) {
	var b strings.Builder
	n := 0
	end := func() {
		rows = append(rows, b.String())
		b.Reset()
		n = 0
	}
	put := func(text string) {
		if w := runewidth.StringWidth(text); n+w > width && n > 0 {
			end()
			n = w
		} else {
			n += w
		}
		b.WriteString(text)
	}
	for i := 0; i <= len(e.text); i++ {
		if i == e.at {
			put(string(caret))
			at = len(rows)
		}
		switch {
		case i == len(e.text):
		case e.text[i] == '\n':
			end()
		case e.text[i] == '\t':
			put("    ")
		default:
			put(term.Clean(string(e.text[i])))
		}
	}
	end()
	return rows, at
}

func (e *editor) value() any {
	if strings.TrimSpace(string(e.text)) == "" {
		return nil
	}
	return string(e.text)
}

func (e *editor) clear()       { e.text, e.at = nil, 0 }
func (e *editor) writes() bool { return true }

func (e *editor) keys(enter string) string {
	if e.code {
		return "Enter begins a line, Ctrl-D goes on"
	}
	return "Enter " + enter + ", Alt-Enter begins a line"
}
