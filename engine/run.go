package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/texts"
	"github.com/windlass-run/windlass/engine/toolset"
)

// Run runs a cascade to its end, which is in the log unless that failed. The result is never nil;
// the error is a [*PhaseError], a [*budget.Error], a [*effect.RecordError], or the end of ctx.
func (r *Runner) Run(ctx context.Context, spec Spec) (*Result, error) {
	run := newRun(r, spec)
	run.whole = ctx
	if spec.Log != nil {
		spec.Log.Follow(run.own.add)
		defer spec.Log.Follow(nil)
	}
	err := checkResumes(spec.Recording)
	if err == nil {
		err = run.begin()
	}
	if err == nil {
		err = run.takeFiles()
	}
	if err == nil {
		err = openMemory(ctx, run)
	}
	if err == nil {
		err = run.follow(ctx)
	}
	run.result.Status, run.result.Reason = core.Classify(err)
	defer func() { run.result.Taken = run.rec.Taken() }()
	run.result.DurationMS = effect.Millis(run.rec.Active().Sub(run.Start))
	if effect.IsRecordError(err) {
		return run.result, run.rec.Missing(err)
	}
	if ctx.Err() != nil && spec.Log != nil && run.rec.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd)) != nil {
		return run.result, err // it was stopped before it has come to the end of its record: nothing follows from that
	}
	if run.result.Status == echo.StatusWaiting && spec.Log != nil && r.Ready != nil && r.Ready(ctx) {
		return run.result, err
	}
	if end := run.end(err); end != nil {
		err = errors.Join(err, end)
		run.result.Status, run.result.Reason = echo.StatusFailed, echo.StopError
	} else if left := run.rec.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd)); left != nil {
		return run.result, left
	}
	return run.result, err
}

// run is the state of one run, or of a branch of it, owned by the goroutine that runs it. Branches
// share the recorder, the ledger, the caches and the Runner, which are safe for concurrent use, and
// what the run came to before them, which nobody changes meanwhile; tool calls touch the recorder only.
type run struct {
	*Runner
	spec     Spec
	session  *echo.Session
	messages *lookup.Messages
	rec      *core.Recorder
	own      *ownRecord
	*core.Account
	schemas *toolset.Schemas
	texts   *texts.Cache
	files   []attachment
	result  *Result

	whole   context.Context //nolint:containedctx // of the run: children that run beside it outlive the branch that begins them
	doubted bool            // that figures of an endpoint were ignored was reported
	opened  bool            // a turn has begun after the end of the recording
	branched
}

// branched is what a run, or a branch of it, has by itself.
type branched struct {
	asyncs    []*Child       // that run beside the run, in the order in which they began
	vars      map[string]any // what the templates of a branch see besides
	inherited int            // visits that a branch has of the run
}

func newRun(r *Runner, spec Spec) *run {
	x := &run{
		Runner: r, spec: spec, session: echo.NewSession(spec.sessionID()), schemas: &toolset.Schemas{}, texts: &texts.Cache{},
		result: &Result{SessionID: spec.sessionID(), CascadeID: spec.Cascade.CascadeID}, own: &ownRecord{new: slices.Clip(spec.Recording), fold: record.New()},
	}
	x.rec = &core.Recorder{
		Cascade: spec.Cascade.CascadeID, Rules: core.Ruleset(cmp.Or(spec.Rules, core.Rules)), Mask: cmp.Or[effect.Mask](r.Mask, effect.NoMask{}), Observer: &core.Watcher{To: r.Observer},
	}
	x.session.KeepsValues = x.rec.Rules.KeepsValues()
	x.rec.Recorder = x.newRecorder()
	for _, e := range spec.Recording {
		x.own.shelf.Add(e)
		x.own.notes.Add(e)
		x.own.memos.Add(e)
	}
	x.messages = lookup.NewMessages(x.session, r.Cards, r.Similarity, x.rec.Now)
	x.session.Carry(spec.State)
	if spec.Trial != nil {
		x.vars = spec.Trial.Vars()
	}
	x.Account = &core.Account{
		Ledger: budget.NewLedger(spec.BudgetInForce(), spec.Parent), Totals: &x.result.Totals, Background: spec.Background,
		Models: &core.Models{Rec: x.rec, Facts: r.Facts, Known: map[string]effect.ModelFacts{}}, Start: x.rec.Active(),
	}
	if spec.Detached {
		x.Ledger.Detach()
	}
	if !x.rec.Rules.CountsCopied() {
		x.Copied = core.CopiedOf(spec.Recording)
	}
	x.countRecorded()
	return x
}

// countRecorded counts in the ledger what the recording has, whatever branch comes to it first.
func (r *run) countRecorded() {
	r.Ledger.Taken(r.spec.Taken)
	aside := record.SetAside(r.spec.Recording)
	for _, seq := range r.setAside() {
		aside[seq] = true
	}
	for _, e := range r.spec.Recording {
		if !aside[e.Seq] && !e.Background() && !r.Copied.Has(e) {
			r.Ledger.Recorded(e)
		}
	}
}

