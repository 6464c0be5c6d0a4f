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
	// Run is the branch: all that it records has a key of it. An error says that it cannot
	// continue; a failure for good is an outcome and no error.
	Run func(ctx context.Context) error
}

// Fork runs branches that grow from the one that calls it, at most limit at a time, and returns
// when all have ended or stopped. The first error stops the others and is returned.
//
// Starts and ends of branches are entries of the branch that they grow from: all starts before the
// first runs, all ends in the same order when all have ended. A tool call is a branch whose request
// and result say that already. A resumed run continues in each branch where that was.
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

func (r *Recorder) mark(node echo.NodeType, step echo.StepKind, cascade string, branches []Branch) error {
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
