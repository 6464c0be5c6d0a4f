package contexts

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term"
)

// Phases draws a bar for each visit to a phase: what its calls were sent, by form, and what full
// history would have had. Nothing is drawn for a session without calls.
func Phases(o Out, calls []inspect.Call) error {
	visits := sumVisits(calls)
	if len(visits) == 0 {
		return nil
	}
	cells := [][]string{{"context", "sent", "of full"}}
	names := VisitNames(visitsOf(visits))
	var longest int64 = 1
	for i := range visits {
		v := &visits[i]
		longest = max(longest, v.FullHistorySize, v.ContextSize)
		cells = append(cells, []string{names[v.Visit], term.Count(v.ContextSize), term.Count(v.FullHistorySize)})
	}
	rows := alignCells(cells)
	p := printer{Out: o}
	width := runewidth.StringWidth(rows[0])
	room := max(narrowBar, min(widestBar, o.lineWidth()-width-2))
	if head, marks := p.Paint(term.Bold, rows[0]), legend(p.Painter); width+2+runewidth.StringWidth(term.StripColour(marks)) > o.lineWidth() {
		p.line("%s\n%s", marks, head)
	} else {
		p.line("%s  %s", head, marks)
	}
	for i := range visits {
		p.line("%s", strings.TrimRight(rows[i+1]+"  "+p.bar(&visits[i], longest, room), " "))
	}
	return p.err
}

// sumVisits adds up the calls of each visit, in the order in which the visits began.
func sumVisits(calls []inspect.Call) []inspect.Call {
	var sums []inspect.Call
	at := map[echo.Key]int{}
	for i := range calls {
		c := &calls[i]
		n, ok := at[c.Visit]
		if !ok {
			n = len(sums)
			at[c.Visit] = n
			sums = append(sums, inspect.Call{Visit: c.Visit, Forms: map[autocontext.Form]inspect.FormSum{}})
		}
		sum := &sums[n]
		sum.ContextSize += c.ContextSize
		sum.FullHistorySize += c.FullHistorySize
		for form, f := range c.Forms {
			sum.Forms[form] = inspect.FormSum{Messages: sum.Forms[form].Messages + f.Messages, Tokens: sum.Forms[form].Tokens + f.Tokens}
		}
	}
	return sums
}

// alignCells writes each row as a line: the first cell to the left, the others to the right.
func alignCells(cells [][]string) []string {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	rows := make([]string, len(cells))
	for i, row := range cells {
		padded := []string{runewidth.FillRight(row[0], widths[0])}
		for j, cell := range row[1:] {
			padded = append(padded, runewidth.FillLeft(cell, widths[j+1]))
		}
		rows[i] = strings.Join(padded, "  ")
	}
	return rows
}
