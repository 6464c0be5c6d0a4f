package effecttest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// foreign are effects as another program would bring them: every call becomes a job for workers that know nothing of a run,
// and what comes of it is recorded by whoever gave the job out.
type foreign struct {
	w    effect.Writer
	jobs chan func()
}

// StartForeign returns effects of another kind than windlass has, and starts their workers, which end with the test.
func StartForeign(t testing.TB, model effect.Model, tools effect.Tools, w effect.Writer) effect.Effects {
	f := &foreign{w: w, jobs: make(chan func())}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for job := range f.jobs {
				job()
			}
		})
	}
	t.Cleanup(func() {
		close(f.jobs)
		workers.Wait()
	})
	return &foreignRun{f, model, tools}
}

// foreignRun implements [effect.Effects] on the workers.
type foreignRun struct {
	*foreign
	model effect.Model
	tools effect.Tools
}

// do has a worker do something, unless ctx ends first.
func (f *foreign) do(ctx context.Context, job func()) error {
	done := make(chan struct{})
	select {
	case f.jobs <- func() { defer close(done); job() }:
		<-done
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *foreignRun) Model(ctx context.Context, key echo.Key, req *effect.ModelRequest) (resp *effect.ModelResponse, err error) {
	if err := f.w.Settle(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	if ended := f.do(ctx, func() { resp, err = f.model.Complete(ctx, f.w.Clean(req)) }); ended != nil {
		return nil, ended
	}
	return f.w.Answer(key, req, resp, err, time.Since(start))
}

func (f *foreignRun) Tool(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
	if err := f.w.Announce(ctx, key, spec, req); err != nil {
		return nil, err
	}
	var res effect.ToolResult
	var err error
	start := time.Now()
	if ended := f.do(ctx, func() { res, err = f.tools.Call(ctx, req) }); ended != nil {
		return nil, ended
	}
	if err != nil {
		res = effect.ToolResult{Failed: true, Kind: "failed", Parts: echo.Text(err.Error())}
	}
	return f.w.Result(key, req, res, time.Since(start))
}

func (f *foreignRun) Value(_ context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
	return f.w.Reading(key, site, read())
}
