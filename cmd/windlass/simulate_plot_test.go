//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// TestSimulationPlot draws a session in terminals of two widths and into a pipe. Nothing is longer than
// the terminal, no colour is in a chart, and a locale without the characters of the charts gets others.
func TestSimulationPlot(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	require.NoError(t, journalFromLines(l.home, seedLines(t)))
	args := []string{"simulate", "last", "--plot", "--prices", "0.25:0.025"}
	for _, width := range []int{80, 200} {
		shown := l.onTerminal(width, 1000, exitOK, nil, args...)
		requireFits(t, width, tablesOf(shown))
		s := termtest.NewScreen(width, 200)
		s.Write(t, shown)
		golden(t, fmt.Sprintf("simulate-plot-%d.golden", width), s.Text())
	}
	piped := l.run(exitOK, args...).out.String()
	require.Contains(t, piped, "█ sent, not cached   ░ sent, cached   ▁ full history   ▂ less than half a row\n")
	require.Equal(t, term.StripColour(piped), piped)
	l.env = append(l.env, "LC_ALL=C")
	piped = l.run(exitOK, append(args, "--policy", "default")...).out.String()
	require.Contains(t, piped, "# sent, not cached   : sent, cached   _ full history   . less than half a row\n")
	require.Contains(t, piped, "Cost of all calls so far in USD, by policy\nA as run $0.")
	require.Regexp(t, `^[\x20-\x7e\n]+$`, piped)
}

// A file has no run: the defaults are drawn against full history, for each price and all files.
func TestSimulationPlotOfFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		l.file(name, `[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]`)
	}
	shown := l.run(exitOK, "simulate", "a.jsonl", "b.jsonl", "--plot").out.String()
	for _, of := range []string{"a.jsonl", "b.jsonl", "all files"} {
		require.Contains(t, shown, "\n"+of+"; a cached token costs 0.1 of another\n\nTokens per call: default against full history\n")
	}
	require.Contains(t, shown, "\nA full, every_turn, step:10, default, hindsight ")
	require.Contains(t, l.run(exitOK, "simulate", "a.jsonl", "--policy", "step:3", "--plot").out.String(), "\nTokens per call: step:3 against full history\n")
	require.Contains(t, l.run(exitOK, "simulate", "a.jsonl", "--policy", "full", "--plot").out.String(), "\nTokens per call: hindsight against full history\n")
}

// --json has what --plot draws: the calls of full history, of the run and of each policy, which add up
// to the table.
func TestSimulationSeries(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	require.NoError(t, journalFromLines(l.home, seedLines(t)))
	read := func(args ...string) *simulate.Group {
		var r simulate.Report
		out := l.run(exitOK, append([]string{"simulate", "last", "--json", "--prices", "0.25:0.025"}, args...)...).out.String()
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		require.Len(t, r.Groups, 1)
		return r.Groups[0]
	}
	require.Empty(t, read().Series)
	g := read("--plot", "--policy", "every_turn")
	var names []string
	for _, s := range g.Series {
		names = append(names, s.Policy)
	}
	require.Equal(t, []string{"full", "as run", "every_turn", "hindsight"}, names)
	for _, of := range append(g.Policies, g.AsRun) {
		s := g.OneSeries(of.Policy)
		var tokens, shared int64
		var money float64
		for i := range s.Tokens {
			tokens, shared, money = tokens+s.Tokens[i], shared+s.Shared[i], money+s.Money[i]
			require.InDelta(t, money, s.MoneySoFar[i], 1e-12)
			require.InDelta(t, g.Prices.Money(s.Shared[i], s.Shared[i]), s.SharedMoney[i], 1e-12)
		}
		require.Equal(t, []int64{of.TokensSent, of.TokensShared, int64(g.Calls)}, []int64{tokens, shared, int64(len(s.Tokens))})
		require.InDelta(t, of.Money, money, 1e-12)
	}
}

// TestSimulationPlotAndPicture: the one is drawn, the other is a file.
func TestSimulationPlotAndPicture(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	require.NoError(t, journalFromLines(l.home, seedLines(t)))
	l.run(exitOK, "simulate", "last", "--plot", "--svg", "cost.svg")
	picture, err := os.ReadFile(l.dir + "/cost.svg")
	require.NoError(t, err)
	require.Contains(t, string(picture), "<svg ")
}
