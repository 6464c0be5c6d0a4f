//go:build unix

package soundings

import (
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

// theKilled are the forms of soundings: see what testdata/kills says of each.
var theKilled = []string{"phase_tools", "wards", "list", "graph", "nested", "adaptive", "aggregate", "pareto"}

// TestKills kills windlass at random places of soundings.
func TestKills(t *testing.T) {
	t.Parallel()
	k := &billed.Kills{Suite: &suite, Dir: "testdata/kills", Names: theKilled, Target: *killsFlag, Seed: *seedFlag}
	k.Run(t)
}
