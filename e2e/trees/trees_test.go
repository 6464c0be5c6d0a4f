//go:build unix

// Package trees proves what runs with children, lists, parallel phases and wards promise, with the built program and a
// strict server that bills: every file of testdata/project does what its case says; killed anywhere, a tree of runs ends as
// an undisturbed one, and nothing is paid for twice; no budget is exceeded; what belongs to one branch is in no other's
// requests; and bad input has a clear end.
package trees

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var (
	killsFlag = flag.Int("kills", 30, "how often windlass is killed in all")
	seedFlag  = flag.Uint64("seed", 0, "where it is killed, and which markers are planted; 0: each time elsewhere")
	update    = flag.Bool("update", false, "write the texts of testdata/bad anew")
)

var suite = billed.Suite{Project: "testdata/project", Prices: &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}}

func TestMain(m *testing.M) {
	flag.Parse()
	suite.Update = *update
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "trees-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder that stays behind fails nothing
	if suite.Bin, err = lab.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
