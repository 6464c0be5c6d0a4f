// Package plot draws charts in characters: bars over the calls of a session, and lines. Axes begin at
// zero, and every part has a mark of its own, so no colour is needed to read a chart. It is pure.
package plot

import (
	"fmt"
	"math"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Canvas is where charts are drawn.
type Canvas struct {
	Width int  // columns of a line
	ASCII bool // only characters of ASCII
}

// Axes are what all charts have.
type Axes struct {
	Title string
	X     string                                   // what is counted from left to right, such as "call"
	Y     func(value, step float64) (label string) // the label of a tick; step is the distance between ticks
}

// The marks of bars and axes, and what stands for them in ASCII.
const (
	markSolid  = "█"
	markShaded = "░"
	markLevel  = "▁"
	markSlight = "▂" // less than half a row

	axisUp, axisTick, axisCorner, axisAlong, axisTickDown = "│", "┤", "└", "─", "┬"
)

var inASCII = strings.NewReplacer(markSolid, "#", markShaded, ":", markLevel, "_", markSlight, ".",
	axisUp, "|", axisTick, "+", axisCorner, "+", axisAlong, "-", axisTickDown, "+", "…", "~")

// mark returns a mark as the canvas can show it.
func (c Canvas) mark(s string) string {
	if c.ASCII {
		return inASCII.Replace(s)
	}
	return s
}

// scale is the vertical axis: from zero to the highest tick.
type scale struct {
	step  float64
	ticks int // above zero
	rows  int // of characters, the same number between all ticks
}

// newScale returns an axis with three to five round ticks above zero, the highest not below most.
func newScale(most float64) scale {
	if !(most > 0) || math.IsInf(most, 0) {
		most = 1
	}
	step := roundStep(most / 5)
	ticks := max(1, int(math.Ceil(most/step-1e-9)))
	return scale{step, ticks, ticks * max(2, 12/ticks)}
}

// roundStep returns the smallest of 1, 2, 5, 10 and so on, and their tenths, that is not below v.
func roundStep(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if unit*m >= v*(1-1e-9) {
			return unit * m
		}
	}
	return unit * 10
}

// row returns how many rows above the axis a value is, rounded.
func (s scale) row(v float64) int { return int(math.Round(s.height(v))) }

func (s scale) height(v float64) float64 {
	return max(v, 0) / (s.step * float64(s.ticks)) * float64(s.rows)
}

// label returns the label of the tick in a row, "" where there is none.
func (s scale) label(row int, y func(v, step float64) string) string {
	between := s.rows / s.ticks
	if row%between != 0 {
		return ""
	}
	return y(float64(row/between)*s.step, s.step)
}

// slots divide the width among calls: each has as many columns as all, or several share a column.
type slots struct {
	calls  int
	each   int // columns of a slot
	shared int // calls in a slot
}

// widestSlot is how many columns a call has at most.
const widestSlot = 8

func newSlots(calls, width int) slots {
	width = max(width, 1)
	if calls > width {
		return slots{calls: calls, each: 1, shared: (calls + width - 1) / width}
	}
	return slots{calls: calls, each: min(widestSlot, width/max(calls, 1)), shared: 1}
}

func (s slots) count() int { return (s.calls + s.shared - 1) / s.shared }

// bar returns how many columns of a slot its bar has: the others are a gap.
func (s slots) bar() int {
	if s.each < 2 {
		return s.each
	}
	return s.each - 1
}

// mean returns the mean of the values of a slot.
func (s slots) mean(values []float64, slot int) float64 {
	from := slot * s.shared
	to := min(from+s.shared, len(values))
	if from >= to {
		return 0
	}
	sum := 0.0
	for _, v := range values[from:to] {
		sum += v
	}
	return sum / float64(to-from)
}

// frame is the area of a chart with its axes.
type frame struct {
	Canvas
	scale
	slots
	left  int        // columns before the area
	cells [][]string // by row from the axis upwards, by column; the highest row is above the highest tick
}

