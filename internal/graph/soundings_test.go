package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
)

// Candidates are drawn as several cards, of a phase, of each element of a list, and of the whole cascade.
func TestSoundings(t *testing.T) {
	t.Parallel()
	g := Of(load(t, "testdata/soundings.yaml"))
	golden(t, "testdata/soundings.txt", g.Text())
	golden(t, "testdata/soundings.mmd", g.Mermaid())
	golden(t, "testdata/soundings.svg", g.SVG())
	requireWhole(t, g)
}

// Who chooses is said: votes, or a person.
func TestWhoChooses(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]*soundings.Soundings{
		"3 candidates, one kept by votes":                                        {},
		"3 candidates, one kept by votes; a person decides a tie":                {OnTie: soundings.TieHuman},
		"3 candidates, a person chooses one":                                     {Evaluator: soundings.ByHuman},
		"3 candidates, a person chooses one of the best 2":                       {Evaluator: soundings.ByHybrid},
		"3 candidates, a person chooses one of the frontier of quality and cost": {Pareto: &soundings.Pareto{Policy: soundings.Interactive}},
		"3 candidates, one kept of the frontier of quality and cost":             {Pareto: &soundings.Pareto{}},
	} {
		s.Factor = new(3)
		require.Equal(t, want, candidatesLine(s))
	}
}
