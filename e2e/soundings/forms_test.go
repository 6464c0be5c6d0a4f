//go:build unix

package soundings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
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
				err := w.Play(name, c)
				if os.Getenv("SHOW") != "" {
					tree := w.Tree(name)
					for _, s := range tree.All {
						fmt.Println(name, "OUTPUT", echo.AsText(record.EndOf(s.Entries).Output))
						for _, e := range s.Entries {
							if e.NodeType == echo.NodeChoice || e.NodeType == echo.NodeCandidate || e.NodeType == echo.NodeVerdict {
								fmt.Println(name, e.Key, string(e.Data))
							}
						}
					}
				}
				require.NoError(t, err)
			})
		}
	}
}
