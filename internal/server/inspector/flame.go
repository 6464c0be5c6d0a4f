package inspector

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/inspect/course"
	"github.com/windlass-run/windlass/internal/quantity"
)

// measure is what the widths of a flame stand for.
type measure struct {
	Name, Title string
	of          func(*course.Took) float64
	text        func(float64) string
}

var measures = []measure{
	{"time", "Time", func(t *course.Took) float64 { return t.Seconds }, seconds},
	{"money", "Money", func(t *course.Took) float64 { return t.USD }, quantity.USD},
	{"tokens", "Tokens", func(t *course.Took) float64 { return float64(t.Tokens) }, tokens},
	{"uncached", "Uncached money", func(t *course.Took) float64 { return t.UncachedUSD }, quantity.USD},
}

func seconds(v float64) string { return quantity.Duration(time.Duration(v * float64(time.Second))) }
func tokens(v float64) string  { return quantity.Grouped(int64(v)) + " tokens" }

// measureOf returns the measure with a name; another name means time.
func measureOf(name string) *measure {
	for i := range measures {
		if measures[i].Name == name {
			return &measures[i]
		}
	}
	return &measures[0]
}

// Bar is a span as it is drawn: X and W are shares of the width in percent, Row is counted from 0 at the top.
type Bar struct {
	X, W  float64
	Row   int
	Kind  string
	Name  string
	Value string
	Title string // for who points at it
	Link  string
	Bad   bool
}

// XText and WText are X and W as attributes of SVG.
func (b Bar) XText() string { return fmt.Sprintf("%.4f%%", b.X) }

// WText is the width as an attribute of SVG.
func (b Bar) WText() string { return fmt.Sprintf("%.4f%%", b.W) }

// Y is the upper edge in pixels.
func (b Bar) Y() int { return b.Row * rowHeight }

// TextY is where the text of the bar stands.
func (b Bar) TextY() int { return b.Row*rowHeight + rowHeight - 8 }

// Flame is a drawing of spans.
type Flame struct {
	Bars  []Bar
	Rows  int
	Left  int // spans that are too narrow to be seen
	Total string
	Kinds []string // of the bars
}

// Height is that of the drawing in pixels.
func (f *Flame) Height() int { return max(f.Rows, 1) * rowHeight }

const (
	rowHeight = 24   // pixels
	narrowest = 0.08 // percent of the width: what is drawn of a span
	mostBars  = 1500
)

// newFlame draws spans below each other, each as wide as its share of a measure.
func newFlame(root *course.Span, m *measure, link func(*course.Span) string) *Flame {
	f := &Flame{Total: m.text(m.of(&root.Took))}
	total := m.of(&root.Took)
	var draw func(s *course.Span, x, w float64, row int)
	draw = func(s *course.Span, x, w float64, row int) {
		if !f.add(s, x, w, row, m.text(m.of(&s.Took)), link) {
			return
		}
		for _, b := range s.Below {
			if v := m.of(&b.Took); v > 0 && m.of(&s.Took) > 0 {
				share := w * v / m.of(&s.Took)
				draw(b, x, share, row+1)
				x += share
			}
		}
	}
	if total > 0 {
		draw(root, 0, 100, 0)
	}
	return f
}

// newTimeline draws spans from when they began to when they ended. Those that overlap are in rows of their own. What a fork has copied
// was at another time, and is not drawn.
func newTimeline(root *course.Span, link func(*course.Span) string) *Flame {
	if root = root.Own(); root == nil {
		return &Flame{Total: seconds(0)}
	}
	whole := root.To.Sub(root.From).Seconds()
	f := &Flame{Total: seconds(whole)}
	if whole <= 0 {
		whole = 1e-6
	}
	at := func(t time.Time) float64 { return 100 * t.Sub(root.From).Seconds() / whole }
	var draw func(s *course.Span, row int) (rows int)
	draw = func(s *course.Span, row int) int {
		x := at(s.From)
		if !f.add(s, x, max(at(s.To)-x, narrowest), row, seconds(s.To.Sub(s.From).Seconds()), link) {
			return 1
		}
		var ends []time.Time // of the rows below
		var heights []int
		for _, b := range s.Below {
			i := 0
			for i < len(ends) && ends[i].After(b.From) {
				i++
			}
			if i == len(ends) {
				ends, heights = append(ends, time.Time{}), append(heights, 1)
			}
			below := row + 1
			for _, h := range heights[:i] {
				below += h
			}
			heights[i] = max(heights[i], draw(b, below))
			ends[i] = b.To
		}
		rows := 1
		for _, h := range heights {
			rows += h
		}
		return rows
	}
	draw(root, 0)
	return f
}

// add draws a span, and reports whether it is drawn.
func (f *Flame) add(s *course.Span, x, w float64, row int, value string, link func(*course.Span) string) bool {
	if w < narrowest || len(f.Bars) >= mostBars {
		f.Left += count(s)
		return false
	}
	b := Bar{X: x, W: w, Row: row, Kind: string(s.Kind), Name: s.Name, Value: value, Link: link(s), Bad: s.Failed != ""}
	title := []string{string(s.Kind) + " " + s.Name, value}
	if s.Model != "" {
		title = append(title, s.Model)
	}
	if s.Failed != "" {
		title = append(title, "failed: "+s.Failed)
	}
	if s.Copied {
		title = append(title, "copied")
	}
	b.Title = strings.Join(title, " · ")
	if !slices.Contains(f.Kinds, b.Kind) {
		f.Kinds = append(f.Kinds, b.Kind)
	}
	f.Bars = append(f.Bars, b)
	f.Rows = max(f.Rows, row+1)
	return true
}

func count(s *course.Span) int {
	n := 1
	for _, b := range s.Below {
		n += count(b)
	}
	return n
}
