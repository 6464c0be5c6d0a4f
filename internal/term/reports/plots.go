package reports

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/plot"
)

// CanvasOf is that of an output: as wide as a terminal, and 80 columns elsewhere.
func CanvasOf(w io.Writer) plot.Canvas {
	return plot.Canvas{Width: cmp.Or(term.Width(w), 80), ASCII: !term.IsUTF8(os.Getenv)}
}

// SimulationPlots draws each group of a simulation that kept its series: tokens and cost per call, full
// history against what was sent, and the cost so far under each policy.
func SimulationPlots(w io.Writer, c plot.Canvas, r *simulate.Report) error {
	groups := slices.Concat(r.Groups, r.Total)
	var b strings.Builder
	for _, g := range groups {
		full, sent := g.OneSeries(simulate.PolicyFull), sentSeries(g)
		if full == nil || sent == nil {
			continue
		}
		if len(groups) > 1 {
			head := term.Cell(fmt.Sprintf("%s; %s", cmp.Or(g.File, "all files"), g.Prices))
			b.WriteString("\n" + strings.Join(term.Wrapped(head, c.Width), "\n") + "\n")
		}
		who := sent.Policy
		if who == simulate.AsRun {
			who = "the run"
		}
		for _, lines := range [][]string{
			tokensPerCall(full, sent).titled(who).Draw(c),
			moneyPerCall(g.Prices, full, sent).titled(who).Draw(c),
			moneySoFar(g).Draw(c),
		} {
			b.WriteString("\n" + strings.Join(lines, "\n") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sentSeries returns what full history is drawn against: what was really sent, or else the defaults,
// or else the first policy that is not full history.
func sentSeries(g *simulate.Group) *simulate.Series {
	for _, name := range []string{simulate.AsRun, simulate.PolicyDefault} {
		if s := g.OneSeries(name); s != nil {
			return s
		}
	}
	for _, s := range g.Series {
		if s.Policy != simulate.PolicyFull {
			return s
		}
	}
	return nil
}

type sentBars struct{ plot.Bars }

// titled completes the title.
func (b sentBars) titled(who string) plot.Bars {
	b.Title = term.Cell(b.Title + " per call: " + who + " against full history")
	return b.Bars
}

func newSentBars(a plot.Axes, shared, other, full []float64) sentBars {
	return sentBars{plot.Bars{
		Axes:   a,
		Shaded: plot.Part{Name: "sent, cached", Values: shared},
		Solid:  plot.Part{Name: "sent, not cached", Values: other},
		Level:  plot.Part{Name: "full history", Values: full},
	}}
}

func tokensPerCall(full, sent *simulate.Series) sentBars {
	var shared, other, all []float64
	for i := range sent.Tokens {
		shared = append(shared, float64(sent.Shared[i]))
		other = append(other, float64(sent.Tokens[i]-sent.Shared[i]))
		all = append(all, float64(full.Tokens[i]))
	}
	return newSentBars(plot.Axes{Title: "Tokens", X: "call", Y: countTick}, shared, other, all)
}

func moneyPerCall(p simulate.Prices, full, sent *simulate.Series) sentBars {
	var other []float64
	for i := range sent.Money {
		other = append(other, sent.Money[i]-sent.SharedMoney[i])
	}
	unit, tick := moneyAxis(p)
	return newSentBars(plot.Axes{Title: "Cost in " + unit, X: "call", Y: tick}, sent.SharedMoney, other, full.Money)
}

// moneySoFar draws what was really sent, and the policies in the order of the table.
func moneySoFar(g *simulate.Group) plot.Lines {
	unit, tick := moneyAxis(g.Prices)
	var courses []plot.Part
	add := func(policy string) {
		if s := g.OneSeries(policy); s != nil {
			courses = append(courses, plot.Part{Name: term.Cell(policy), Values: s.MoneySoFar})
		}
	}
	add(simulate.AsRun)
	for _, s := range g.Policies {
		add(s.Policy)
	}
	return plot.Lines{
		Axes:    plot.Axes{Title: "Cost of all calls so far in " + unit + ", by policy", X: "call", Y: tick},
		Courses: courses,
		Last:    func(values []float64) []string { return moneyColumn(g.Prices, values) },
	}
}

// moneyAxis returns the unit of costs, and the ticks of an axis of them.
func moneyAxis(p simulate.Prices) (unit string, tick func(v, step float64) string) {
	if p.USD {
		return "USD", usdTick
	}
	return "tokens at full price", countTick
}

// countTick writes the label of a number of tokens.
func countTick(v, step float64) string {
	if step < 1 {
		return strconv.FormatFloat(v, 'f', decimalsOf(step), 64)
	}
	return term.Count(int64(math.Round(v)))
}

// usdTick writes an amount with the decimals that tell the ticks apart.
func usdTick(v, step float64) string {
	return "$" + strconv.FormatFloat(v, 'f', max(2, decimalsOf(step)), 64)
}

// decimalsOf is how many decimals a round step has.
func decimalsOf(step float64) int { return max(0, int(math.Ceil(-math.Log10(step)-1e-9))) }
