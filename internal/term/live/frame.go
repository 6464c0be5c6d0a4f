package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/term"
)

// Room is what a frame has, in columns and lines.
type Room struct {
	Width  int
	Height int // 0: as many as it takes
}

// Frame returns the view as it stands, each line at most as wide as the room and no more lines than
// fit.
func (p *Progress) Frame(room Room, color bool) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	paint := term.Painter{On: color}.Paint
	total := columns(Tokens(p.total), Money(p.total), term.Duration(now.Sub(p.started)))
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

// below returns the lines under the active phase: what it is doing, what came into it of earlier
// phases, and what the guard of its context did.
func (p *Progress) below(width int, paint func(c term.Colour, text string) string) []string {
	var out []string
	if activity := p.activity(); activity != "" {
		out = append(out, paint(term.Dim, term.Cut("      "+activity, width)))
	}
	if len(p.phases) == 0 {
		return out
	}
	ph := &p.phases[p.active()]
	if ph.status != echo.StatusRunning {
		return out
	}
	if ph.selected != "" {
		out = append(out, paint(term.Dim, term.Cut("      "+ph.selected, width)))
	}
	if ph.guard != "" {
		out = append(out, paint(term.Yellow, term.Cut("      "+ph.guard, width)))
	}
	return out
}

// activity says what the running phase is doing.
func (p *Progress) activity() string {
	if len(p.phases) == 0 {
		return ""
	}
	ph := &p.phases[p.active()]
	if ph.status != echo.StatusRunning || ph.activity == "" {
		return ""
	}
	return columns(term.OneLine(ph.activity), term.OneLine(ph.detail))
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
func (p *Progress) rows(now time.Time, from, to, width int) []string {
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
		parts = append(parts, term.Plural(ph.tools, "tool"))
	}
	return strings.Join(parts, ", ")
}

func (ph *phaseProgress) tokens() string {
	if !ph.paid() {
		return ""
	}
	return Tokens(ph.spent)
}

func (ph *phaseProgress) cost() string {
	if !ph.paid() {
		return ""
	}
	return Money(ph.spent)
}

// paid reports whether calls of the phase have taken something, or may have: they were answered, or
// their cost is unknown.
func (ph *phaseProgress) paid() bool {
	return ph.spent.Calls > ph.spent.Failed || ph.spent.UnknownCosts > 0
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
	default:
		return "✗", term.Red
	}
}
