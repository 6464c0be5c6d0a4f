//go:build unix

package trees

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

// TestKills kills windlass at random places of trees of runs: children, lists and parallel phases, nested two deep and more.
func TestKills(t *testing.T) {
	t.Parallel()
	k := &billed.Kills{
		Suite: &suite, Dir: "testdata/deep", Names: []string{"deep_graph", "deep_list", "deep_mixed"}, Target: suite.Deaths,
		Deepest: 2, Spoils: spoil,
	}
	k.Run(t)
}

// spoil breaks the files of the children, where no model names one: what a tree reaches was recorded when it began.
func spoil(w *billed.World, name string) bool {
	if name == "deep_list" {
		return false
	}
	for _, dir := range []string{"deep", "cascades"} {
		files, err := os.ReadDir(w.Path(dir))
		require.NoError(w.T, err)
		for _, f := range files {
			w.File(filepath.Join(dir, f.Name()), "{")
		}
	}
	return true
}
