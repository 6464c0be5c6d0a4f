package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"runtime/debug"
	"sync"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/server"
)

// host runs the sessions that are begun over the API: at most so many at once, each on a goroutine of its own, with the
// server's rights. It implements [server.Runs].
type host struct {
	runs         *core.App
	grants       grants
	noClickHouse bool
	max          int
	log          *log.Logger
	find         func(ctx context.Context, id string) (string, error) // the whole id of a session that there is

	mu       sync.Mutex
	places   int // taken, by runs and by those that are about to begin
	stopping bool
	running  map[string]*hosted
	idle     chan struct{}     // closed when stopping and no place is taken
	stopped  []string          // sessions that the server's end cut off
	refused  map[string]string // why sessions could not go on from their record, which says nothing of it
}

// hosted is one session that runs here.
type hosted struct {
	run    *core.Run
	cancel context.CancelCauseFunc
	begun  time.Time
	ended  bool // the engine has ended; only closing is under way
}

// Why runs of a server are interrupted.
var (
	errCancelled = errors.New("cancelled over the API")
	errStopping  = errors.New("the server stops")
)

// retryRun is when a client may try again to begin a run.
const retryRun = 5 * time.Second

func newHost(runs *core.App, g grants, maxRuns int, noClickHouse bool, l *log.Logger) *host {
	return &host{
		runs: runs, grants: g, max: maxRuns, noClickHouse: noClickHouse, log: l, running: map[string]*hosted{}, idle: make(chan struct{}),
		refused: map[string]string{},
	}
}

// Start implements [server.Runs].
func (h *host) Start(ctx context.Context, r *server.RunRequest) (*server.Session, error) {
	c, file, err := h.cascadeOf(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := h.grants.check(c); err != nil {
		return nil, err
	}
	input, err := inputOf(ctx, c, r.Input)
	if err != nil {
		return nil, err
	}
	o := h.grants.options()
	o.NoClickHouse = h.noClickHouse
	if o.Limits, err = h.grants.limits(r.Budget, budgetOfFile(c)); err != nil {
		return nil, err
	}
	o.SessionID, o.Offline = r.SessionID, o.Offline || r.Offline
	o.Models = core.Models{Default: r.Model, Phases: r.Models}
	return h.begin(ctx, startProblem, func(ctx context.Context, w core.Watch) (*core.Run, error) {
		return h.runs.Start(ctx, core.Job{Cascade: c, File: file, Input: input}, o, w)
	})
}

func budgetOfFile(c *cascade.Cascade) cascade.Budget {
	if c.Budget == nil {
		return cascade.Budget{}
	}
	return *c.Budget
}

// What stands for the file of a cascade that came in a request: in diagnostics, which begin with a file and a line, and
// everywhere else.
const (
	inlineName  = "cascade.json"
	requestName = "the cascade of the request"
)

func (h *host) cascadeOf(ctx context.Context, r *server.RunRequest) (*cascade.Cascade, string, error) {
	offline := h.grants.offline || r.Offline
	if r.File != "" {
		return h.grants.loadServed(ctx, r.File, offline)
	}
	if offline {
		return nil, "", server.NewProblem(server.InvalidRequest, "name a file that has a script beside it, or let a model answer",
			"a cascade that comes in a request has no script beside it to answer from offline")
	}
	c, found, err := cascade.ParseContext(ctx, inlineName, r.Cascade, core.Known())
	if err != nil {
		return nil, "", cascadeProblem(inlineName, found, err)
	}
	return c, requestName, nil
}

func inputOf(ctx context.Context, c *cascade.Cascade, raw json.RawMessage) (map[string]any, error) {
	if raw == nil {
		raw = []byte("{}")
	}
	input, err := decodeObject("input", raw)
	if err != nil {
		return nil, server.NewProblem(server.BadRequest, `"input": {...}`, "%v", err)
	}
	violations := c.CheckInputContext(ctx, input)
	if len(violations) == 0 {
		return input, nil
	}
	p := &server.Problem{Kind: server.InvalidInput, Detail: "the input does not fit the cascade", Try: "correct what violations lists"}
	for _, v := range violations {
		v.Pointer = "/input" + v.Pointer
		p.Detail += "; " + v.String()
		p.Violations = append(p.Violations, v)
	}
	return nil, p
}

// begin opens a run and lets it go on by itself. The request may end meanwhile: what it began goes on.
func (h *host) begin(ctx context.Context, explain func(error) error, open func(context.Context, core.Watch) (*core.Run, error)) (*server.Session, error) {
	if err := h.take(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	run, err := open(ctx, h.watch())
	if err != nil {
		cancel(nil)
		h.release("")
		return nil, explain(err)
	}
	r := &hosted{run: run, cancel: cancel, begun: time.Now().UTC().Truncate(time.Microsecond)}
	h.mu.Lock()
	h.running[run.ID()] = r
	stopping := h.stopping
	h.mu.Unlock()
	if stopping { // it began to stop while this session was opened
		cancel(errStopping)
	}
	h.log.Printf("%s: begins: %s (%s)", run.ID(), oneLine(run.Cascade().CascadeID), oneLine(run.File()))
	go h.run(ctx, r)
	return h.view(r), nil
}

// watch writes to the log what a person should know of a run that starts.
func (h *host) watch() core.Watch {
	notice := func(text string) { h.log.Print(oneLine(text)) }
	return core.Watch{Notice: notice, Follow: func(r *core.Run) (engine.Observer, []echo.Sink) {
		if len(r.Recorded()) > 0 && r.Changed() {
			h.log.Printf("%s: %s has changed since the session began. The session goes on with the cascade as it was.", r.ID(), oneLine(r.File()))
		}
		return nil, nil
	}, Fetching: func() (func(fetch.Progress), func()) {
		p := newFetchProgress(h.log.Writer())
		return p.show, p.mute
	}}
}

// view is a session that has just begun, or is about to end.
func (h *host) view(r *hosted) *server.Session {
	return archive.Started(r.run.ID(), r.run.Cascade().CascadeID, r.begun, r.run.Entries())
}

// take takes a place for a run.
func (h *host) take() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopping:
		p := server.NewProblem(server.ShuttingDown, "try again when the server is back", "the server is stopping and begins no runs")
		p.RetryAfter = retryRun
		return p
	case h.places >= h.max:
		p := server.NewProblem(server.TooManyRuns, "try again when one has ended; windlass serve --max-runs allows more", "%s going on, which is the most that this server runs at once", runsAre(h.places))
		p.RetryAfter = retryRun
		return p
	}
	h.places++
	return nil
}

