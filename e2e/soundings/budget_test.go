//go:build unix

package soundings

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/echo"
)

// place is where the money of soundings can end, by how far they are.
type place int

const (
	elsewhere place = iota // before or after all soundings
	inCandidates
	inBallots
	inRefinement // among its candidates
	inRefined    // among its ballots
)

func (p place) String() string {
	return []string{"elsewhere", "candidates", "ballots", "candidates of a refinement", "ballots of a refinement"}[p]
}

// placeOf returns where a tree has stopped: in the choice that is furthest and was not made.
func placeOf(t *billed.Tree) (place, error) {
	at := elsewhere
	for _, s := range t.All {
		all, err := triesOf(s)
		if err != nil {
			return 0, err
		}
		for _, x := range all {
			if x.choice == nil {
				at = max(at, x.reached(s))
			}
		}
	}
	return at, nil
}

// reached says how far a choice is that was not made. Ballots are recorded together when all have been asked for, so what
// counts are the calls of judges.
func (x *tried) reached(s *billed.Session) place {
	first, judged := inCandidates, inBallots
	if x.step() > 0 {
		first, judged = inRefinement, inRefined
	}
	for _, e := range s.Entries {
		if e.NodeType == echo.NodeModelCall && strings.HasPrefix(e.Key.String(), x.place+"/ballot") {
			return judged
		}
	}
	return first
}

// TestBudget gives soundings less money than they need: at each size they stop before the first call that may be too much,
// which is more than it takes, and go on to the same end. Of a whole cascade it ends in every place.
func TestBudget(t *testing.T) {
	t.Parallel()
	percents := []int{3, 30, 55, 70, 80, 90, 100, 115, 130, 700}
	for _, name := range []string{"phase_tools", "nested", "graph", "pareto", "whole_nested"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite.TestBudget(t, billed.ReadCase(t, "testdata/kills/"+name+".json"), percents, nil)
		})
	}
	t.Run("whole", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		seen := map[place]bool{}
		t.Run("less", func(t *testing.T) { //nolint:paralleltest // it ends when all below it have
			suite.TestBudget(t, billed.ReadCase(t, "testdata/kills/whole.json"), append(percents, 75, 85, 105, 122, 138), func(tree *billed.Tree) {
				at, err := placeOf(tree)
				require.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				seen[at] = true
			})
		})
		for _, at := range []place{inCandidates, inBallots, inRefinement, inRefined} {
			require.True(t, seen[at], "a budget is to end in the %s; it did in %v", at, seen)
		}
	})
}
