package toolset

import (
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade"
)

// CalledBy returns the hashes of the cascades that a call of a tool runs, and of all that they reach in turn, without
// repetitions; none where the tool is no cascade.
func CalledBy(c *cascade.Cascade, tool string) []string {
	hashes := map[string]bool{}
	for _, r := range c.Reaches {
		if r != nil && r.ToolName() == tool {
			addReached(hashes, r)
		}
	}
	return slices.Sorted(maps.Keys(hashes))
}

func addReached(hashes map[string]bool, r *cascade.Reached) {
	if hashes[r.Hash] {
		return
	}
	hashes[r.Hash] = true
	if r.Cascade == nil {
		return
	}
	for _, below := range r.Cascade.Reaches {
		if below != nil {
			addReached(hashes, below)
		}
	}
}