func (c Canvas) frame(a Axes, most float64, calls int) *frame {
	f := &frame{Canvas: c, scale: newScale(most)}
	for tick := 0; tick <= f.ticks; tick++ {
		f.left = max(f.left, runewidth.StringWidth(a.Y(float64(tick)*f.step, f.step)))
	}
	f.left += 2 // a blank and the axis
	f.slots = newSlots(calls, c.Width-f.left)
	f.cells = make([][]string, f.rows+1)
	for r := range f.cells {
		f.cells[r] = make([]string, f.count()*f.each)
		for x := range f.cells[r] {
			f.cells[r][x] = " "
		}
	}
	return f
}

// lines returns the chart: its title, its legend, the area with the axes.
func (f *frame) lines(a Axes, legend []string) []string {
	out := []string{cut(a.Title, f.Width)}
	out = append(out, f.legend(legend)...)
	for r := f.rows; r >= 0; r-- {
		if r == f.rows && strings.TrimSpace(strings.Join(f.cells[r], "")) == "" {
			continue
		}
		out = append(out, f.line(a, r))
	}
	return append(append(out, f.along(f.label(0, a.Y))), f.numbers(a)...)
}

// line returns a row of the area. The tick of a height is in the row that is filled up to it.
func (f *frame) line(a Axes, row int) string {
	label, axis := "", axisUp
	if row < f.rows {
		if label = f.label(row+1, a.Y); label != "" {
			axis = axisTick
		}
	}
	pad := strings.Repeat(" ", f.left-2-runewidth.StringWidth(label))
	return strings.TrimRight(pad+label+" "+f.mark(axis)+f.mark(strings.Join(f.cells[row], "")), " ")
}

// ticksAlong returns the numbers of calls that are written below the axis, and the columns of their ticks.
func (f *frame) ticksAlong() (numbers, columns []int) {
	widest := len(fmt.Sprint(f.calls)) + 1
	step := 1
	for widest*f.shared > step*f.each {
		step = int(roundStep(float64(step) + 0.5))
	}
	for n := 1; n <= f.calls; n++ {
		if n == 1 || n%step == 0 && n/step*step*f.each/f.shared > widest {
			numbers = append(numbers, n)
			columns = append(columns, (n-1)/f.shared*f.each+(f.bar()-1)/2)
		}
	}
	return numbers, columns
}

// along returns the horizontal axis with its ticks.
func (f *frame) along(label string) string {
	axis := make([]string, f.count()*f.each)
	for x := range axis {
		axis[x] = axisAlong
	}
	_, columns := f.ticksAlong()
	for _, x := range columns {
		axis[x] = axisTickDown
	}
	pad := strings.Repeat(" ", f.left-2-runewidth.StringWidth(label))
	return pad + label + " " + f.mark(axisCorner+strings.Join(axis, ""))
}

// numbers returns what is below the axis, with the name of what is counted at its end.
func (f *frame) numbers(a Axes) []string {
	line := strings.Repeat(" ", f.left)
	numbers, columns := f.ticksAlong()
	for i, n := range numbers {
		text := fmt.Sprint(n)
		at := min(f.left+columns[i]-(len(text)-1)/2, f.Width-len(text))
		if at > len(line) {
			line += strings.Repeat(" ", at-len(line))
		}
		line += text
	}
	name := "  " + a.X
	if f.shared > 1 {
		name += fmt.Sprintf(", %d in a column", f.shared)
	}
	if len(line)+runewidth.StringWidth(name) > f.Width {
		return []string{line, strings.Repeat(" ", f.left) + strings.TrimSpace(name)}
	}
	return []string{line + name}
}

// legend returns the parts in as many lines as they need.
func (f *frame) legend(parts []string) []string {
	const between = "   "
	var lines []string
	line := ""
	for _, p := range parts {
		p = cut(p, f.Width)
		switch {
		case line == "":
			line = p
		case runewidth.StringWidth(line+between+p) > f.Width:
			lines = append(lines, line)
			line = p
		default:
			line += between + p
		}
	}
	return append(lines, line)
}

func cut(s string, width int) string { return runewidth.Truncate(s, max(width, 1), "…") }
