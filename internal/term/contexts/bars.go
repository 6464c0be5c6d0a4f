package contexts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
)

const (
	widestBar = 60 // columns
	narrowBar = 10
)

// barPart is a kind of stretch in a bar. The marks tell them apart without colours.
type barPart struct {
	forms  []autocontext.Form
	mark   string
	colour term.Colour
	name   string
}

// barParts are the stretches in their order. What full history would have had besides follows them.
var barParts = []barPart{
	{[]autocontext.Form{autocontext.FormFull, autocontext.FormText}, "█", term.Cyan, "full"},
	{[]autocontext.Form{autocontext.FormExcerpt, autocontext.FormStub}, "▓", term.Green, "cut"},
	{[]autocontext.Form{autocontext.FormMasked}, "▒", term.Yellow, "masked"},
	{[]autocontext.Form{autocontext.FormSummary}, "◆", term.Red, "summary"},
}

const savedMark = "·"

// bars writes a line for each call, with the tokens of each form as a bar. All bars have one scale.
func (p *printer) bars(calls []inspect.Call, width int) {
	var longest int64 = 1
	for i := range calls {
		longest = max(longest, calls[i].FullHistorySize, calls[i].ContextSize)
	}
	calls = grouped(calls)
	names := VisitNames(visitsOf(calls))
	head, rows, gone := barRows(calls, width, p.Wide)
	room := max(narrowBar, min(widestBar, width-runewidth.StringWidth(head)-1-noteWidth(calls)))
	p.line("%s\n%s", legend(p.Painter), p.Paint(term.Dim, head))
	for i := range calls {
		c := &calls[i]
		if i == 0 || c.Visit != calls[i-1].Visit {
			p.line("%s %s", p.Paint(term.Bold, names[c.Visit]), p.Paint(term.Dim, term.Cell(c.Model)))
		}
		note := notAnswered(c)
		if note != "" {
			note = term.Cut(note, width-runewidth.StringWidth(head)-1-room)
		}
		p.line("%s", strings.TrimRight(rows[i]+" "+p.bar(c, longest, room)+note, " "))
	}
	if len(gone) > 0 {
		p.line("%s", p.Paint(term.Dim, term.NotShown(gone, width)))
	}
}

// notAnswered says why a call has no answer, with a blank before it; "" when it has one.
func notAnswered(c *inspect.Call) string {
	switch {
	case c.Answered:
		return ""
	case c.Error == "":
		return " no answer"
	}
	return " " + term.Cell(c.Error)
}

func noteWidth(calls []inspect.Call) (n int) {
	for i := range calls {
		n = max(n, runewidth.StringWidth(notAnswered(&calls[i])))
	}
	return n
}

// barRows returns what is left of the bars, with a head: as many columns as leave room for a bar, and
// the heads of the others.
func barRows(calls []inspect.Call, width int, all bool) (head string, rows, gone []string) {
	cells := [][]string{{"call", "turn", "sent", "of full", "as before"}}
	for i := range calls {
		c := &calls[i]
		cells = append(cells, []string{
			fmt.Sprint(c.Number), c.InVisit(), term.Count(c.ContextSize), term.Count(c.FullHistorySize), asBefore(c),
		})
	}
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	columns := len(widths)
	for !all && columns > 3 && sum(widths[:columns])+columns+narrowBar+noteWidth(calls) > width {
		columns--
	}
	gone = cells[0][columns:]
	for _, row := range cells {
		for i, cell := range row[:columns] {
			if row[i] = runewidth.FillLeft(cell, widths[i]); i == 1 {
				row[i] = runewidth.FillRight(cell, widths[i])
			}
		}
		rows = append(rows, strings.Join(row[:columns], " "))
	}
	return rows[0], rows[1:], gone
}

func sum[N int | int64](list []N) (n N) {
	for _, v := range list {
		n += v
	}
	return n
}

// asBefore says how much of a request was equal to the one before.
func asBefore(c *inspect.Call) string {
	if c.ContextSize == 0 {
		return ""
	}
	return term.Share(c.SharedSize, c.ContextSize)
}

// legend explains the marks.
func legend(p term.Painter) string {
	var parts []string
	for _, part := range barParts {
		parts = append(parts, p.Paint(part.colour, part.mark)+" "+part.name)
	}
	parts = append(parts, p.Paint(term.Dim, savedMark)+" not sent")
	return strings.Join(parts, "  ")
}

// bar draws a call in at most room columns for the longest one.
func (p *printer) bar(c *inspect.Call, longest int64, room int) string {
	sizes := make([]int64, len(barParts)+1)
	for i, part := range barParts {
		for _, f := range part.forms {
			sizes[i] += c.Forms[f].Tokens
		}
	}
	sizes[len(barParts)] = max(0, c.FullHistorySize-c.ContextSize)
	var b strings.Builder
	for i, n := range fitCells(sizes, longest, room) {
		switch {
		case n == 0:
		case i == len(barParts):
			b.WriteString(p.Paint(term.Dim, strings.Repeat(savedMark, n)))
		default:
			b.WriteString(p.Paint(barParts[i].colour, strings.Repeat(barParts[i].mark, n)))
		}
	}
	return b.String()
}

// fitCells turns sizes into numbers of cells, at most room for a sum of longest. Each size above
// zero has a cell; the rest go where the most is missing.
func fitCells(sizes []int64, longest int64, room int) []int {
	cells := make([]int, len(sizes))
	total := int(min((sum(sizes)*int64(room)+longest/2)/longest, int64(room)))
	used := 0
	for i, s := range sizes {
		if s > 0 {
			cells[i] = max(1, int(s*int64(room)/longest))
			used += cells[i]
		}
	}
	for ; used > total; used-- { // the ones that got a cell for next to nothing: the largest give
		largest := slices.Index(cells, slices.Max(cells))
		if cells[largest] <= 1 {
			break
		}
		cells[largest]--
	}
	for ; used < total; used++ {
		most, lack := -1, int64(-1)
		for i, s := range sizes {
			if d := s*int64(room) - int64(cells[i])*longest; s > 0 && d > lack {
				most, lack = i, d
			}
		}
		if most < 0 {
			break
		}
		cells[most]++
	}
	return cells
}
