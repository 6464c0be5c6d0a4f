package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/failure"
)

// children are what a run has begun of other cascades, each as a session of its own: with the models,
// rights, tools and database of the run. It implements [engine.Children].
type children struct {
	op *opening      // of the run
	of *engine.Child // that the run is itself; nil: nothing has begun it but a person or a program

	mu      sync.Mutex
	begun   map[string]*childRun // by the session that the run knows it by
	bound   func(ctx context.Context, detached bool) (context.Context, context.CancelFunc)
	closing Closing // of those that are closed

	running sync.WaitGroup
	live    int // that run

	slots chan struct{} // of a run that nothing has begun: see [children.slot]
}

// MaxBeside is how many sessions of a tree that run beside others run at once, besides those that are
// waited for.
const MaxBeside = 16

func newChildren(op *opening) *children {
	return &children{op: op, begun: map[string]*childRun{}, slots: make(chan struct{}, MaxBeside), closing: Closing{Delivered: true}, bound: func(ctx context.Context, _ bool) (context.Context, context.CancelFunc) {
		return context.WithCancel(ctx)
	}}
}

// childRun is one of them that was begun by this process.
type childRun struct {
	detached bool
	done     chan struct{} // closed when it has ended; what is below is final then
	closed   chan struct{} // closed when nothing of it is open any more
	wanted   chan struct{} // closed when somebody waits for it
	want     sync.Once
	out      *effect.ChildOutcome
	err      error

	failed error // why it did not complete, as who runs it alone is told; nil: it did, or did not run
}

// run says that the run begins, with its context. What it returns is called at its end: what runs
// beside the run, and is not detached, is interrupted then, as nobody waits for it any more.
func (c *children) run(ctx context.Context) (ended func()) {
	attached, ended := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bound = func(own context.Context, detached bool) (context.Context, context.CancelFunc) {
		if detached {
			return context.WithCancel(ctx)
		}
		own, cancel := context.WithCancel(own)
		stop := context.AfterFunc(attached, cancel)
		return own, func() { stop(); cancel() }
	}
	return ended
}

// close waits until all of them are closed, and returns what that has left to say.
func (c *children) close() Closing {
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// Begin implements [engine.Children].
func (c *children) Begin(ctx context.Context, x *engine.Child) { c.begin(ctx, x) }

// Wait implements [engine.Children].
func (c *children) Wait(ctx context.Context, x *engine.Child) (*effect.ChildOutcome, error) {
	r, mine := c.begin(ctx, x)
	r.isWanted()
	if !mine {
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	<-r.done // it ends with ctx
	return r.out, r.err
}

// Settle implements [engine.Children].
func (c *children) Settle(ctx context.Context) {
	for {
		r := c.attached()
		if r == nil {
			return
		}
		r.isWanted()
		select {
		case <-r.done:
		case <-ctx.Done():
			return
		}
	}
}

// attached returns a child that runs and is not detached; nil when there is none.
func (c *children) attached() *childRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.begun {
		select {
		case <-r.done:
		default:
			if !r.detached {
				return r
			}
		}
	}
	return nil
}

// Find implements [engine.Children]. The end of ctx ends the search, of which nothing is recorded then.
func (c *children) Find(ctx context.Context, name string) echo.FoundCascade {
	found, err := c.op.findCascade(ctx, name)
	var lib json.RawMessage
	if err == nil {
		lib, err = library.Encode(found.Cascade)
	}
	secrets := c.op.run.secrets
	if err == nil {
		if problem := circle(c.op, found); problem != "" {
			return echo.FoundCascade{Name: name, Problem: secrets.Text(problem)}
		}
	}
	if err != nil {
		return echo.FoundCascade{Name: name, Problem: secrets.Text(problemOf(err))}
	}
	if lib != nil {
		lib = secrets.JSON(lib)
	}
	return echo.FoundCascade{Name: name, File: found.File, Hash: found.Hash, Cascade: secrets.JSON(encoded(found.Cascade)), Library: lib}
}

// problemOf says to a model why a name stands for no cascade, and what to try.
func problemOf(err error) string {
	var lost *library.NameError
	if errors.As(err, &lost) && lost.Hint != "" {
		return lost.Message + "; " + lost.Hint
	}
	return err.Error()
}

// Read implements [engine.Children].
func (c *children) Read(found *echo.FoundCascade) (*cascade.Reached, error) {
	read, _, err := library.Read(found.Name, found.Cascade, found.Library, Known(c.op.options.Extensions.ToolNames()...))
	if err != nil {
		return nil, fmt.Errorf("read the cascade %s: %w", found.Name, err)
	}
	return &cascade.Reached{File: found.File, Hash: found.Hash, Cascade: read}, nil
}

// begin begins a child, unless that was done; mine says that it was not.
func (c *children) begin(ctx context.Context, x *engine.Child) (r *childRun, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.begun[x.Session]; r != nil {
		return r, false
	}
	r = &childRun{detached: x.Detach, done: make(chan struct{}), closed: make(chan struct{}), wanted: make(chan struct{})}
	c.begun[x.Session] = r
	c.live++
	ctx, cancel := c.bound(ctx, x.Detach)
	c.running.Go(func() {
		defer cancel()
		c.do(ctx, x, r)
	})
	return r, true
}

// isWanted says that somebody waits for the child.
func (r *childRun) isWanted() { r.want.Do(func() { close(r.wanted) }) }

// slot waits until a child may run, and returns what ends that; ok is false when ctx has ended before. A
// child that runs beside others takes one of the slots of the whole tree, unless somebody waits for it,
// or begins to: so those that have slots never wait for one that has none. A detached child gets its slot
// in any case: its run may have ended, and only what has a session can be resumed.
func (c *children) slot(ctx context.Context, x *engine.Child, r *childRun) (release func(), ok bool) {
	none := func() {}
	if x.How != echo.ChildAsync && x.How != echo.ChildSpawn {
		return none, true
	}
	slots := rootOf(c.op).run.children.slots
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, true
	case <-r.wanted:
		return none, true
	case <-ctx.Done():
		if !x.Detach {
			return none, false
		}
		slots <- struct{}{} // those that have one are ending
		return func() { <-slots }, true
	}
}

