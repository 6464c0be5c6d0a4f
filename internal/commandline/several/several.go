// Package several resumes several sessions in one command, and says of each how it ended.
package several

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/live"
)

// Options say how sessions are resumed, and where to say how they ended.
type Options struct {
	Runs     *app.App
	Resume   app.ResumeOptions
	Fetching func() (show func(fetch.Progress), done func()) // see [app.Watch]
	Parallel int                                             // at a time
	Out, Err io.Writer
	AsJSON   bool // nothing is written to Out
}

// Run is a run that was resumed, and how it ended.
type Run struct {
	Session string `json:"session"`
	Status  string `json:"status,omitempty"` // "": it did not begin
	Code    int    `json:"exit_code"`
	Error   string `json:"error,omitempty"`
}

func (r *Run) line() string {
	line := r.Session + "  " + cmp.Or(r.Status, "not resumed")
	if r.Error != "" {
		line += "  " + term.OneLine(r.Error)
	}
	return line
}

// Each resumes sessions, some at a time, and says of each how it ended; those that an interruption left out are
// not in the list.
func (o Options) Each(ctx context.Context, ids []string) []*Run {
	done := make([]*Run, len(ids))
	var mu sync.Mutex // of the output
	var group errgroup.Group
	group.SetLimit(o.Parallel)
	for i, id := range ids {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			r := o.one(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			if done[i] = r; !o.AsJSON {
				fmt.Fprintln(o.Out, r.line())
			}
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	list := []*Run{}
	for _, r := range done {
		if r != nil {
			list = append(list, r)
		}
	}
	return list
}

// one resumes a session, and shows of it what concerns money only.
func (o Options) one(ctx context.Context, id string) *Run {
	out := &Run{Session: id}
	watch := app.Watch{
		Follow: func(*app.Run) (engine.Observer, []echo.Sink) {
			v := live.NewQuiet(o.Err)
			return v, []echo.Sink{v}
		},
		Fetching: o.Fetching,
	}
	run, err := o.Runs.Resume(ctx, id, o.Resume, watch)
	if err == nil {
		var res *engine.Result
		res, err = run.Do(ctx)
		out.Status = res.Status.String()
		if closing := run.Close(); err == nil {
			err = closing.Err
		}
		if err != nil {
			err = exit.Run{Run: run}.Failure(err)
		}
	}
	if err != nil {
		var failed *exit.Error
		errors.As(exit.Of(err), &failed)
		out.Code, out.Error = failed.Code, failed.Error()
	}
	return out
}

// tries is what to try after several runs, by the exit code.
var tries = map[int]string{
	exit.Budget: "windlass resume SESSION --max-usd AMOUNT", exit.Failed: "windlass show SESSION", exit.Waiting: "windlass waiting",
}

// Error is the error of a command that ran several cascades; nil where all ended well.
func Error(list []*Run) error {
	codes := make([]int, len(list))
	count := map[int]int{}
	for i, r := range list {
		codes[i] = r.Code
		count[exit.Several(codes[i:i+1])]++
	}
	some := func(code int, which string) error {
		return exit.With(code, fmt.Errorf("runs that %s: %d of %d", which, count[code], len(list)), tries[code])
	}
	switch code := exit.Several(codes); code {
	case exit.Budget:
		return some(code, "reached a limit")
	case exit.Failed:
		return some(code, "did not end well")
	case exit.Waiting:
		return some(code, "still wait")
	}
	return nil
}
