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
	// Run is the branch, which records under its key. An error stops it; a failure is an outcome.
	Run func(ctx context.Context) error
}

// Fork runs branches, at most limit at a time, and returns when all have ended; the first error
// stops the others. All starts are recorded in the parent branch before the first runs, all ends
// after the last, in the same order; of tools, requests and results say that. A resumed run
// continues in each.
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
