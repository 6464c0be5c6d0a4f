package effecttest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// foreign are effects as another program would bring them: every call becomes a job for workers that know nothing of a run,
// and what comes of it is recorded by the process that gave the job out.
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

// do has a worker do something, unless ctx ends before one is free. What the world says is an outcome, also when ctx has
// ended meanwhile; an error that is only the end of ctx is none.
func (f *foreign) do(ctx context.Context, job func() error) (failed, ended error) {
	done := make(chan struct{})
	select {
	case f.jobs <- func() { defer close(done); failed = job() }:
		<-done
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if end := ctx.Err(); end != nil && errors.Is(failed, end) {
		return nil, end
	}
	return failed, nil
}

func (f *foreignRun) Model(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if err := f.w.Settle(ctx); err != nil {
		return nil, err
	}
	var resp *effect.ModelResponse
	start := time.Now()
	failed, ended := f.do(ctx, func() (err error) {
		resp, err = f.model.Complete(ctx, f.w.Clean(req))
		return err
	})
	if ended != nil {
		return nil, ended
	}
	return f.w.Answer(key, req, resp, failed, time.Since(start))
}

func (f *foreignRun) Tool(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
	if err := f.w.Announce(ctx, key, spec, req); err != nil {
		return nil, err
	}
	var res effect.ToolResult
	start := time.Now()
	failed, ended := f.do(ctx, func() (err error) {
		res, err = f.tools.Call(ctx, req)
		return err
	})
	if ended != nil {
		return nil, ended
	}
	if failed != nil {
		res = effect.ToolResult{Failed: true, Kind: "failed", Parts: echo.Text(failed.Error())}
	}
	return f.w.Result(key, req, res, time.Since(start))
}

func (f *foreignRun) Value(_ context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
	return f.w.Reading(key, site, read())
}
