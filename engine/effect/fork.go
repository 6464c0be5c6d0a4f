package effect

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Branch is a part of a run that runs concurrently with others, with its own order of entries.
type Branch struct {
	Key echo.Key // see [echo.Key.Branch]
	// Run is the branch, which records under its key. An error stops it; a failure is an outcome.
	Run func(ctx context.Context) error
}

// HeldError ends a branch and not the others. The fork returns the first of them once all have ended,
// and records no ends.
type HeldError struct{ Err error }

func (e *HeldError) Error() string { return e.Err.Error() }

func (e *HeldError) Unwrap() error { return e.Err }

// Fork runs branches, at most limit at a time, and returns when all have ended; the first error
// stops the others. All starts are recorded in the parent branch before the first runs, all ends
// after the last, in the same order; of tools, requests and results say that. A resumed run
// continues in each. After a [HeldError], [Join] may record the ends. A branch that waits ends nothing, too.
func (r *Recorder) Fork(ctx context.Context, cascade string, limit int, branches []Branch) error {
	if err := mark(r, echo.NodeBranchStart, echo.StepStart, cascade, branches); err != nil {
		return err
	}
	tasks := make([]func(context.Context) error, len(branches))
	ends := make([]error, len(branches))
	for i, b := range branches {
		tasks[i] = func(ctx context.Context) error {
			err := b.Run(ctx)
			var held *HeldError
			if errors.Is(err, ErrEndOfRecord) || errors.As(err, &held) || IsWaiting(err) { // the others may go on
				ends[i], err = err, nil
			}
			return err
		}
	}
	if err := r.seams.Parallel(ctx, limit, tasks); err != nil {
		return err
	}
	if at := slices.IndexFunc(ends, func(err error) bool { return errors.Is(err, ErrEndOfRecord) }); at >= 0 {
		return ends[at]
	}
	if at := slices.IndexFunc(ends, func(err error) bool { return err != nil && !IsWaiting(err) }); at >= 0 {
		return ends[at] // an answer would not help
	}
	if err := cmp.Or(ends...); err != nil {
		return err
	}
	return Join(r, cascade, branches)
}

// Join records the ends of branches that have all ended.
func Join(r *Recorder, cascade string, branches []Branch) error {
	return mark(r, echo.NodeBranchEnd, echo.StepEnd, cascade, branches)
}

func mark(r *Recorder, node echo.NodeType, step echo.StepKind, cascade string, branches []Branch) error {
	for _, b := range branches {
		if len(b.Key.Path().Effect) > 0 {
			continue // a tool
		}
		if err := r.Append(newEntry(node, b.Key.Step(step), Site{Cascade: cascade})); err != nil {
			return err
		}
	}
	return nil
}
