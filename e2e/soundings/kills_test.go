//go:build unix

package soundings

import (
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

// theKilled are the forms of soundings: see what testdata/kills says of each.
var theKilled = []string{"phase_tools", "wards", "list", "graph", "nested", "adaptive", "aggregate", "pareto", "whole", "whole_nested"}

// TestKills kills windlass at random places of soundings.
func TestKills(t *testing.T) {
	t.Parallel()
	k := &billed.Kills{Suite: &suite, Dir: "testdata/kills", Names: theKilled, Target: suite.Deaths, Ended: checkRecord}
	k.Run(t)
}

// TestKillsInClickHouse does the same with some of them that are recorded in ClickHouse, too: it has every candidate and
// every ballot once, as the journals do, and sessions and costs come to the same.
func TestKillsInClickHouse(t *testing.T) {
	t.Parallel()
	k := &billed.Kills{
		Suite: &suite, Dir: "testdata/kills", Names: []string{"phase_tools", "nested", "aggregate", "pareto", "whole", "whole_nested"}, Target: max(suite.Deaths/10, 1),
		Ended: checkRecord, Rows: true,
	}
	k.Run(t)
}
