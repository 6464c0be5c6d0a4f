package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/snapshot"
	"github.com/windlass-run/windlass/internal/term"
)

// testRunOptions are the flags of windlass test run.
type testRunOptions struct {
	junit  string
	update bool
	asJSON bool
}

func newTestRunCommand(a *app) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error { return a.runTests(cmd.Context(), args, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.junit, "junit", "", "write a report in the JUnit format to a `FILE`")
	f.BoolVar(&o.update, "update", false, "make what comes out what the tests expect")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// testStatus is how a test ended.
type testStatus string

// The ways.
const (
	testPassed  testStatus = "passed"
	testUpdated testStatus = "updated" // it came to something else, which it expects from now on
	testFailed  testStatus = "failed"
	testError   testStatus = "error" // it could not be run
)

// testResult is one test of "test run --json".
type testResult struct {
	Name        string                `json:"name"`
	File        string                `json:"file"`
	CascadeID   string                `json:"cascade_id,omitempty"`
	Status      testStatus            `json:"status"`
	DurationMS  float64               `json:"duration_ms"`
	Problem     string                `json:"problem,omitempty"` // in one line
	Differences []snapshot.Difference `json:"differences,omitempty"`

	took  time.Duration
	stuck bool // it asks something that has no answer, so that --update helps nothing
}

// testReport is what "test run --json" prints.
type testReport struct {
	Tests  []*testResult `json:"tests"`
	Passed int           `json:"passed"` // and updated
	Failed int           `json:"failed"`
	Errors int           `json:"errors"`
}

func (a *app) runTests(ctx context.Context, given []string, o testRunOptions) error {
	if len(given) == 0 {
		given = []string{testsDir}
	}
	files, err := findTests(given)
	if err != nil {
		return err
	}
	ctx, stop := onInterrupt(ctx, func() {})
	defer stop()
	begun := time.Now()
	report := testReport{Tests: a.runAll(ctx, files, o.update)}
	if ctx.Err() != nil {
		return withExit(exitInterrupted, errInterrupted, "")
	}
	for _, r := range report.Tests {
		switch r.Status {
		case testFailed:
			report.Failed++
		case testError:
			report.Errors++
		default:
			report.Passed++
		}
	}
	if o.junit != "" {
		if err := writeJUnit(o.junit, strings.Join(given, " "), report.Tests, time.Since(begun)); err != nil {
			return err
		}
	}
	if o.asJSON {
		err = a.printJSON(report)
	} else {
		err = a.printTests(&report)
	}
	if bad := report.Failed + report.Errors; err == nil && bad > 0 {
		return withExit(exitFailed, fmt.Errorf("%d of %s did not pass", bad, term.Plural(len(report.Tests), "test")), testHint(&report, given))
	}
	return err
}

// testHint says what may be done about tests that did not pass.
func testHint(report *testReport, given []string) string {
	has := func(is func(*testResult) bool) bool { return slices.ContainsFunc(report.Tests, is) }
	switch {
	case has(func(r *testResult) bool { return r.Status == testFailed && !r.stuck }):
		return strings.Join(append([]string{"windlass test run"}, given...), " ") + " --update, if that is what you meant to change"
	case has(func(r *testResult) bool { return r.stuck }):
		return "run the cascade anew and freeze that session in place of the test, if that is what you meant to change"
	default:
		return "correct what is named above"
	}
}

// findTests returns the files of tests that are named, and those in the folders that are, each once.
func findTests(given []string) ([]string, error) {
	var files []string
	for _, root := range given {
		info, err := os.Stat(root)
		switch {
		case err != nil:
			return nil, usageError(fmt.Errorf("there are no tests in %s: %w", root, err), "windlass test freeze SESSION --name NAME makes one; windlass test run DIR runs those of a folder")
		case !info.IsDir():
			files = append(files, filepath.Clean(root))
			continue
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case !d.IsDir() && strings.HasSuffix(d.Name(), snapshot.Suffix):
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, usageError(fmt.Errorf("look for tests in %s: %w", root, err), "windlass test run DIR with a folder that can be read")
		}
	}
	if len(files) == 0 {
		return nil, usageError(fmt.Errorf("there are no tests in %s: no file's name ends in %s", strings.Join(given, ", "), snapshot.Suffix), "windlass test freeze SESSION --name NAME makes one")
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// runAll runs tests beside each other, as many as there are processors, and returns their results in the order of the
// files.
func (a *app) runAll(ctx context.Context, files []string, update bool) []*testResult {
	results := make([]*testResult, len(files))
	progress := term.NewCounter(a.err, "tests", len(files))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, file := range files {
		g.Go(func() error {
			results[i] = runFile(ctx, file, update)
			progress.Step()
			return nil
		})
	}
	_ = g.Wait() // what went wrong is in the results
	progress.Clear()
	return results
}

// runFile runs the test of a file.
func runFile(ctx context.Context, file string, update bool) *testResult {
	begun := time.Now()
	t, err := snapshot.Load(file)
	var r *testResult
	var bad *snapshot.FileError
	if err == nil {
		r = runTest(ctx, t, update)
	} else {
		r = &testResult{Name: strings.TrimSuffix(filepath.Base(file), snapshot.Suffix), File: file, Status: testError, Problem: err.Error()}
		if errors.As(err, &bad) {
			r.Problem = "the file is no test: " + bad.Err.Error()
		}
	}
	r.took = time.Since(begun)
	r.DurationMS = float64(r.took.Microseconds()) / 1000
	return r
}

// runTest runs a test with its cascade as the file is now.
func runTest(ctx context.Context, t *snapshot.Test, update bool) *testResult {
	r := &testResult{Name: t.Name, File: t.Path(), Status: testError}
	c, found, err := cascade.Load(t.CascadeFile(), core.Known())
	switch {
	case c == nil && len(found) > 0:
		r.Problem = "the cascade is not valid: " + found[0].String()
		return r
	case err != nil:
		r.Problem = err.Error()
		return r
	}
	r.CascadeID = c.CascadeID
	if bad := c.CheckInput(t.Input); len(bad) > 0 {
		r.Status, r.Problem = testFailed, "the recorded input does not fit the cascade any more: "+bad[0].String()
		return r
	}
	runner, done, err := testRunner(c, t.Models, t.Env)
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	defer done() //nolint:errcheck // nothing was opened that could be lost
	now, err := t.Run(ctx, runner, c)
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	r.judge(t, now, update)
	return r
}

// judge compares what a test came to with what it expects, or makes it so.
func (r *testResult) judge(t *snapshot.Test, now *snapshot.Outcome, update bool) {
	switch lacking := t.Lacking(); {
	case now.Unanswered != nil:
		r.Status, r.Problem, r.stuck = testFailed, now.Unanswered.Error(), true
		r.Differences = t.Differences(now)
	case update && t.Accept(now):
		r.Status = testUpdated
		if err := t.Update(); err != nil {
			r.Status, r.Problem = testError, err.Error()
		}
	case len(lacking) > 0:
		r.Problem = fmt.Sprintf("it is to match %s, of which nothing is expected yet: --update adds it", snapshot.Joined(lacking))
	default:
		r.Status, r.Differences = testPassed, t.Differences(now)
		if len(r.Differences) > 0 {
			var aspects []snapshot.Aspect
			for _, d := range r.Differences {
				aspects = append(aspects, d.Aspect)
			}
			r.Status, r.Problem = testFailed, "not as expected: "+snapshot.Joined(aspects)
		}
	}
}

// details is everything that is to be said of a test that did not pass.
func (r *testResult) details() string {
	var b strings.Builder
	for _, d := range r.Differences {
		fmt.Fprintf(&b, "%s:\n%s", d.Aspect, d.Diff)
	}
	return b.String()
}

func (a *app) printTests(report *testReport) error {
	t := term.NewTable("test", "cascade", "result", ">ms")
	for _, r := range report.Tests {
		t.Add(r.Name, r.CascadeID, string(r.Status), fmt.Sprintf("%.1f", r.DurationMS))
	}
	if err := a.show(t); err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range report.Tests {
		if r.Problem != "" {
			fmt.Fprintf(&b, "\n%s (%s): %s\n%s", r.Name, r.File, r.Problem, r.details())
		}
	}
	fmt.Fprintf(&b, "\n%d passed, %d failed, %s\n", report.Passed, report.Failed, term.Plural(report.Errors, "error"))
	_, err := fmt.Fprint(a.out, term.CleanLines(b.String()))
	return err
}

func writeJUnit(path, suite string, tests []*testResult, took time.Duration) error {
	results := make([]snapshot.Result, len(tests))
	for i, r := range tests {
		results[i] = snapshot.Result{Name: r.Name, Cascade: r.CascadeID, File: filepath.ToSlash(r.File), Took: r.took}
		if r.Status == testError {
			results[i].Error = r.Problem
		} else {
			results[i].Failure, results[i].Details = r.Problem, r.details()
		}
	}
	data, err := snapshot.JUnit(suite, results, took)
	if err == nil {
		err = snapshot.Replace(path, data)
	}
	if err != nil {
		return withExit(exitStorage, errors.Join(errors.New("--junit"), err), "--junit FILE in a folder that you may write to")
	}
	return nil
}
