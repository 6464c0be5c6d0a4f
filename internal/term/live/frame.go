package live

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

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
	whole := p.candidates(now, room, paint)
	foot := []string{paint(term.Dim, term.Cut("  "+p.sums(now, room.Width-len("  ")), room.Width))}
	if p.note != "" {
		foot = slices.Insert(foot, 0, paint(term.Yellow, term.Cut("  "+p.note, room.Width)))
	}
	scripted := ""
	if p.total.Scripted > 0 {
		scripted = "(scripted: no model was asked)"
	}
	out := []string{paint(term.Bold, term.Cut(columns(p.cascade, scripted, "session "+p.session), room.Width))}
	below, all := p.below(now, room, paint)
	figures := p.hasFigures() && (room.Height == 0 || room.Height >= lowest)
	out = append(out, whole...)
	lines := room.Height - len(out) - len(foot) - all
	if figures {
		lines--
	}
	from, to := p.window(lines, room.Height > 0)
	head, rows := table(p.phases[from:to], now, room.Width)
	if figures && head != "" {
		out = append(out, paint(term.Dim, head))
	}
	if from > 0 {
		out = append(out, paint(term.Dim, fmt.Sprintf("  ⋮ %d before", from)))
	}
	for i, row := range rows {
		mark, style := marks(p.phases[from+i].status)
		if p.phases[from+i].status == echo.StatusPending {
			row = paint(style, row)
		}
		out = append(out, "  "+paint(style, mark)+" "+row)
		out = append(out, below[from+i]...)
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

// lowest is the height of a frame that has names of columns.
const lowest = 8

// hasFigures reports whether there is a figure that needs the name of its column.
func (p *Progress) hasFigures() bool {
	return slices.ContainsFunc(p.phases, func(ph phaseProgress) bool { return ph.turn > 0 || ph.tools > 0 || ph.load.spent.Calls > 0 })
}

// sums says what the whole run took, in so many columns.
func (p *Progress) sums(now time.Time, width int) string {
	u := p.total.Usage
	cached := "cached " + term.Count(u.Cached)
	if share := cachedShare(u); share != "" {
		cached += " (" + share + ")"
	}
	took := whole(now.Sub(p.started))
	if p.over {
		took = term.Duration(now.Sub(p.started))
	}
	in, out, cost := "in "+term.Count(u.In), "out "+term.Count(u.Out), quantity.Cost(p.total.KnownUSD(), p.total.UnknownCosts)
	below := p.family.totals()
	if below.Calls == 0 {
		return columns(in, cached, out, cost, took)
	}
	all := p.total.Plus(below)
	cost += ", with children " + quantity.Cost(all.KnownUSD(), all.UnknownCosts)
	if text := columns(in, cached, out, cost, took); runewidth.StringWidth(text) <= width {
		return text
	}
	return columns(cost, took)
}

// active returns the phase that is running, the last of several, else the last one that has begun.
func (p *Progress) active() int {
	at, running := 0, -1
	for i := range p.phases {
		switch p.phases[i].status {
		case echo.StatusPending:
		case echo.StatusRunning:
			at, running = i, i
		default:
			at = i
		}
	}
	if running >= 0 {
		return running
	}
	return at
}

// below returns the lines under each phase that runs, by its index, and how many they are.
func (p *Progress) below(now time.Time, room Room, paint func(c term.Colour, text string) string) (below map[int][]string, all int) {
	var at []int
	for i := range p.phases {
		ph := &p.phases[i]
		hasList := ph.strands.total > 0 && (room.Height == 0 || ph.strands.failed > 0)
		if ph.status == echo.StatusRunning || p.family.runs(ph.at) || hasList {
			at = append(at, i)
		}
	}
	most, limit := mostTools(room), room.Height
	if n := len(at); n > 1 { // together they may have more than one alone, as far as all phases stay in sight
		most = max(2*most/n, 1)
		limit = max((room.Height-len(p.phases)-aroundPhases)/n, 1)
	}
	below = map[int][]string{}
	for _, i := range at {
		lines := p.belowPhase(&p.phases[i], now, Room{room.Width, most}, paint)
		if room.Height > 0 {
			lines = lines[:min(limit, len(lines))]
		}
		below[i] = lines
		all += len(lines)
	}
	return below, all
}

// candidates returns the lines of the candidates of the whole cascade, below the name of the run.
func (p *Progress) candidates(now time.Time, room Room, paint func(c term.Colour, text string) string) []string {
	var out []string
	for _, line := range p.family.contest.all(now, Room{room.Width, mostTools(room)}, p.family.inner) {
		out = append(out, paint(line.style, term.Cut("  "+line.text, room.Width)))
	}
	return out
}

// aroundPhases is how many lines are above and below the phases.
const aroundPhases = 3

// belowPhase returns the lines under a phase: how far its list or its candidates have come and what runs of them, its tools
// or its activity, its children, its selected context, its guard.
func (p *Progress) belowPhase(ph *phaseProgress, now time.Time, room Room, paint func(c term.Colour, text string) string) []string {
	var out []string
	add := func(c term.Colour, text string) {
		if text != "" {
			out = append(out, paint(c, term.Cut("    "+text, room.Width)))
		}
	}
	d, left := &ph.doing, room.Height
	show := func(lines []string) {
		left = max(left-len(lines), 1)
		for _, line := range lines {
			add(term.Cyan, line)
		}
	}
	contest := ph.strands.contest.all(now, room, p.family.inner)
	left = max(left-len(contest), 1)
	for _, line := range contest {
		add(line.style, line.text)
	}
	if ph.strands.total > 0 {
		add(term.Dim, labelled("  ", ph.strands.sum()))
	}
	show(d.running.lines(now, left))
	show(ph.strands.lines(now, left, room.Width))
	show(p.family.lines(ph.at, now, left, room.Width))
	if d.activity != "" {
		add(term.Dim, clocked(whole(now.Sub(d.since)), columns(term.OneLine(d.activity), tailOf(term.OneLine(d.detail), room.Width))))
	}
	add(term.Dim, labelled("  ", d.selected))
	add(term.Yellow, labelled("  ", d.guard))
	return out
}

// tailOf is the end of a text that streams, where something happens, as far as a line has room.
func tailOf(text string, width int) string {
	room := max(width-longestActivity, 8)
	for i, n := len(text), 0; i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if n += runewidth.RuneWidth(r); n > room {
			return "…" + text[i:]
		}
		i -= size
	}
	return text
}

const longestActivity = 26 // columns before such a text

// mostTools is how many lines tools may have: a third of a terminal, and not more than ten.
func mostTools(room Room) int {
	if room.Height == 0 {
		return 10
	}
	return min(max(room.Height/3, 1), 10)
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

func (ph *phaseProgress) elapsed(now time.Time) string {
	switch ph.status {
	case echo.StatusPending:
		return ""
	case echo.StatusRunning:
		return whole(now.Sub(ph.started))
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
	case echo.StatusInterrupted, echo.StatusOverBudget, echo.StatusWaiting:
		return "■", term.Yellow
	default:
		return "✗", term.Red
	}
}
