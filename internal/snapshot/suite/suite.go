// Package suite finds and runs tests that were made of recorded sessions, and reports on them.
package suite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/snapshot"
)

// Options say how tests are run.
type Options struct {
	Load   Load   // of the cascades of tests
	Update bool   // make what comes out what the tests expect
	Step   func() // called after each test, by any goroutine; nil: not called
}

// Load loads the cascade of a file.
type Load func(ctx context.Context, path string) (*cascade.Cascade, cascade.Diagnostics, error)

// Report is how tests ended.
type Report struct {
	Tests  []*Result `json:"tests"`  // in the order of the files
	Passed int       `json:"passed"` // and updated
	Failed int       `json:"failed"`
	Errors int       `json:"errors"`
}

// Status is how a test ended.
type Status string

// The values of a status.
const (
	Passed  Status = "passed"
	Updated Status = "updated" // its outcome was another one, which it expects from now on
	Failed  Status = "failed"
	Errored Status = "error" // it could not be run
)

// Result is one test that was run.
type Result struct {
	Name        string                `json:"name"`
	File        string                `json:"file"`
	CascadeID   string                `json:"cascade_id,omitempty"`
	Status      Status                `json:"status"`
	DurationMS  float64               `json:"duration_ms"`
	Problem     string                `json:"problem,omitempty"` // in one line
	Differences []snapshot.Difference `json:"differences,omitempty"`

	took  time.Duration
	stuck bool // it asks something that has no answer, so that an update helps nothing
}

// RunAll runs the tests of files, as many at a time as there are processors.
func (o Options) RunAll(ctx context.Context, files []string) *Report {
	report := &Report{Tests: make([]*Result, len(files))}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, file := range files {
		g.Go(func() error {
			report.Tests[i] = o.runFile(ctx, file)
			if o.Step != nil {
				o.Step()
			}
			return nil
		})
	}
	_ = g.Wait() // what went wrong is in the results
	for _, r := range report.Tests {
		switch r.Status {
		case Failed:
			report.Failed++
		case Errored:
			report.Errors++
		default:
			report.Passed++
		}
	}
	return report
}

// NotPassed returns how many tests failed or could not be run.
func (r *Report) NotPassed() int { return r.Failed + r.Errors }

// HasUpdatable reports whether a test failed that an update would make pass.
func (r *Report) HasUpdatable() bool {
	return slices.ContainsFunc(r.Tests, func(t *Result) bool { return t.Status == Failed && !t.stuck })
}

// HasStuck reports whether a test asks something that it has no recorded answer to.
func (r *Report) HasStuck() bool {
	return slices.ContainsFunc(r.Tests, func(t *Result) bool { return t.stuck })
}

func (o Options) runFile(ctx context.Context, file string) *Result {
	begun := time.Now()
	t, err := snapshot.Load(file)
	r := &Result{Name: strings.TrimSuffix(filepath.Base(file), snapshot.Suffix), File: file, Status: Errored}
	var bad *snapshot.FileError
	switch {
	case err == nil:
		r = o.Run(ctx, t)
	case errors.As(err, &bad):
		r.Problem = "the file is no test: " + bad.Err.Error()
	default:
		r.Problem = err.Error()
	}
	r.took = time.Since(begun)
	r.DurationMS = float64(r.took.Microseconds()) / 1000
	return r
}

// Run runs a test with its cascade as the file is now.
func (o Options) Run(ctx context.Context, t *snapshot.Test) *Result {
	r := &Result{Name: t.Name, File: t.Path(), Status: Errored}
	c, found, err := o.Load(ctx, t.CascadeFile())
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
		r.Status, r.Problem = Failed, "the recorded input does not fit the cascade any more: "+bad[0].String()
		return r
	}
	runner, done, err := Runner(c, t.Models, t.Env)
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
	r.judge(t, now, o.Update)
	return r
}

func (r *Result) judge(t *snapshot.Test, now *snapshot.Outcome, update bool) {
	switch lacking := t.Lacking(); {
	case now.Unanswered != nil:
		r.Status, r.Problem, r.stuck = Failed, now.Unanswered.Error(), true
		r.Differences = t.Differences(now)
	case update && t.Accept(now):
		r.Status = Updated
		if err := t.Update(); err != nil {
			r.Status, r.Problem = Errored, err.Error()
		}
	case len(lacking) > 0:
		r.Problem = fmt.Sprintf("it is to match %s, of which nothing is expected yet: --update adds it", snapshot.Joined(lacking))
	default:
		r.Status, r.Differences = Passed, t.Differences(now)
		if len(r.Differences) > 0 {
			var aspects []snapshot.Aspect
			for _, d := range r.Differences {
				aspects = append(aspects, d.Aspect)
			}
			r.Status, r.Problem = Failed, "not as expected: "+snapshot.Joined(aspects)
		}
	}
}

// Details are the differences of a test that did not pass, as text.
func (r *Result) Details() string { return snapshot.DiffText(r.Differences) }
