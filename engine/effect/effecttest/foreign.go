package effecttest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// foreign are effects as another program would bring them: calls become jobs for workers that know
// nothing of a run, and the process that gave a job out records its outcome.
type foreign struct {
	w     effect.Writer
	model effect.Model
	tools effect.Tools
	jobs  chan func()

	mailbox effect.Mailbox // nil: nobody answers
}

// StartForeign returns such effects and starts their workers, which end with the test. The mailbox may be nil.
func StartForeign(t testing.TB, model effect.Model, tools effect.Tools, mailbox effect.Mailbox, w effect.Writer) effect.Effects {
	f := &foreign{w: w, model: model, tools: tools, mailbox: mailbox, jobs: make(chan func())}
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
	return f
}

// do has a worker do a job, unless ctx ends before one is free. An error that is only the end of
// ctx is no outcome.
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

func (f *foreign) Model(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
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

func (f *foreign) Tool(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
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

func (f *foreign) Value(_ context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
	return f.w.Reading(key, site, read())
}

func (f *foreign) Child(ctx context.Context, key echo.Key, site effect.Site, run effect.RunChild) (*effect.ChildOutcome, error) {
	if err := f.w.Settle(ctx); err != nil {
		return nil, err
	}
	var out *effect.ChildOutcome
	start := time.Now()
	failed, ended := f.do(ctx, func() (err error) {
		out, err = run(ctx)
		return err
	})
	if err := cmp.Or(ended, failed); err != nil {
		return nil, err
	}
	return f.w.Child(key, site, out, time.Since(start))
}

func (f *foreign) Await(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	if err := f.w.Settle(ctx); err != nil {
		return nil, err
	}
	var a *echo.Answer
	failed, ended := f.do(ctx, func() (err error) {
		if f.mailbox != nil {
			a, err = f.mailbox.Answer(ctx, req)
		}
		return err
	})
	switch err := cmp.Or(ended, failed); {
	case err != nil:
		return nil, err
	case a == nil:
		return nil, &effect.WaitingError{Request: *req}
	}
	return f.w.Answered(req, a)
}
