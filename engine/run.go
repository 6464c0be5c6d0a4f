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
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
)

// Run runs a cascade to its end, which is in the log unless that failed. The result is never nil;
// the error is a [*PhaseError], a [*budget.Error], a [*effect.RecordError], or the end of ctx.
func (r *Runner) Run(ctx context.Context, spec Spec) (*Result, error) {
	run := newRun(r, spec)
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
		err = run.phases(ctx)
	}
	run.result.Status, run.result.Reason = classify(err)
	defer func() { run.result.Taken = run.rec.Taken() }()
	run.result.DurationMS = effect.Millis(run.rec.active().Sub(run.start))
	if effect.IsRecordError(err) {
		return run.result, run.rec.Missing(err)
	}
	if end := run.end(err); end != nil {
		err = errors.Join(err, end)
		run.result.Status, run.result.Reason = echo.StatusFailed, echo.StopError
	} else if left := run.rec.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd)); left != nil {
		return run.result, left
	}
	return run.result, err
}

// run is the state of one run, owned by the goroutine of Run; tool calls touch only the recorder.
type run struct {
	*Runner
	spec     Spec
	session  *echo.Session
	messages *lookup.Messages
	rec      *recorder
	own      *ownRecord
	*account
	schemas schemaCache
	texts   textCache
	files   []attachment
	result  *Result

	doubted bool // that figures of an endpoint were ignored was reported
	opened  bool // a turn has begun after the end of the recording
}

func newRun(r *Runner, spec Spec) *run {
	x := &run{
		Runner: r, spec: spec, session: echo.NewSession(spec.sessionID()), schemas: schemaCache{}, texts: textCache{},
		result: &Result{SessionID: spec.sessionID(), CascadeID: spec.Cascade.CascadeID}, own: &ownRecord{new: slices.Clip(spec.Recording), fold: record.New()},
	}
	x.rec = &recorder{
		cascade: spec.Cascade.CascadeID, rules: ruleset(cmp.Or(spec.Rules, Rules)), mask: cmp.Or[effect.Mask](r.Mask, effect.NoMask{}), observer: r.Observer,
	}
	x.rec.Recorder = x.newRecorder()
	x.messages = lookup.NewMessages(x.session, r.Cards, r.Similarity, x.rec.now)
	x.account = &account{
		ledger: budget.NewLedger(spec.BudgetInForce()), totals: &x.result.Totals, background: spec.Background,
		models: &models{rec: x.rec, facts: r.Facts, known: map[string]effect.ModelFacts{}}, start: x.rec.active(),
	}
	if !x.rec.rules.countsCopied() {
		x.copied = copiedOf(spec.Recording)
	}
	return x
}

func (r *run) newRecorder() *effect.Recorder {
	o := effect.Options{
		Log: r.spec.Log, Mask: r.rec.mask, Seams: r.Seams, Effects: r.spec.Effects,
		Recording: r.spec.Recording, Redacted: r.spec.Redacted, SetAside: record.SetAside(r.spec.Recording),
	}
	aside := r.setAside()
	for _, seq := range aside {
		o.SetAside[seq] = true
	}
	if o.Effects == nil {
		o.Effects = effect.NewLive(r.Model, r.Tools, effect.Writer{Log: o.Log, Mask: o.Mask}, r.Seams.Now)
	}
	if len(o.Recording) > 0 {
		o.Resumed = func() *echo.Entry {
			resume := echo.Resume{Budget: r.limits(), SetAside: append([]uint64{}, aside...)}
			return r.rec.entry(echo.RunKey().Step(echo.StepResume), resume)
		}
	}
	return effect.NewRecorder(o)
}

func (r *run) begin() error {
	return r.rec.add(echo.RunKey().Step(echo.StepStart), echo.RunStart{
		Input: r.spec.Input, WorkDir: r.spec.WorkDir, Header: r.spec.Header, Budget: r.limits(),
	})
}

// limits returns what is recorded of the budget: also that there is none where the cascade has one.
func (r *run) limits() *echo.Budget {
	if r.ledger.Unlimited() && r.spec.Cascade.Budget == nil {
		return nil
	}
	b := echo.Budget(r.ledger.Limits)
	return &b
}

func (r *run) end(err error) error {
	res := r.result
	e := r.rec.end(echo.RunKey().Step(echo.StepEnd), echo.RunEnd{
		Status: res.Status, Reason: res.Reason, Calls: res.Calls, Unknown: res.UnknownCosts, Output: res.Output,
	}, res.Totals, res.DurationMS, err)
	if err := r.rec.Append(e); err != nil {
		return err
	}
	r.rec.Commit()
	return nil
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
			return &PhaseError{Site: site, Reason: echo.StopVisitLimit, Err: fmt.Errorf("the phase was entered %d times, the limit of one run", n)}
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
	return r.rec.add(r.newest().Step(echo.StepRoute), echo.Route{From: from, To: to, Reason: reason})
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
		return r.follow(p, out)
	}
	if p.OnError == nil || !recoverable(err) {
		return nil, "", err
	}
	if p.OnError.Phase != "" {
		return r.find(p.OnError.Phase), "on_error", nil
	}
	inline := p.OnError.Inline
	if err := r.route(p.Name, inline.Name, "on_error"); err != nil {
		return nil, "", err
	}
	next, why, err := r.phase(ctx, inline)
	if err != nil || next != nil || len(inline.Handoffs) > 0 {
		return next, why, err
	}
	next, why = r.inOrder(p) // an inline phase stands in for the one that failed
	return next, why, nil
}
