//go:build unix

package trees

import (
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

// TestBudget gives a tree of runs less money than it needs.
func TestBudget(t *testing.T) {
	t.Parallel()
	suite.TestBudget(t, billed.ReadCase(t, "testdata/deep/paid.json"), []int{1, 5, 10, 20, 30, 45, 60, 75, 90, 97, 140}, nil)
}