func (r *run) newRecorder() *effect.Recorder {
	o := effect.Options{
		Log: r.spec.Log, Mask: r.rec.Mask, Seams: r.Seams, Effects: r.spec.Effects,
		Recording: r.spec.Recording, Redacted: r.spec.Redacted, SetAside: record.SetAside(r.spec.Recording),
	}
	aside := r.setAside()
	for _, seq := range aside {
		o.SetAside[seq] = true
	}
	if o.Effects == nil {
		o.Effects = effect.NewLive(r.Model, r.Tools, effect.Writer{Log: o.Log, Mask: o.Mask}, r.Seams.Now).Answers(r.Mailbox)
	}
	if len(o.Recording) > 0 {
		o.Resumed = func() *echo.Entry {
			resume := echo.Resume{Budget: r.limits(), SetAside: append([]uint64{}, aside...)}
			return r.rec.Entry(echo.RunKey().Step(echo.StepResume), resume)
		}
	}
	return effect.NewRecorder(o)
}

func (r *run) begin() error {
	return r.rec.Add(echo.RunKey().Step(echo.StepStart), echo.RunStart{
		Input: r.spec.Input, WorkDir: r.spec.WorkDir, Header: r.spec.Header, Budget: r.limits(),
	})
}

// limits returns what is recorded of the budget: also that there is none where the cascade has one.
func (r *run) limits() *echo.Budget {
	if r.Ledger.Limits() == (cascade.Budget{}) && r.spec.Cascade.Budget == nil {
		return nil
	}
	b := echo.Budget(r.Ledger.Limits())
	return &b
}

func (r *run) end(err error) error {
	res := r.result
	e := r.rec.End(echo.RunKey().Step(echo.StepEnd), echo.RunEnd{
		Status: res.Status, Reason: res.Reason, Calls: res.Calls, Unknown: res.UnknownCosts, Output: res.Output,
	}, res.Totals, res.DurationMS, err)
	if err := r.rec.Append(e); err != nil {
		return err
	}
	r.rec.Commit()
	return nil
}

// follow runs the phases in their order, and waits for the children that run beside them: also for
// those of a run that its budget stops, in which no call begins any more. Calls that were sent are
// paid for, and so they are to be answered and recorded. Nothing follows from them here: a run that
// resumes takes what its children have come to.
func (r *run) follow(ctx context.Context) error {
	var err error
	switch {
	case r.spec.Cascade.Soundings.Active():
		err = soundWhole(ctx, r)
	case r.spec.Cascade.IsGraph():
		err = r.graph(ctx)
	default:
		err = r.phases(ctx)
	}
	r.result.State = r.session.State
	if err == nil || core.Recoverable(err) {
		err = errors.Join(err, r.join(ctx))
	}
	if r.Children != nil && core.OverBudget(err) {
		r.Children.Settle(ctx)
	}
	return err
}

// maxVisits bounds how often one phase may begin in a run, so that routes that lead back end.
const maxVisits = 100

// phases runs one phase after the other until no phase follows.
func (r *run) phases(ctx context.Context) error {
	from, reason := "", "first phase"
	for p := &r.spec.Cascade.Phases[0]; p != nil; {
		if err := r.route(from, p.Name, reason); err != nil {
			return err
		}
		if n := r.session.Visits(p.Name); n >= maxVisits {
			site := effect.Site{Cascade: r.spec.Cascade.CascadeID, Phase: p.Name}
			return &core.PhaseError{Site: site, Reason: echo.StopVisitLimit, Err: fmt.Errorf("the phase was entered %d times, the limit of one run", n)}
		}
		next, why, err := r.phase(ctx, p)
		if err != nil {
			return err
		}
		from, p, reason = p.Name, next, why
	}
	return r.route(from, "", reason)
}

// route records which phase follows, under the visit that it follows.
func (r *run) route(from, to, reason string) error {
	return r.rec.Add(r.newest().Step(echo.StepRoute), echo.Route{From: from, To: to, Reason: reason})
}

// newest returns the key of the newest visit, and that of the run before there is one.
func (r *run) newest() echo.Key {
	if n := len(r.session.Phases); n > 0 {
		last := r.session.Phases[n-1]
		return echo.PhaseKey(last.Name, last.Visit)
	}
	return echo.RunKey()
}

// phase runs one phase and says what follows and why. A failure leads to on_error, unless the
// budget, the record or a person ended it.
func (r *run) phase(ctx context.Context, p *cascade.Phase) (*cascade.Phase, string, error) {
	out, err := r.visit(ctx, p)
	if err == nil {
		return r.next(p, out)
	}
	if !core.Recoverable(err) {
		return nil, "", err
	}
	if p.OnError == nil {
		if to := failedRoute(r.rec.Rules, p); to != "" {
			return find(r.spec.Cascade, to), fmt.Sprintf("routing: %q", routeError), nil
		}
		return nil, "", err
	}
	if p.OnError.Phase != "" {
		return find(r.spec.Cascade, p.OnError.Phase), "on_error", nil
	}
	inline := p.OnError.Inline
	if err := r.route(p.Name, inline.Name, "on_error"); err != nil {
		return nil, "", err
	}
	next, why, err := r.phase(ctx, inline)
	if err != nil || next != nil || len(inline.Handoffs) > 0 {
		return next, why, err
	}
	next, why = inOrder(r.spec.Cascade, p) // an inline phase stands in for the one that failed
	return next, why, nil
}
