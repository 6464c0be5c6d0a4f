//go:build unix

package soundings

import (
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

// TestBudget gives soundings less money than they need, so that it ends between candidates, in them, between ballots, and
// in steps of refinement.
func TestBudget(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"phase_tools", "nested", "graph", "pareto", "whole", "whole_nested"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite.TestBudget(t, billed.ReadCase(t, "testdata/kills/"+name+".json"), []int{3, 15, 30, 45, 55, 65, 75, 85, 95, 700})
		})
	}
}
