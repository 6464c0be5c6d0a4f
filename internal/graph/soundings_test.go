package graph

import "testing"

// Candidates are drawn as several cards, of a phase, of each element of a list, and of the whole cascade.
func TestSoundings(t *testing.T) {
	t.Parallel()
	g := Of(load(t, "testdata/soundings.yaml"))
	golden(t, "testdata/soundings.txt", g.Text())
	golden(t, "testdata/soundings.mmd", g.Mermaid())
	golden(t, "testdata/soundings.svg", g.SVG())
	requireWhole(t, g)
}
