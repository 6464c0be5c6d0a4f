package term

import (
	"slices"

	"github.com/mattn/go-runewidth"
)

const (
	gap    = 2 // columns of a terminal between two columns of a table
	indent = 2 // of what goes below the beginning of its row
)

// How wide columns stay while others can still be left out, and how narrow they become after that.
const (
	enoughOfText = 20
	enoughOfKey  = 40
	narrowest    = 8
)

// layout is how a table is written: which columns, how wide, and with which cells.
type layout struct {
	columns []column
	index   []int // of each column in a whole row
	widths  []int
	enough  []int      // widths that columns should have while others can still be left out
	rows    [][]string // whole rows
	gone    []string   // heads of what is left out
}

// fit decides how a table is written in so many columns of a terminal, 0 for as many as it takes.
func (t *Table) fit(width int) layout {
	l := layout{columns: t.columns, rows: t.rows}
	for i := range t.columns {
		l.index = append(l.index, i)
	}
	l.measure()
	if width == 0 || total(l.widths) <= width {
		return l
	}
	l.rows = t.shortRows()
	l.measure()
	l = l.without(t.toDrop(l.enough, width))
	l.shrink(width)
	return l
}

// toDrop returns the columns that are left out, in the order of the table's drops. One that has room
// again when a wider one is gone stays.
func (t *Table) toDrop(enough []int, width int) []int {
	over := total(enough) - width
	var gone []int
	for _, head := range t.drops {
		i := slices.IndexFunc(t.columns, func(c column) bool { return c.head == head && !c.key })
		if over > 0 && i >= 0 && !slices.Contains(gone, i) {
			gone = append(gone, i)
			over -= enough[i] + gap
		}
	}
	for n := len(gone) - 1; n >= 0; n-- {
		if more := enough[gone[n]] + gap; over+more <= 0 {
			over += more
			gone = slices.Delete(gone, n, n+1)
		}
	}
	return gone
}

// without leaves columns out.
func (l layout) without(gone []int) layout {
	out := layout{rows: l.rows}
	for i := range l.columns {
		if !slices.Contains(gone, i) {
			out.columns = append(out.columns, l.columns[i])
			out.index = append(out.index, i)
			out.widths = append(out.widths, l.widths[i])
			out.enough = append(out.enough, l.enough[i])
		}
	}
	for _, i := range gone {
		out.gone = append(out.gone, l.columns[i].head)
	}
	return out
}

// shortRows returns the rows with the cells that take less room.
func (t *Table) shortRows() [][]string {
	rows := make([][]string, len(t.rows))
	for i, row := range t.rows {
		rows[i] = slices.Clone(row)
		for j := range t.columns {
			if short := t.columns[j].short; short != nil {
				rows[i][j] = Cell(short[i])
			}
		}
	}
	return rows
}

// measure sets the widths to those at which nothing is cut, and those that are enough.
func (l *layout) measure() {
	l.widths, l.enough = make([]int, len(l.columns)), make([]int, len(l.columns))
	for i := range l.columns {
		cells := make([]int, len(l.rows))
		for j, row := range l.rows {
			cells[j] = runewidth.StringWidth(row[l.index[i]])
		}
		slices.Sort(cells)
		head := runewidth.StringWidth(l.columns[i].head)
		l.widths[i], l.enough[i] = head, head
		if n := len(cells); n > 0 {
			l.widths[i] = max(head, cells[n-1])
			l.enough[i] = max(head, usual(cells))
		}
		switch c := &l.columns[i]; {
		case c.key:
			l.enough[i] = min(l.enough[i], enoughOfKey)
		case c.right:
			l.enough[i] = l.widths[i]
		default:
			l.enough[i] = min(l.widths[i], enoughOfText)
		}
	}
}

// usual is the width that all but a few cells have at most, by their sorted widths: one that is much
// longer than the others takes no columns from them.
func usual(sorted []int) int {
	const muchLonger = 12
	n := len(sorted)
	most, longest := sorted[(4*n+4)/5-1], sorted[n-1]
	if longest <= most+muchLonger {
		return longest
	}
	return most
}

// cells returns those of a whole row that are shown.
func (l *layout) cells(row []string) []string {
	out := make([]string, len(l.index))
	for i, n := range l.index {
		out[i] = row[n]
	}
	return out
}

// shrink narrows the widest columns until the table fits or none can be narrowed: text first, then
// keys, as what follows a key that is too long goes below it. Numbers stay.
func (l *layout) shrink(width int) {
	floors := func(text, key func(i int) int) []int {
		out := make([]int, len(l.columns))
		for i := range l.columns {
			switch c := &l.columns[i]; {
			case c.key:
				out[i] = key(i)
			case c.right:
				out[i] = l.widths[i]
			default:
				out[i] = text(i)
			}
		}
		return out
	}
	whole := func(i int) int { return l.widths[i] }
	enough := func(i int) int { return l.enough[i] }
	least := func(int) int { return narrowest }
	for _, floor := range [][]int{floors(enough, whole), floors(enough, enough), floors(least, enough), floors(least, least)} {
		for over := total(l.widths) - width; over > 0; over-- {
			widest := -1
			for i, n := range l.widths {
				if n > floor[i] && (widest < 0 || n > l.widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			l.widths[widest]--
		}
	}
}

// total is how many columns of a terminal a line takes.
func total(widths []int) int {
	n := gap * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}

// place is where a column stands: in which line of its row, from where, and how wide.
type place struct{ line, at, width int }

// places puts the columns beside each other, and below where even then there is no room.
func (l *layout) places(width int) []place {
	places := make([]place, len(l.widths))
	line, at := 0, 0
	for i, n := range l.widths {
		if width > 0 && i > 0 && at+n > width {
			line, at = line+1, indent
		}
		places[i] = place{line, at, n}
		at += n + gap
	}
	return places
}
