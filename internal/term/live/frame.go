package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Room is what a frame has, in columns and lines.
type Room struct {
	Width  int
	Height int // 0: as many as it takes
}

// Frame returns the lines of the view, which fit into the room.
func (p *Progress) Frame(room Room, color bool) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	paint := term.Painter{On: color}.Paint
	total := columns(Tokens(p.total.Usage), quantity.Cost(p.total.KnownUSD(), p.total.UnknownCosts), term.Duration(now.Sub(p.started)))
	foot := []string{paint(term.Dim, term.Cut("  "+total, room.Width))}
	if p.note != "" {
		foot = slices.Insert(foot, 0, paint(term.Yellow, term.Cut("  "+p.note, room.Width)))
	}
	scripted := ""
	if p.total.Scripted > 0 {
		scripted = "(scripted: no model was asked)"
	}
	head := columns(p.cascade, scripted, "session "+p.session)
	out := []string{paint(term.Bold, term.Cut(head, room.Width))}
	below := p.below(room.Width, paint)
	lines := room.Height - len(out) - len(foot) - len(below)
	from, to := p.window(lines, room.Height > 0)
	if from > 0 {
		out = append(out, paint(term.Dim, fmt.Sprintf("  ⋮ %d before", from)))
	}
	for i, row := range p.rows(now, from, to, room.Width) {
		ph := &p.phases[from+i]
		mark, style := marks(ph.status)
		if ph.status == echo.StatusPending {
			row = paint(style, row)
		}
		out = append(out, "  "+paint(style, mark)+" "+row)
		if from+i == p.active() {
			out = append(out, below...)
		}
	}
	if to < len(p.phases) {
		out = append(out, paint(term.Dim, fmt.Sprintf("  ⋮ %d to come", len(p.phases)-to)))
	}
	out = append(out, foot...)
	if room.Height > 0 && len(out) > room.Height { // a terminal of a few lines: the last ones say most
		out = out[len(out)-room.Height:]
	}
	return out
}

// active returns the phase that is running, else the last one that has begun.
func (p *Progress) active() int {
	at := 0
	for i := range p.phases {
		if p.phases[i].status != echo.StatusPending {
			at = i
		}
	}
	return at
}

// below returns the lines under the running phase: its activity, its selected context, its guard.
func (p *Progress) below(width int, paint func(c term.Colour, text string) string) []string {
	if len(p.phases) == 0 {
		return nil
	}
	ph := &p.phases[p.active()]
	if ph.status != echo.StatusRunning {
		return nil
	}
	var out []string
	add := func(c term.Colour, text string) {
		if text != "" {
			out = append(out, paint(c, term.Cut("      "+text, width)))
		}
	}
	if ph.activity != "" {
		add(term.Dim, columns(term.OneLine(ph.activity), term.OneLine(ph.detail)))
	}
	add(term.Dim, ph.selected)
	add(term.Yellow, ph.guard)
	return out
}

// window returns which phases are shown in so many lines: all when they fit, else those around the
// active one, with a line each for those before and after.
func (p *Progress) window(lines int, bounded bool) (from, to int) {
	n := len(p.phases)
	if !bounded || n <= lines {
		return 0, n
	}
	shown := max(lines-2, 1)
	from = min(max(p.active()-shown/2, 0), n-shown)
	return from, from + shown
}

// shapes are the choices of cells, the fullest first: the first that fits the width is taken.
var shapes = [][]int{{0, 1, 2, 3}, {0, 2, 3}, {0, 3}, {3}}

// cells say how far a phase has come, what it took in tokens and in money, and for how long it
// runs.
func (ph *phaseProgress) cells(now time.Time) []string {
	tokens, cost := "", ""
	// Calls were answered, or may have cost something.
	if ph.spent.Calls > ph.spent.Failed || ph.spent.UnknownCosts > 0 {
		tokens, cost = Tokens(ph.spent.Usage), quantity.Cost(ph.spent.KnownUSD(), ph.spent.UnknownCosts)
	}
	return []string{ph.where(), tokens, cost, ph.elapsed(now)}
}

// rows returns the phases in columns, without their marks. Columns that are empty are left out.
func (p *Progress) rows(now time.Time, from, to, width int) []string {
	const margin = 4 // the mark and the blanks around it
	nameWidth := 0
	var cells [][]string
	for i := from; i < to; i++ {
		nameWidth = max(nameWidth, runewidth.StringWidth(p.phases[i].name))
		cells = append(cells, p.phases[i].cells(now))
	}
	nameWidth = min(nameWidth, max((width-margin)/2, 8))
	var out []string
	for _, shape := range shapes {
		out = out[:0]
		for i := from; i < to; i++ {
			out = append(out, runewidth.FillRight(runewidth.Truncate(p.phases[i].name, nameWidth, "…"), nameWidth))
		}
		for _, column := range shape {
			appendColumn(out, cells, column)
		}
		for i, row := range out {
			out[i] = strings.TrimRight(row, " ")
		}
		if !slices.ContainsFunc(out, func(row string) bool { return runewidth.StringWidth(row) > width-margin }) {
			return out
		}
	}
	for i := range out {
		out[i] = runewidth.Truncate(out[i], max(width-margin, 1), "…")
	}
	return out
}

// appendColumn adds to each row its cell of a column, and nothing when all of them are empty.
func appendColumn(rows []string, cells [][]string, column int) {
	widest := 0
	for _, c := range cells {
		widest = max(widest, runewidth.StringWidth(c[column]))
	}
	if widest == 0 {
		return
	}
	for i, c := range cells {
		rows[i] += "  " + runewidth.FillRight(c[column], widest)
	}
}

// where says how far a phase has come.
func (ph *phaseProgress) where() string {
	var parts []string
	if ph.attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", ph.attempt))
	}
	if ph.turn > 0 {
		parts = append(parts, fmt.Sprintf("turn %d", ph.turn))
	}
	if ph.tools > 0 {
		parts = append(parts, term.Plural(ph.tools, "tool"))
	}
	return strings.Join(parts, ", ")
}

func (ph *phaseProgress) elapsed(now time.Time) string {
	switch ph.status {
	case echo.StatusPending:
		return ""
	case echo.StatusRunning:
		return term.Duration(now.Sub(ph.started))
	default:
		return term.Duration(ph.duration)
	}
}

func marks(s echo.Status) (mark string, style term.Colour) {
	switch s {
	case echo.StatusPending:
		return "·", term.Dim
	case echo.StatusRunning:
		return "▸", term.Cyan
	case echo.StatusCompleted:
		return "✓", term.Green
	case echo.StatusInterrupted, echo.StatusOverBudget:
		return "■", term.Yellow
	default:
		return "✗", term.Red
	}
}
