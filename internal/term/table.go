package term

import (
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Table is text in columns. Numbers are right-aligned. Where a terminal has no room for all of it,
// columns are left out as [Table.Drop] says, and text is cut. It holds no colours.
type Table struct {
	columns []column
	drops   []string // heads, in the order in which their columns go
	rows    [][]string
	notes   map[int][]string // lines before a row, by its number
}

type column struct {
	head  string
	right bool     // it holds numbers
	key   bool     // it is never cut
	wraps bool     // it goes on in the next line instead of being cut; the last column only
	parts bool     // and so does a word of it that is longer than a line
	short []string // what stands in each row where there is little room
}

// Room is where a table is written.
type Room struct {
	Width int // the columns of a terminal; 0: all is shown, and nothing is cut
	Painter
}

// RoomOf is that of an output.
func RoomOf(w io.Writer) Room { return Room{Width(w), Painter{WantsColour(w)}} }

// NewTable makes a table with these heads. One that begins with ">" is of a column of numbers.
func NewTable(heads ...string) *Table {
	t := &Table{}
	for _, h := range heads {
		name, right := strings.CutPrefix(h, ">")
		t.Column(name, right)
	}
	return t
}

// Column adds a column before there are rows; right is for numbers.
func (t *Table) Column(head string, right bool) {
	t.columns = append(t.columns, column{head: Cell(head), right: right})
}

// Heads returns the heads of the columns.
func (t *Table) Heads() []string {
	heads := make([]string, len(t.columns))
	for i := range t.columns {
		heads[i] = t.columns[i].head
	}
	return heads
}

// Key says that the columns under these heads hold what can be typed: it is never cut. What
// follows a key that is too long goes below it.
func (t *Table) Key(heads ...string) *Table {
	return t.each(heads, func(c *column) { c.key = true })
}

// Drop says which columns are left out where there is no room for them, the first one first.
func (t *Table) Drop(heads ...string) *Table {
	t.drops = heads
	return t
}

// WrapLast says that the cells of the last column go on in the next line where they are too long.
func (t *Table) WrapLast() *Table {
	t.columns[len(t.columns)-1].wraps = true
	return t
}

// BreakLast is WrapLast, with words divided that are longer than a line: for texts that nobody copies a word of.
func (t *Table) BreakLast() *Table {
	t.columns[len(t.columns)-1].parts = true
	return t.WrapLast()
}

// Shorten gives a column other cells, a cell for each row, that are shown when the table is too wide
// with its own. The column is never cut.
func (t *Table) Shorten(head string, cells []string) *Table {
	return t.each([]string{head}, func(c *column) { c.short, c.key = cells, true })
}

func (t *Table) each(heads []string, do func(*column)) *Table {
	for i := range t.columns {
		if slices.Contains(heads, t.columns[i].head) {
			do(&t.columns[i])
		}
	}
	return t
}

// Add adds a row, with a cell for each column.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = Cell(c)
	}
	t.rows = append(t.rows, row)
}

// Note adds a line between the rows so far and the next one. It goes over all columns.
func (t *Table) Note(text string) {
	if t.notes == nil {
		t.notes = map[int][]string{}
	}
	t.notes[len(t.rows)] = append(t.notes[len(t.rows)], Cell(text))
}

// Render writes the table, and below it which columns it leaves out.
func (t *Table) Render(w io.Writer, room Room) error {
	l := t.fit(room.Width)
	p := &tableWriter{layout: l, places: l.places(room.Width), width: room.Width}
	p.row(l.cells(t.Heads()))
	rules := make([]string, len(l.widths))
	for i, n := range l.widths {
		rules[i] = strings.Repeat("-", n)
	}
	p.row(rules)
	for i, row := range l.rows {
		p.notes(t.notes[i], room)
		p.row(l.cells(row))
	}
	p.notes(t.notes[len(l.rows)], room)
	if len(l.gone) > 0 {
		p.WriteString(room.Paint(Dim, NotShown(l.gone, room.Width)) + "\n")
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// NotShown names columns that are left out, as many as a line has room for.
func NotShown(heads []string, width int) string {
	const begin, end = "not shown: ", " (--wide)"
	line := begin + strings.Join(heads, ", ") + end
	for n := len(heads) - 1; n > 0 && runewidth.StringWidth(line) > width; n-- {
		line = begin + strings.Join(heads[:n], ", ") + " and " + Count(int64(len(heads)-n)) + " more" + end
	}
	return line
}

// tableWriter writes rows, each in as many lines as it needs.
type tableWriter struct {
	strings.Builder
	layout
	places []place
	width  int
}

// row writes the cells of the columns that are shown.
func (p *tableWriter) row(cells []string) {
	line, at := "", 0 // what is written of the line, and how many columns that takes
	end := func() {
		if line = strings.TrimRight(line, " "); line != "" {
			p.WriteString(line + "\n")
		}
		line, at = "", 0
	}
	var rest []string // of a cell that wraps
	for i, c := range cells {
		col, where := &p.columns[i], p.places[i]
		switch {
		case col.wraps && runewidth.StringWidth(c) > where.width:
			lines := Wrapped(c, where.width)
			if col.parts {
				lines = divided(lines, where.width)
			}
			c, rest = lines[0], lines[1:]
		case !col.key && runewidth.StringWidth(c) > where.width:
			c = runewidth.Truncate(c, where.width, "…")
		}
		n := runewidth.StringWidth(c)
		begin := where.at
		if col.right {
			begin += max(0, where.width-n)
		}
		if i > 0 && (p.places[i-1].line < where.line || c != "" && at > max(0, begin-gap)) {
			end()
		}
		if p.width > 0 && n > where.width && begin+n > p.width && begin > indent {
			end()
			begin = indent
		}
		if c != "" {
			line += strings.Repeat(" ", begin-at) + c
			at = begin + n
		}
	}
	end()
	p.rest(rest, p.places[len(p.places)-1])
}

// notes writes lines that go over all columns.
func (p *tableWriter) notes(notes []string, room Room) {
	for _, n := range notes {
		lines := []string{n}
		if p.width > 0 {
			lines = Wrapped(n, p.width)
		}
		for _, l := range lines {
			p.WriteString(room.Paint(Bold, l) + "\n")
		}
	}
}

// rest writes the lines in which a cell goes on.
func (p *tableWriter) rest(lines []string, where place) {
	for _, l := range lines {
		at := where.at
		if n := runewidth.StringWidth(l); n > where.width {
			at = max(0, min(at, p.width-n))
		}
		p.WriteString(strings.Repeat(" ", at) + l + "\n")
	}
}

// divided returns lines with those divided that are longer than a width.
func divided(lines []string, width int) (out []string) {
	for _, l := range lines {
		for runewidth.StringWidth(l) > width {
			first := runewidth.Truncate(l, width, "")
			if first == "" { // not even one character has room
				break
			}
			out, l = append(out, first), l[len(first):]
		}
		out = append(out, l)
	}
	return out
}

// Wrapped divides a text between its words into lines of a width, at least one. A word that is longer
// has a line of its own.
func Wrapped(s string, width int) []string {
	var lines []string
	line, n := "", 0
	for i, word := range strings.Split(s, " ") {
		w := runewidth.StringWidth(word)
		if i > 0 && n+1+w > width {
			lines = append(lines, line)
			line, n = word, w
			continue
		}
		if i > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+word, n+w
	}
	return append(lines, line)
}
