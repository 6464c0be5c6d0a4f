package inspector

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
)

// scatter is a drawing of what candidates cost against how good they were found.
type scatter struct {
	Points []*scatterPoint
	Cost   string // what goes to the right, in words
	Most   string // at its end
	Says   string
	Left   []string // why candidates are not drawn
}

// scatterPoint is a candidate, or several at the same place. X and Y are attributes of SVG.
type scatterPoint struct {
	X, Label string
	Y        int
	Title    string
	Kept     bool
	End      bool // it stands so far to the right that its label is before it
}

// The size of the drawing: the width in percent of the page, the height in pixels.
const (
	scatterLeft   = 8.0
	scatterRight  = 94.0
	scatterTop    = 14
	scatterHeight = 180
)

// newScatter draws a step, nil when no candidate has a quality.
func newScatter(st *inspect.SoundingStep) *scatter {
	cost, write, name := costMeasure(st)
	s := &scatter{Cost: name}
	most := 0.0
	var drawn []*inspect.Candidate
	for i := range st.Candidates {
		c := &st.Candidates[i]
		switch v, known := cost(c); {
		case c.Standing == nil || c.Standing.Quality == nil:
			s.Left = append(s.Left, fmt.Sprintf("Candidate %d is not drawn: it was not judged.", c.Number))
		case !known:
			s.Left = append(s.Left, fmt.Sprintf("Candidate %d is not drawn: its cost is not known.", c.Number))
		default:
			most, drawn = max(most, v), append(drawn, c)
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	s.Most = write(most)
	at := map[string]*scatterPoint{}
	var says []string
	for _, c := range drawn {
		v, _ := cost(c)
		title := fmt.Sprintf("candidate %d: quality %s, %s", c.Number, shareText(c.Standing.Quality), write(v))
		says = append(says, title)
		s.add(at, c, title, share(v, most))
	}
	s.Says = "Quality against " + name + ": " + strings.Join(says, "; ")
	return s
}

func share(v, most float64) float64 {
	if most <= 0 {
		return 0
	}
	return v / most
}

func (s *scatter) add(at map[string]*scatterPoint, c *inspect.Candidate, title string, right float64) {
	p := &scatterPoint{
		X: fmt.Sprintf("%.1f%%", scatterLeft+(scatterRight-scatterLeft)*right), Y: scatterTop + int(scatterHeight*(1-min(max(*c.Standing.Quality, 0), 1))+0.5),
		Title: title, Kept: c.Kept, Label: fmt.Sprint(c.Number), End: right > 0.9,
	}
	place := fmt.Sprintf("%s %d", p.X, p.Y/6)
	if there := at[place]; there != nil {
		there.Label, there.Title, there.Kept = there.Label+", "+p.Label, there.Title+"; "+p.Title, there.Kept || p.Kept
		return
	}
	at[place] = p
	s.Points = append(s.Points, p)
}

// costMeasure returns what a step is drawn by: money, money at the prices of another model when nothing was paid, else tokens.
func costMeasure(st *inspect.SoundingStep) (of func(*inspect.Candidate) (float64, bool), write func(float64) string, name string) {
	paid, pretend, priceAs := false, false, ""
	for i := range st.Candidates {
		c := &st.Candidates[i]
		paid = paid || c.CostUSD == nil || *c.CostUSD > 0
		if c.Pretend > 0 {
			pretend, priceAs = true, c.PriceAs
		}
	}
	switch {
	case paid:
		return func(c *inspect.Candidate) (float64, bool) {
			if c.CostUSD == nil {
				return 0, false
			}
			return *c.CostUSD, true
		}, quantity.USD, "cost"
	case pretend:
		return func(c *inspect.Candidate) (float64, bool) { return c.Pretend, true }, quantity.USD, "cost at prices of " + excerpt.Line(priceAs, mostName)
	}
	return func(c *inspect.Candidate) (float64, bool) { return float64(c.Usage.In + c.Usage.Out), true },
		func(v float64) string { return quantity.Grouped(int64(v)) + " tokens" }, "tokens"
}

// Height is that of the drawing in pixels.
func (*scatter) Height() int { return scatterTop + scatterHeight + 34 }

// Lines are the heights of qualities.
func (*scatter) Lines() []scatterLine {
	return []scatterLine{{scatterTop, "1"}, {scatterTop + scatterHeight/2, "0.5"}, {scatterTop + scatterHeight, "0"}}
}

// scatterLine is a height with its quality.
type scatterLine struct {
	Y    int
	Text string
}

// FootY is where the words below the drawing stand.
func (*scatter) FootY() int { return scatterTop + scatterHeight + 26 }
