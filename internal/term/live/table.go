package live

import (
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// column is one of the table of phases.
type column struct {
	head  string
	leave int // where it is among those that go when there is no room, from 1; 0: it stays
	cell  func(ph *phaseProgress, now time.Time) string
}

// tableColumns say how far a phase has come, what it took, how full the model's window was, and for
// how long it runs. They are to the right of its name.
var tableColumns = []column{
	{"attempt", 4, func(ph *phaseProgress, _ time.Time) string { return number(ph.attempt, 2) }},
	{"turn", 5, func(ph *phaseProgress, _ time.Time) string { return number(ph.turn, 1) }},
	{"tools", 2, func(ph *phaseProgress, _ time.Time) string { return number(ph.tools, 1) }},
	{"in", 3, paidCell(func(l *load) string { return term.Count(l.spent.Usage.In) })},
	{"out", 1, paidCell(func(l *load) string { return term.Count(l.spent.Usage.Out) })},
	{"cached", 6, paidCell(func(l *load) string { return cachedShare(l.spent.Usage) })},
	{"window", 7, paidCell((*load).full)},
	{"cost", 8, paidCell(func(l *load) string { return quantity.Cost(l.spent.KnownUSD(), l.spent.UnknownCosts) })},
	{"time", 0, (*phaseProgress).elapsed},
}

// paidCell is empty as long as no call was answered and none may have cost something.
func paidCell(text func(*load) string) func(*phaseProgress, time.Time) string {
	return func(ph *phaseProgress, _ time.Time) string {
		if t := &ph.load.spent; t.Calls <= t.Failed && t.UnknownCosts == 0 {
			return ""
		}
		return text(&ph.load)
	}
}

// number writes a number from least on, and nothing for a smaller one.
func number(n, least int) string {
	if n < least {
		return ""
	}
	return term.Count(int64(n))
}

// grid is the table as it fits: cells by column, the first of each its head.
type grid struct {
	columns []column
	cells   [][]string
	widths  []int
}

const margin = 4 // the mark and the blanks around it

// table returns the phases in columns, without their marks, and the heads of the columns; "" where
// there is no room for any. Columns that are empty are left out, others when there is no room.
func table(phases []phaseProgress, now time.Time, width int) (head string, rows []string) {
	names, nameWidth := make([]string, len(phases)), runewidth.StringWidth("phase")
	for i := range phases {
		nameWidth = max(nameWidth, runewidth.StringWidth(phases[i].name))
		names[i] = phases[i].name
	}
	g := gridOf(phases, now)
	nameWidth = min(nameWidth, max((width-margin)/3, width-margin-g.width(), 8))
	for more := true; more && g.width()+nameWidth+margin > width; {
		more = g.drop()
	}
	row := func(name string, i int) string {
		var b strings.Builder
		b.WriteString(runewidth.FillRight(runewidth.Truncate(name, nameWidth, "…"), nameWidth))
		for c := range g.columns {
			b.WriteString("  " + runewidth.FillLeft(g.cells[c][i], g.widths[c]))
		}
		return runewidth.Truncate(strings.TrimRight(b.String(), " "), max(width-margin, 1), "…")
	}
	for i, name := range names {
		rows = append(rows, row(name, i+1))
	}
	if len(g.columns) == 0 || width < 2*margin {
		return "", rows
	}
	return strings.Repeat(" ", margin) + row("phase", 0), rows
}

// gridOf fills the columns that have something.
func gridOf(phases []phaseProgress, now time.Time) *grid {
	g := &grid{}
	for _, c := range tableColumns {
		cells, widest := []string{c.head}, 0
		for i := range phases {
			cells = append(cells, c.cell(&phases[i], now))
			widest = max(widest, runewidth.StringWidth(cells[i+1]))
		}
		if widest == 0 {
			continue
		}
		g.columns, g.cells = append(g.columns, c), append(g.cells, cells)
		g.widths = append(g.widths, max(widest, runewidth.StringWidth(c.head)))
	}
	return g
}

// width is that of all columns with the blanks before them.
func (g *grid) width() int {
	sum := 0
	for _, w := range g.widths {
		sum += 2 + w
	}
	return sum
}

// drop removes the column that says least; false: none may go.
func (g *grid) drop() bool {
	least := -1
	for i, c := range g.columns {
		if c.leave > 0 && (least < 0 || c.leave < g.columns[least].leave) {
			least = i
		}
	}
	if least < 0 {
		return false
	}
	g.columns = slices.Delete(g.columns, least, least+1)
	g.cells = slices.Delete(g.cells, least, least+1)
	g.widths = slices.Delete(g.widths, least, least+1)
	return true
}
