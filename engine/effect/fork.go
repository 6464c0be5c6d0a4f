package effect

import (
	"cmp"
	"context"
	"errors"

	"github.com/windlass-run/windlass/echo"
)

// Branch is a part of a run that runs concurrently with others, with its own order of entries.
type Branch struct {
	Key echo.Key // see [echo.Key.Branch]
	// Run is the branch. Everything that it records has a key of the branch. An error says that the
	// branch cannot continue; what it failed of for good is an outcome of its own, and no error.
	Run func(ctx context.Context) error
}

// Fork runs branches that grow from the one that calls it, at most limit at a time, and returns when all have come to an end
// or stopped. The first error stops the others and is returned.
//
// That a branch begins and ends are entries of the branch that it grows from: all begin before the first runs, and when all
// have ended, their ends are recorded in the same order. A tool call is a branch whose request and result say that already. A
// run that is resumed continues in each branch where that was.
func (r *Recorder) Fork(ctx context.Context, cascade string, limit int, branches []Branch) error {
	if err := r.mark(echo.NodeBranchStart, echo.StepStart, cascade, branches); err != nil {
		return err
	}
	tasks := make([]func(context.Context) error, len(branches))
	ends := make([]error, len(branches))
	for i, b := range branches {
		tasks[i] = func(ctx context.Context) error {
			err := b.Run(ctx)
			if errors.Is(err, ErrEndOfRecord) { // the recording of the others may continue
				ends[i], err = err, nil
			}
			return err
		}
	}
	if err := r.seams.Parallel(ctx, limit, tasks); err != nil {
		return err
	}
	if err := cmp.Or(ends...); err != nil {
		return err
	}
	return r.mark(echo.NodeBranchEnd, echo.StepEnd, cascade, branches)
}

// mark records that branches begin or have ended.
func (r *Recorder) mark(node echo.NodeType, step echo.StepKind, cascade string, branches []Branch) error {
	for _, b := range branches {
		p := b.Key.Path()
		if len(p.Effect) > 0 {
			continue // a tool
		}
		if err := r.Append(newEntry(node, b.Key.Step(step), Site{Cascade: cascade})); err != nil {
			return err
		}
	}
	return nil
}
