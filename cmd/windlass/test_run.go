package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline/testflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/snapshot/suite"
	"github.com/windlass-run/windlass/internal/term"
)

// testsDir is where tests are unless another folder is named.
const testsDir = "tests"

func newTestCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "test",
		Short:   "Make regression tests of recorded runs, and run them without a model",
		Example: "  windlass test freeze last --name refund\n  windlass test run",
		Args:    noArgs,
		RunE:    needsCommand("freeze or run", "windlass test run"),
	}
	cmd.AddCommand(newTestFreezeCommand(con), newTestRunCommand(con))
	return cmd
}

// testRunOptions are the flags of windlass test run.
type testRunOptions struct {
	junit  string
	update bool
}

func newTestRunCommand(con *console) *cobra.Command {
	var o testRunOptions
	cmd := &cobra.Command{
		Use:   "run [DIR|FILE...]",
		Short: "Run tests that were made of recorded runs",
		Long: `Run the tests in a folder and all below it (default: tests), or those that are named. Each runs its cascade as the file is
now with the recorded answers: no model is asked, no tool runs, no session is made and nothing is written. What comes out
otherwise than the test expects is shown as a diff.

Exit codes: 0 all passed; 1 one did not; 2 there are none.`,
		Example: `  windlass test run
  windlass test run cascades/tests --junit report.xml
  windlass test run tests/refund.test.json --update`,
		RunE: func(cmd *cobra.Command, args []string) error { return runTests(cmd.Context(), con, args, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.junit, "junit", "", "write a report in the JUnit format to a `FILE`")
	f.BoolVar(&o.update, "update", false, "make what comes out what the tests expect")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func runTests(ctx context.Context, con *console, given []string, o testRunOptions) error {
	if len(given) == 0 {
		given = []string{testsDir}
	}
	files, err := suite.Find(given)
	if err != nil {
		return testflags.FindError(err)
	}
	ctx, stop := interruptible(ctx, func() {})
	defer stop()
	begun := time.Now()
	progress := term.NewCounter(term.NewLine(con.err), "tests", len(files))
	report := suite.Options{Load: app.LoadKnown, Update: o.update, Step: progress.Step}.RunAll(ctx, files)
	progress.Clear()
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, exit.ErrInterrupted, "")
	}
	if o.junit != "" {
		if err := testflags.WriteJUnit(o.junit, strings.Join(given, " "), report, time.Since(begun)); err != nil {
			return err
		}
	}
	if err := con.print(report, func() error { return printTests(con, report) }); err != nil {
		return err
	}
	return testflags.NotPassed(report, given)
}

func printTests(con *console, report *suite.Report) error {
	t := term.NewTable("test", "cascade", "result", ">ms")
	for _, r := range report.Tests {
		t.Add(r.Name, r.CascadeID, string(r.Status), fmt.Sprintf("%.1f", r.DurationMS))
	}
	if err := con.table(t.Key("test", "cascade").Drop("ms")); err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range report.Tests {
		if r.Problem != "" {
			fmt.Fprintf(&b, "\n%s (%s): %s\n%s", r.Name, r.File, r.Problem, r.Details())
		}
	}
	fmt.Fprintf(&b, "\n%d passed, %d failed, %s\n", report.Passed, report.Failed, term.Plural(report.Errors, "error"))
	_, err := fmt.Fprint(con.out, term.CleanLines(b.String()))
	return err
}