// do runs a child to its end, and closes it when its end is known.
func (c *children) do(ctx context.Context, x *engine.Child, r *childRun) {
	var run *Run
	release, ok := c.slot(ctx, x, r)
	if ok {
		run, r.out, r.failed, r.err = c.toItsEnd(ctx, x)
	} else {
		r.err = ctx.Err()
	}
	defer close(r.closed)
	release() // before it is closed, as that waits for those that it has left to themselves
	close(r.done)
	closing := Closing{Delivered: true}
	if run != nil {
		closing = run.Close()
	}
	if x.Detach && run != nil && r.out == nil {
		closing.Interrupted = append(closing.Interrupted, x.Session)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live--
	c.closing.add(closing)
}

// toItsEnd opens a child and runs it to its end. A fault in it is an error: it does not end the process,
// in which others run. failed is why the child did not complete.
func (c *children) toItsEnd(ctx context.Context, x *engine.Child) (run *Run, out *effect.ChildOutcome, failed, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, failed, err = nil, nil, &effect.RecordError{Err: fmt.Errorf("session %s: a fault of windlass: %v\n%s", x.Session, p, debug.Stack())}
		}
	}()
	opened := ctx
	if x.Detach {
		opened = context.WithoutCancel(ctx)
	}
	if err := (effect.Writer{Log: c.op.run.log}).Settle(opened); err != nil { // there is no child that its parent does not know of
		return nil, nil, nil, err
	}
	if run, out, err = c.open(opened, x); run != nil {
		out, failed, err = run.asChild(ctx)
	}
	return run, out, failed, err
}

// Unfinished reports whether anything runs that the run has begun.
func (r *Run) Unfinished() bool {
	r.children.mu.Lock()
	defer r.children.mu.Unlock()
	return r.children.live > 0
}

// asChild runs the run of a child. Its end is durable before its parent learns of it. failed is why the
// child did not complete.
func (r *Run) asChild(ctx context.Context) (out *effect.ChildOutcome, failed, err error) {
	res, failed := r.Do(ctx)
	switch {
	case effect.IsRecordError(failed), failure.Is(failed, failure.StorageFailed), failure.Is(failed, failure.Diverged):
		return nil, nil, fmt.Errorf("session %s: %w", r.ID(), failed)
	case res.Status == echo.StatusInterrupted:
		return nil, nil, interrupted(ctx, failed)
	case res.Status == echo.StatusWaiting:
		return nil, nil, failed // its parent waits, too
	case r.stoppedAbove(failed):
		var over *budget.Error
		errors.As(failed, &over)
		stopped := *over
		stopped.Above = true
		return nil, nil, &stopped
	}
	if err := r.log.Wait(context.WithoutCancel(ctx)); err != nil {
		return nil, nil, &effect.RecordError{Err: fmt.Errorf("session %s: %w", r.ID(), err)}
	}
	message := ""
	if failed != nil {
		message = r.secrets.Text(failed.Error())
	}
	out = outcomeOf(r.ID(), res, message)
	if r.header.ParentSeq > 0 {
		rec, err := r.children.op.app.ReadJournal(r.ID())
		if err != nil {
			return nil, nil, &effect.RecordError{Err: fmt.Errorf("session %s: %w", r.ID(), err)}
		}
		out = tookOf(out, rec)
	}
	return out, failed, nil
}

// interrupted returns the end of ctx, or why else somebody ended a run.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(context.Canceled, err)
}

// outcomeOf returns what a run came to for the run that has begun it. message says why it did not
// complete.
func outcomeOf(id string, res *engine.Result, message string) *effect.ChildOutcome {
	out := &effect.ChildOutcome{Totals: res.Plus(res.Children)}
	out.Session, out.Status, out.Reason, out.State = id, res.Status, res.Reason, res.State
	if res.Status == echo.StatusCompleted {
		out.Output = res.Output
	} else {
		out.Error = &echo.Failure{Kind: string(res.Reason), Message: message}
	}
	return out
}

// stoppedAbove reports whether a limit of a run above stopped the run of a child.
func (r *Run) stoppedAbove(err error) bool {
	var over *budget.Error
	if !errors.As(err, &over) {
		return false
	}
	given := r.children.of.Budget
	own := r.cascade.Budget
	return over.Above || over.Limit == budget.LimitSeconds && given != nil && given.MaxSeconds > 0 && (own == nil || own.MaxSeconds != over.Max)
}

// limitsOfChild returns what a child may take: the least of what its cascade says and of what its
// parent gives it from now on. It had run for a while before that the clock of its parent has counted.
func (r *Run) limitsOfChild(own cascade.Budget, ran time.Duration) *cascade.Budget {
	given := r.children.of.Budget
	if given == nil {
		return nil
	}
	if r.cascade.Budget != nil {
		own.MaxSeconds = r.cascade.Budget.MaxSeconds
	} else {
		own.MaxSeconds = 0
	}
	most := *given
	if most.MaxSeconds > 0 {
		most.MaxSeconds += ran.Seconds()
	}
	own.MaxUSD, own.MaxTokens, own.MaxSeconds = least(own.MaxUSD, most.MaxUSD), least(own.MaxTokens, most.MaxTokens), least(own.MaxSeconds, most.MaxSeconds)
	return &own
}

// least returns the lower limit, where 0 is none.
func least[N int64 | float64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
