package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/snapshot"
)

// testsDir is where tests are unless another folder is named.
const testsDir = "tests"

func newTestCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "test",
		Short:   "Make regression tests of recorded runs, and run them without a model",
		Example: "  windlass test freeze 01jz4k --name refund\n  windlass test run",
		Args:    noArgs,
		RunE:    needsCommand("freeze or run", "windlass test run"),
	}
	cmd.AddCommand(newTestFreezeCommand(con), newTestRunCommand(con))
	return cmd
}

// readAspects reads what a test is to compare.
func readAspects(given []string) ([]snapshot.Aspect, error) {
	if len(given) == 0 {
		return snapshot.Usual(), nil
	}
	chosen := map[snapshot.Aspect]bool{}
	for _, name := range given {
		a := snapshot.Aspect(strings.TrimSpace(name))
		if !slices.Contains(snapshot.Aspects(), a) {
			return nil, usageError(fmt.Errorf("--match %q: there is no such aspect", name), "--match "+strings.ReplaceAll(snapshot.Joined(snapshot.Aspects()), ", ", ","))
		}
		chosen[a] = true
	}
	return slices.DeleteFunc(snapshot.Aspects(), func(a snapshot.Aspect) bool { return !chosen[a] }), nil
}
