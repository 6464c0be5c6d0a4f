package windlass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
)

// Input is the input of a cascade, by the names of its inputs_schema. Values are what encoding/json
// can encode.
type Input map[string]any

// Run is a run that goes on by itself, on goroutines of its own. It is safe for concurrent use, and
// need not be waited for.
type Run struct {
	id     string
	cancel context.CancelFunc
	feed   *feed
	done   chan struct{} // closed when the run has ended; what is below is final then
	result *Result
	err    error
}

// Start starts a run of a cascade. What can be checked is checked before: the input, tools, models
// and their keys, folders. Then the run goes on by itself until it ends, ctx ends, [Run.Cancel] or
// [Windlass.Close]; the last three interrupt it, and it can be resumed.
//
// The error is of [InvalidRequest], [InvalidInput], [InvalidCascade], [InvalidConfig],
// [SessionExists], [ModelUnavailable] or [StorageFailed]; nothing is left of the session then.
func (w *Windlass) Start(ctx context.Context, c *Cascade, input Input, opts ...RunOption) (*Run, error) {
	if err := w.ready("start a run"); err != nil {
		return nil, err
	}
	s, err := settingsOf(opts)
	switch {
	case err != nil:
		return nil, explain(err)
	case c == nil:
		return nil, invalid("start a run: there is no cascade")
	case c.parsed == nil:
		return nil, invalid("start a run: %w", errUnmade)
	case s.cascade != nil:
		return nil, invalid("WithCascade is for Fork: Start has a cascade")
	}
	if err := c.checkTools(s.Extensions.ToolNames()); err != nil {
		return nil, err
	}
	values, err := c.values(input)
	if err != nil {
		return nil, err
	}
	s.NoClickHouse = s.NoClickHouse || w.journals
	s.Extensions.Find = c.find
	job := app.Job{Cascade: c.parsed, File: c.file, Input: values}
	return w.launch(ctx, func(ctx context.Context, watch app.Watch) (*app.Run, error) {
		return w.app.Start(ctx, job, s.RunOptions, watch)
	})
}

// Run starts a run and waits for its end, see [Windlass.Start] and [Run.Result]. The end of ctx
// interrupts the run; the result says how far it came. It is nil when the run did not start.
func (w *Windlass) Run(ctx context.Context, c *Cascade, input Input, opts ...RunOption) (*Result, error) {
	run, err := w.Start(ctx, c, input, opts...)
	if err != nil {
		return nil, err
	}
	return run.Result(context.WithoutCancel(ctx))
}

// Resume resumes a session whose run was interrupted, killed, or failed of a budget or a model,
// where it stopped. No answer is paid for twice, and no tool is called twice that may do harm. It
// must be given the tools and the provider again that it was started with.
//
// The error is of [UnknownSession], [SessionBusy], [NotResumable], [OtherVersion], [Damaged] or one
// of those of [Windlass.Start].
func (w *Windlass) Resume(ctx context.Context, id string, opts ...RunOption) (*Run, error) {
	if err := w.ready("resume a session"); err != nil {
		return nil, err
	}
	s, err := w.settingsToResume(opts)
	switch {
	case err != nil:
		return nil, explain(err)
	case s.idGiven || s.cascade != nil:
		return nil, invalid("WithSessionID and WithCascade are for Fork: a session that is resumed keeps its id and its cascade")
	}
	if id, _, err = w.archive.Bring(ctx, id); err != nil {
		return nil, explain(err)
	}
	return w.launch(ctx, func(ctx context.Context, watch app.Watch) (*app.Run, error) {
		return w.app.Resume(ctx, id, s.resumeOptions(), watch)
	})
}

// Fork makes a new session of the first entries of another one, up to its entry seq, and resumes it
// there. The other session stays as it is. [WithCascade] has it continue under another cascade. The
// error is of [InvalidRequest] when there is no such entry, of [Diverged] when the entries do not
// follow from the cascade, or one of those of [Windlass.Resume].
func (w *Windlass) Fork(ctx context.Context, id string, seq uint64, opts ...RunOption) (*Run, error) {
	if err := w.ready("fork a session"); err != nil {
		return nil, err
	}
	s, err := w.settingsToResume(opts)
	if err != nil {
		return nil, explain(err)
	}
	o := app.ForkOptions{SessionID: s.SessionID, ResumeOptions: s.resumeOptions()}
	if c := s.cascade; c != nil {
		if err := c.checkTools(s.Extensions.ToolNames()); err != nil {
			return nil, err
		}
		o.Cascade, o.File = c.parsed, c.file
	}
	if id, _, err = w.archive.Bring(ctx, id); err != nil {
		return nil, explain(err)
	}
	return w.launch(ctx, func(ctx context.Context, watch app.Watch) (*app.Run, error) {
		return w.app.Fork(ctx, id, seq, o, watch)
	})
}

