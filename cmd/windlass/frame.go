package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
)

// size is the room that a frame has, in columns and lines.
type size struct {
	width  int
	height int // 0: as many as it takes
}

// frame returns the view as it stands, each line at most as wide as the room and no more lines than fit.
func (p *progress) frame(room size, color bool) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	paint := painter{on: color}.paint
	total := columns(spentTokens(p.total), spentMoney(p.total), formatDuration(now.Sub(p.started)))
	foot := []string{paint(colourDim, cut("  "+total, room.width))}
	if p.note != "" {
		foot = slices.Insert(foot, 0, paint(colourYellow, cut("  "+p.note, room.width)))
	}
	scripted := ""
	if p.total.Scripted > 0 {
		scripted = "(scripted: no model was asked)"
	}
	head := columns(p.cascade, scripted, "session "+p.session)
	out := []string{paint(colourBold, cut(head, room.width))}
	below := p.below(room.width, paint)
	lines := room.height - len(out) - len(foot) - len(below)
	from, to := p.window(lines, room.height > 0)
	if from > 0 {
		out = append(out, paint(colourDim, fmt.Sprintf("  ⋮ %d before", from)))
	}
	for i, row := range p.rows(now, from, to, room.width) {
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
		out = append(out, paint(colourDim, fmt.Sprintf("  ⋮ %d to come", len(p.phases)-to)))
	}
	out = append(out, foot...)
	if room.height > 0 && len(out) > room.height { // a terminal of a few lines: the last ones say most
		out = out[len(out)-room.height:]
	}
	return out
}

// active returns the phase that is running, else the last one that has begun.
func (p *progress) active() int {
	at := 0
	for i := range p.phases {
		if p.phases[i].status != echo.StatusPending {
			at = i
		}
	}
	return at
}

// below returns the lines under the active phase: what it is doing, what came into it of earlier phases, and what the
// guard of its context did.
func (p *progress) below(width int, paint func(style, text string) string) []string {
	var out []string
	if activity := p.activity(); activity != "" {
		out = append(out, paint(colourDim, cut("      "+activity, width)))
	}
	if len(p.phases) == 0 {
		return out
	}
	ph := &p.phases[p.active()]
	if ph.status != echo.StatusRunning {
		return out
	}
	if ph.selected != "" {
		out = append(out, paint(colourDim, cut("      "+ph.selected, width)))
	}
	if ph.guard != "" {
		out = append(out, paint(colourYellow, cut("      "+ph.guard, width)))
	}
	return out
}

// activity says what the running phase is doing.
func (p *progress) activity() string {
	if len(p.phases) == 0 {
		return ""
	}
	ph := &p.phases[p.active()]
	if ph.status != echo.StatusRunning || ph.activity == "" {
		return ""
	}
	return columns(oneLine(ph.activity), oneLine(ph.detail))
}

// window returns which phases are shown in so many lines: all when they fit, else those around the active one, with a
// line each for those before and after.
func (p *progress) window(lines int, bounded bool) (from, to int) {
	n := len(p.phases)
	if !bounded || n <= lines {
		return 0, n
	}
	shown := max(lines-2, 1)
	from = min(max(p.active()-shown/2, 0), n-shown)
	return from, from + shown
}

// shapes are the choices of columns, the fullest first: the first that fits the width is taken.
var shapes = [...]func(ph *phaseProgress, now time.Time) []string{
	func(ph *phaseProgress, now time.Time) []string {
		return []string{ph.where(), ph.tokens(), ph.cost(), ph.elapsed(now)}
	},
	func(ph *phaseProgress, now time.Time) []string {
		return []string{ph.where(), ph.cost(), ph.elapsed(now)}
	},
	func(ph *phaseProgress, now time.Time) []string { return []string{ph.where(), ph.elapsed(now)} },
	func(ph *phaseProgress, now time.Time) []string { return []string{ph.elapsed(now)} },
}

// rows returns the phases in columns, without their marks.
func (p *progress) rows(now time.Time, from, to, width int) []string {
	const margin = 4 // the mark and the blanks around it
	nameWidth := 0
	for i := from; i < to; i++ {
		nameWidth = max(nameWidth, runewidth.StringWidth(p.phases[i].name))
	}
	nameWidth = min(nameWidth, max((width-margin)/2, 8))
	var out []string
	for _, shape := range shapes {
		out = out[:0]
		cells := make([][]string, 0, to-from)
		for i := from; i < to; i++ {
			cells = append(cells, shape(&p.phases[i], now))
		}
		pad(cells)
		fits := true
		for i, row := range cells {
			name := runewidth.FillRight(runewidth.Truncate(p.phases[from+i].name, nameWidth, "…"), nameWidth)
			text := strings.TrimRight(strings.Join(append([]string{name}, row...), "  "), " ")
			fits = fits && runewidth.StringWidth(text) <= width-margin
			out = append(out, text)
		}
		if fits {
			return out
		}
	}
	for i := range out {
		out[i] = runewidth.Truncate(out[i], max(width-margin, 1), "…")
	}
	return out
}

// pad makes the cells of each column equally wide and leaves out columns that are empty.
func pad(rows [][]string) {
	var widths []int
	for _, row := range rows {
		widths = append(widths, make([]int, max(len(row)-len(widths), 0))...)
		for c, text := range row {
			widths[c] = max(widths[c], runewidth.StringWidth(text))
		}
	}
	for i, row := range rows {
		kept := row[:0]
		for c, text := range row {
			if widths[c] > 0 {
				kept = append(kept, runewidth.FillRight(text, widths[c]))
			}
		}
		rows[i] = kept
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
		parts = append(parts, plural(ph.tools, "tool"))
	}
	return strings.Join(parts, ", ")
}

func (ph *phaseProgress) tokens() string {
	if !ph.paid() {
		return ""
	}
	return spentTokens(ph.spent)
}

func (ph *phaseProgress) cost() string {
	if !ph.paid() {
		return ""
	}
	return spentMoney(ph.spent)
}

// paid reports whether calls of the phase have taken something, or may have: they were answered, or their cost is unknown.
func (ph *phaseProgress) paid() bool {
	return ph.spent.Calls > ph.spent.Failed || ph.spent.UnknownCosts > 0
}

func (ph *phaseProgress) elapsed(now time.Time) string {
	switch ph.status {
	case echo.StatusPending:
		return ""
	case echo.StatusRunning:
		return formatDuration(now.Sub(ph.started))
	default:
		return formatDuration(ph.duration)
	}
}

func marks(s echo.Status) (mark, style string) {
	switch s {
	case echo.StatusPending:
		return "·", colourDim
	case echo.StatusRunning:
		return "▸", colourCyan
	case echo.StatusCompleted:
		return "✓", colourGreen
	default:
		return "✗", colourRed
	}
}

// cut shortens a line to a width in columns.
func cut(s string, width int) string { return runewidth.Truncate(s, max(width, 1), "…") }
