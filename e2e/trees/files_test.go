//go:build unix

package trees

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

// fewestFiles is how many files of every key, alone and combined, there are to be at least.
const fewestFiles = 40

func caseNames(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/cases/*.json")
	require.NoError(t, err)
	names := map[string]string{}
	for _, path := range paths {
		names[strings.TrimSuffix(filepath.Base(path), ".json")] = path
	}
	return names
}

// TestFiles validates, runs and verifies every file, and holds what came of it against its case.
func TestFiles(t *testing.T) {
	t.Parallel()
	cases := caseNames(t)
	require.GreaterOrEqual(t, len(cases), fewestFiles)
	for name, path := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := billed.ReadCase(t, path)
			w := suite.New(t, c.Answers)
			require.NoError(t, w.Play(name, c))
		})
	}
}