func (w *Windlass) settingsToResume(opts []RunOption) (*runSettings, error) {
	s, err := settingsOf(opts)
	if err == nil {
		err = s.resuming()
	}
	s.NoClickHouse = s.NoClickHouse || w.journals
	return s, err
}

func (s *runSettings) resumeOptions() app.ResumeOptions {
	return app.ResumeOptions{Limits: s.Limits, NoClickHouse: s.NoClickHouse, Extensions: s.Extensions}
}

// launch opens a run and lets it go on.
func (w *Windlass) launch(ctx context.Context, open func(context.Context, app.Watch) (*app.Run, error)) (*Run, error) {
	r := &Run{feed: newFeed(), done: make(chan struct{})}
	ctx, r.cancel = context.WithCancel(ctx)
	w.mu.Lock()
	closed := w.closed
	w.runs[r] = true
	w.mu.Unlock()
	inner, err := (*app.Run)(nil), invalid("start a run: the Windlass is closed")
	if !closed {
		inner, err = open(ctx, r.feed.watch())
	}
	if err != nil {
		r.cancel()
		w.ended(r)
		return nil, explain(err)
	}
	r.id = inner.ID()
	go func() {
		r.do(ctx, inner)
		w.ended(r)
	}()
	return r, nil
}

// ended says that a run holds nothing open any more.
func (w *Windlass) ended(r *Run) {
	w.mu.Lock()
	delete(w.runs, r)
	w.mu.Unlock()
	close(r.done)
}

// do runs the run to its end and closes it.
func (r *Run) do(ctx context.Context, run *app.Run) {
	defer r.cancel()
	res, err := recovered(ctx, run)
	closing := run.Close()
	sums := run.Sums()
	r.result = &Result{Result: *res, Spent: sums.Totals, Copied: sums.Copied}
	if u := closing.Undelivered; u != nil {
		r.result.Undelivered = u
	}
	if err == nil && closing.Err != nil {
		err = failure.New(StorageFailed, closing.Err, "")
	}
	r.err = explain(err)
	r.feed.end(r.err)
}

// recovered runs a run. A fault of windlass ends the run and not the program.
func recovered(ctx context.Context, run *app.Run) (res *engine.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res = &engine.Result{SessionID: run.ID(), CascadeID: run.Cascade().CascadeID, Status: echo.StatusFailed, Reason: echo.StopError}
			err = failure.New(Failed, fmt.Errorf("session %s: a fault of windlass: %v\n%s", run.ID(), p, debug.Stack()), "report it with the text above")
		}
	}()
	return run.Do(ctx)
}

// ID returns the id of the session.
func (r *Run) ID() string { return r.id }

// Events returns what happens in the run, from its beginning: each loop over it begins with the
// first event, whenever it begins, and ends with the run. A run that did not complete ends it with
// its error.
//
// The run never waits for a reader. One that is slow misses only pieces of answers that were
// recorded meanwhile, see [Delta]; one that breaks off, and a run without a reader, change nothing.
// Of a session that is resumed it has what is new; [Windlass.Record] has the entries before.
func (r *Run) Events() iter.Seq2[Event, error] { return r.feed.all() }

// Children returns the other cascades that the run has begun so far, in that order. Each is a session of
// its own: what it recorded, and whether it can be resumed by itself, [Windlass.Record] and
// [Windlass.Session] say, and [Windlass.Resume] of this run resumes it, too. Those that had ended before
// this run was resumed are not among them.
func (r *Run) Children() []*Child { return r.feed.children() }

// Result waits for the end of the run, and of what it left to itself, see "detach" in the language. The result says what it came to also when the run failed,
// with the error then. The end of ctx ends only the waiting.
func (r *Run) Result(ctx context.Context) (*Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	default:
	}
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for session %s: %w", r.id, ctx.Err())
	}
}

// Cancel interrupts the run. It returns at once; [Run.Result] waits. The session can be resumed.
func (r *Run) Cancel() { r.cancel() }

// Result is what a run came to: its Status, Reason and Output, the Phases one by one, and what the
// phases took.
type Result struct {
	engine.Result
	Spent       record.Totals // by the whole session: also by what failed, or was done in the background or before it was resumed
	Copied      record.Copied // of a fork: what was paid for by the session that it comes from, and is not in Spent
	Undelivered error         // why ClickHouse does not have everything yet; nil: it has, or it was to have nothing
}

// Text returns the output as text: a string as it is, anything else as JSON.
func (r *Result) Text() string { return echo.AsText(r.Output) }

// Decode stores an output that is JSON in the value that v points to: the answer to an
// output_schema, or a text that is JSON.
func (r *Result) Decode(v any) error {
	if r.Output == nil {
		return errors.New("decode the output of the run: it has none")
	}
	if err := json.Unmarshal([]byte(r.Text()), v); err != nil {
		return fmt.Errorf("decode the output of the run: %w", err)
	}
	return nil
}
