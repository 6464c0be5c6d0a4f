package term

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// narrowest is the width that no column is cut below.
const narrowest = 8

// Table is text in columns. Numbers are right-aligned. On a terminal the widest columns of text are
// cut to fit. It holds no colours.
type Table struct {
	heads []string
	right []bool // the column holds numbers
	rows  [][]string
}

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
	t.heads, t.right = append(t.heads, Cell(head)), append(t.right, right)
}

// Heads returns the heads of the columns.
func (t *Table) Heads() []string { return t.heads }

// Add adds a row, with a cell for each column.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = Cell(c)
	}
	t.rows = append(t.rows, row)
}

// Render writes the table; width is that of the terminal, 0 for none.
func (t *Table) Render(w io.Writer, width int) error {
	widths := t.widths()
	if width > 0 {
		t.shrink(widths, width)
	}
	var b strings.Builder
	t.line(&b, t.heads, widths)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	t.line(&b, rule, widths)
	for _, row := range t.rows {
		t.line(&b, row, widths)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) widths() []int {
	widths := make([]int, len(t.heads))
	for i, h := range t.heads {
		widths[i] = runewidth.StringWidth(h)
		for _, row := range t.rows {
			widths[i] = max(widths[i], runewidth.StringWidth(row[i]))
		}
	}
	return widths
}

// shrink narrows the widest column of text until the table fits or no column can be narrowed.
func (t *Table) shrink(widths []int, width int) {
	total := 2 * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	for ; total > width; total-- {
		widest := -1
		for i, n := range widths {
			if !t.right[i] && n > narrowest && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (t *Table) line(b *strings.Builder, cells []string, widths []int) {
	var line strings.Builder
	for i, c := range cells {
		if i > 0 {
			line.WriteString("  ")
		}
		if runewidth.StringWidth(c) > widths[i] {
			c = runewidth.Truncate(c, widths[i], "…")
		}
		space := strings.Repeat(" ", widths[i]-runewidth.StringWidth(c))
		if t.right[i] {
			line.WriteString(space + c)
		} else {
			line.WriteString(c + space)
		}
	}
	fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
}
