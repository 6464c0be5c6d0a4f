//go:build unix

package soundings

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

// TestForms validates, runs and verifies the file of every case, and holds what came of it against what the case says.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"kills", "cases"} {
		paths, err := filepath.Glob("testdata/" + dir + "/*.json")
		require.NoError(t, err)
		for _, path := range paths {
			name := strings.TrimSuffix(filepath.Base(path), ".json")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := billed.ReadCase(t, path)
				w := suite.New(t, c.Answers)
				require.NoError(t, w.Play(name, c))
			})
		}
	}
}
