package term

import (
	"fmt"
	"io"
	"slices"
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
	short map[int][]string // of columns that are never cut: what stands in each row where there is little room
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

// Shorten gives a column other cells, a cell for each row, that are shown when the table is too wide
// with its own. The column is never cut.
func (t *Table) Shorten(column int, cells []string) {
	if t.short == nil {
		t.short = map[int][]string{}
	}
	t.short[column] = cells
}

// Width returns how many columns of a terminal the table takes when nothing is cut or shortened.
func (t *Table) Width() int { return total(t.widths(t.rows)) }

// Render writes the table; width is that of the terminal, 0 for none.
func (t *Table) Render(w io.Writer, width int) error {
	rows := t.rows
	widths := t.widths(rows)
	if width > 0 && total(widths) > width {
		rows = t.shortRows()
		widths = t.widths(rows)
		t.shrink(widths, width)
	}
	var b strings.Builder
	t.line(&b, t.heads, widths)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("-", n)
	}
	t.line(&b, rule, widths)
	for _, row := range rows {
		t.line(&b, row, widths)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shortRows returns the rows with the cells that take less room.
func (t *Table) shortRows() [][]string {
	rows := make([][]string, len(t.rows))
	for i, row := range t.rows {
		rows[i] = slices.Clone(row)
		for column, cells := range t.short {
			rows[i][column] = Cell(cells[i])
		}
	}
	return rows
}

func (t *Table) widths(rows [][]string) []int {
	widths := make([]int, len(t.heads))
	for i, h := range t.heads {
		widths[i] = runewidth.StringWidth(h)
		for _, row := range rows {
			widths[i] = max(widths[i], runewidth.StringWidth(row[i]))
		}
	}
	return widths
}

// shrink narrows the widest column of text until the table fits or no column can be narrowed.
func (t *Table) shrink(widths []int, width int) {
	for over := total(widths) - width; over > 0; over-- {
		widest := -1
		for i, n := range widths {
			if t.short[i] == nil && !t.right[i] && n > narrowest && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// total is how many columns a line takes.
func total(widths []int) int {
	n := 2 * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
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
