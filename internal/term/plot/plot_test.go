package plot_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term/plot"
)

func tick(v, _ float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func bars(shaded, solid, level []float64) plot.Bars {
	return plot.Bars{
		Axes:   plot.Axes{Title: "Tokens", X: "call", Y: tick},
		Shaded: plot.Part{Name: "cached", Values: shaded}, Solid: plot.Part{Name: "new", Values: solid},
		Level: plot.Part{Name: "full history", Values: level},
	}
}

func last(values []float64) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = tick(v, 0)
	}
	return out
}

// Bars stand on zero, the shaded stretch below the solid one, and the level is on top of a bar that is
// as high, above one that is lower and inside one that is higher.
func TestBars(t *testing.T) {
	t.Parallel()
	b := bars([]float64{0, 40, 75, 5}, []float64{50, 20, 25, 0}, []float64{50, 90, 50, 5})
	require.Equal(t, `Tokens
█ new   ░ cached   ▁ full history
100 ┤        ▁▁▁▁▁▁▁ ███████
    │                ███████
 80 ┤                ░░░░░░░
    │                ░░░░░░░
 60 ┤▁▁▁▁▁▁▁ ███████ ▁▁▁▁▁▁▁
    │███████ ███████ ░░░░░░░
 40 ┤███████ ░░░░░░░ ░░░░░░░
    │███████ ░░░░░░░ ░░░░░░░
 20 ┤███████ ░░░░░░░ ░░░░░░░ ▁▁▁▁▁▁▁
    │███████ ░░░░░░░ ░░░░░░░ ░░░░░░░
  0 └───┬───────┬───────┬───────┬────
        1       2       3       4  call`, strings.Join(b.Draw(plot.Canvas{Width: 40}), "\n"))
}

// A bar that is too low for a row is there, and explained.
func TestSlightBars(t *testing.T) {
	t.Parallel()
	drawn := bars([]float64{1, 0, 0}, []float64{1, 0, 100}, []float64{2, 0, 100}).Draw(plot.Canvas{Width: 60})
	require.Equal(t, "█ new   ░ cached   ▁ full history   ▂ less than half a row", drawn[1])
	require.Equal(t, "    │▂▂▂▂▂▂▂         ███████", drawn[len(drawn)-3])
}

// Where there are more calls than columns, several share one, and the chart says how many.
func TestSharedColumns(t *testing.T) {
	t.Parallel()
	var rising []float64
	for i := range 100 {
		rising = append(rising, float64(i+1))
	}
	drawn := bars(make([]float64, 100), rising, rising).Draw(plot.Canvas{Width: 40, ASCII: true})
	require.Equal(t, []string{"     1     20     40    60     80    100", "     call, 3 in a column"}, drawn[len(drawn)-2:])
	require.Equal(t, "    |                               ___", drawn[3], "a column shows the mean of its calls")
}

func lines(courses ...plot.Part) plot.Lines {
	return plot.Lines{Axes: plot.Axes{Title: "Cost so far", X: "call", Y: tick}, Courses: courses, Last: last}
}

// Equal courses share a letter, and where others meet there is a mark for several.
func TestLines(t *testing.T) {
	t.Parallel()
	l := lines(plot.Part{Name: "as run", Values: []float64{1, 2, 4}}, plot.Part{Name: "full", Values: []float64{1, 3, 5}}, plot.Part{Name: "same", Values: []float64{1, 2, 4}})
	require.Equal(t, `Cost so far
A as run, same 4   B full 5   * several
5 +                   B
  |
4 +                   A
  |
3 +           B
  |
2 +           A
  |
1 +   *
  |
0 +---+-------+-------+----
      1       2       3  call`, strings.Join(l.Draw(plot.Canvas{Width: 40, ASCII: true}), "\n"))
}

func random(r *rand.Rand, n int, most float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		if r.IntN(5) > 0 {
			out[i] = r.Float64() * most
		}
	}
	return out
}

// Whatever the values: no line is longer than the canvas, the axis begins at zero and its highest tick
// is not below any value, and in ASCII there is nothing else.
func TestChartsFit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		n, most := 1+r.IntN(300), math.Pow(10, float64(r.IntN(14)-7))
		c := plot.Canvas{Width: 40 + r.IntN(180), ASCII: r.IntN(2) == 0}
		shaded, solid, level := random(r, n, most), random(r, n, most), random(r, n, 2*most)
		for _, drawn := range [][]string{
			bars(shaded, solid, level).Draw(c),
			lines(plot.Part{Name: "a", Values: shaded}, plot.Part{Name: "b", Values: solid}, plot.Part{Name: "c", Values: level}).Draw(c),
		} {
			all := strings.Join(drawn, "\n")
			for line := range strings.Lines(all) {
				line = strings.TrimSuffix(line, "\n")
				require.LessOrEqual(t, runewidth.StringWidth(line), c.Width, "%d:\n%s", i, all)
				require.Equal(t, strings.TrimRight(line, " "), line)
			}
			if c.ASCII {
				require.Regexp(t, `^[\x20-\x7e\n]+$`, all)
			}
			require.Regexp(t, `(?m)^ *0 [└+]`, all, "the axis begins at zero")
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	t.Parallel()
	require.Empty(t, bars(nil, nil, nil).Draw(plot.Canvas{Width: 80}))
	require.Empty(t, lines().Draw(plot.Canvas{Width: 80}))
	require.Empty(t, lines(plot.Part{Name: "a"}).Draw(plot.Canvas{Width: 80}))
	zero := []float64{0, 0}
	require.NotEmpty(t, bars(zero, zero, zero).Draw(plot.Canvas{Width: 3}), "a canvas may be too narrow, and all values nothing")
}