func runsAre(n int) string {
	if n == 1 {
		return "1 run is"
	}
	return fmt.Sprintf("%d runs are", n)
}

// release gives a place back.
func (h *host) release(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, id)
	h.places--
	if h.stopping && h.places == 0 {
		close(h.idle)
	}
}

// run runs one session to its end and closes it. A panic ends that session and no other: its journal has what was done.
func (h *host) run(ctx context.Context, r *hosted) {
	run := r.run
	defer h.release(run.ID())
	defer r.cancel(nil)
	defer func() {
		if p := recover(); p != nil {
			h.log.Printf("%s: panic: %v\n%s", run.ID(), p, debug.Stack())
			run.Close()
		}
	}()
	res, err := run.Do(ctx)
	h.mu.Lock()
	r.ended = true
	if delete(h.refused, run.ID()); failure.Is(err, failure.Diverged) {
		h.refused[run.ID()] = err.Error()
	}
	if res.Status == echo.StatusInterrupted && errors.Is(context.Cause(ctx), errStopping) {
		h.stopped = append(h.stopped, run.ID())
	}
	h.mu.Unlock()
	h.report(run, res, err, run.Close())
}

// report writes to the log how a run ended.
func (h *host) report(run *core.Run, res *engine.Result, err error, c core.Closing) {
	t := run.Totals(res)
	why := ""
	if err != nil {
		why = ": " + oneLine(err.Error())
	}
	h.log.Printf("%s: %s in %s: %s, %s%s", run.ID(), res.Status, formatMillis(res.DurationMS), plural(t.Calls, "model call"), spentMoney(spentBy(t)), why)
	if c.Undelivered != nil {
		h.log.Printf("%s: warning: %s", run.ID(), oneLine(c.Undelivered.Error()))
	}
	for _, err := range []error{c.Cards, c.Err} {
		if err != nil {
			h.log.Printf("%s: warning: %s", run.ID(), oneLine(err.Error()))
		}
	}
}

// Cancel implements [server.Runs].
func (h *host) Cancel(ctx context.Context, id string) (*server.Session, error) {
	id, err := h.find(ctx, id)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	r := h.running[id]
	running := r != nil && !r.ended
	h.mu.Unlock()
	if !running {
		return nil, server.NewProblem(server.NotRunning, "GET /api/sessions/"+id+" shows how far it has come", "the session %s does not run in this server", id)
	}
	r.cancel(errCancelled)
	return h.view(r), nil
}

// Runs reports whether a session's engine runs in this server.
func (h *host) Runs(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.running[id]
	return r != nil && !r.ended
}

// Refusal returns why a session could not go on from its record when it was last taken up here; "" when it could.
func (h *host) Refusal(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused[id]
}

// count returns how many runs are going on.
func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.places
}

// stop begins no more runs, gives those that are going on so much time, interrupts the others, and returns when all are
// closed. It returns the sessions that were interrupted.
func (h *host) stop(grace time.Duration) []string {
	h.mu.Lock()
	h.stopping = true
	if h.places == 0 {
		close(h.idle)
	}
	h.mu.Unlock()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-h.idle:
	case <-patience.C:
		h.interruptAll()
	}
	<-h.idle
	return h.stopped
}

func (h *host) interruptAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.running {
		r.cancel(errStopping)
	}
}

// startProblem says to a client why a session could not be opened.
func startProblem(err error) error {
	var p *server.Problem
	var f *failure.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, journal.ErrExists), errors.Is(err, journal.ErrBusy):
		return &server.Problem{Kind: server.SessionExists, Detail: err.Error(), Try: "another session_id, or none for a new one; if this request was sent twice, the first one began the run", Err: err}
	case !errors.As(err, &f):
		return err
	}
	switch f.Kind {
	case failure.ModelUnavailable:
		return &server.Problem{Kind: server.ModelUnavailable, Detail: err.Error(), Try: "on the server: " + f.Try, Err: err}
	case failure.StorageFailed, failure.OtherVersion, failure.Damaged, failure.EngineMissing:
		return &server.Problem{Kind: server.StorageFailed, Detail: err.Error(), Try: "on the server: windlass doctor", Err: err}
	case failure.Failed, failure.Interrupted:
		return err
	}
	return &server.Problem{Kind: server.InvalidRequest, Detail: err.Error(), Try: "name the models with model or models, or in the cascade", Err: err}
}
