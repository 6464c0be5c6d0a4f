package engine

import (
	"context"
	"errors"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// Runner runs cascades. It holds what all runs share and may run several at once.
type Runner struct {
	Model        Model
	Tools        Tools
	DefaultModel string            // for phases whose cascade names none
	PhaseModels  map[string]string // for single phases; outranks the file
	Env          map[string]string // what templates see as env
	Observer     Observer          // nil: nobody watches

	Facts func(model string) ModelFacts // what is known of a model; nil: nothing is

	Cards     Cards   // nil: messages are selected on what can be said of them at once
	CardModel string  // what sums messages up for Cards; "": nothing does
	Meaning   Meaning // nil: nothing is selected by meaning

	Now func() time.Time // nil: the system's clock
}

// Spec is one run.
type Spec struct {
	Cascade *cascade.Cascade
	Input   map[string]any
	Log     *echo.Log // the session's; the caller makes and closes it
	WorkDir string    // the session's own folder, which templates see as session.work_dir

	// Beside returns what calls beside the run have taken since it was last asked, such as those for cards; nil: there are
	// none. The cascade's budget counts it, as far as the cost is known; the result does not.
	Beside func() Totals
}

// Result is how a run ended.
type Result struct {
	SessionID string        `json:"session_id"`
	CascadeID string        `json:"cascade_id"`
	Status    Status        `json:"status"`
	Reason    StopReason    `json:"reason"`
	Output    any           `json:"output"` // of the last phase that ended well
	Phases    []PhaseResult `json:"phases"`
	Totals
	DurationMS float64 `json:"duration_ms"`
}

// PhaseResult is how one visit to a phase ended.
type PhaseResult struct {
	Phase    string     `json:"phase"`
	Visit    int        `json:"visit"`
	Status   Status     `json:"status"`
	Reason   StopReason `json:"reason"`
	Attempts int        `json:"attempts"`
	Turns    int        `json:"turns"` // of all attempts
	Totals
	ContextFigures
	DurationMS float64 `json:"duration_ms"`
	Output     any     `json:"output,omitempty"`
	Error      string  `json:"error,omitempty"`
}

// Totals adds up model calls.
type Totals struct {
	Calls        int        `json:"model_calls"`
	Usage        echo.Usage `json:"usage"`
	CostUSD      float64    `json:"cost_usd"`      // of the calls whose cost is known
	UnknownCosts int        `json:"unknown_costs"` // calls whose cost is not known: the sum is too low when this is not 0
	Scripted     bool       `json:"scripted,omitempty"`
}

// Cost returns the sum, or nil when the cost of a call is unknown.
func (t Totals) Cost() *float64 {
	if t.UnknownCosts > 0 {
		return nil
	}
	c := t.CostUSD
	return &c
}

// Count adds a call that has ended. One that failed counts only when it may have cost something: then its cost is unknown.
func (t *Totals) Count(r *ModelResponse, err error) {
	if err != nil {
		t.addFailure(err)
		return
	}
	t.Calls++
	t.Usage = t.Usage.Add(r.Usage)
	t.Scripted = t.Scripted || r.Scripted
	if r.CostUSD == nil {
		t.UnknownCosts++
		return
	}
	t.CostUSD += *r.CostUSD
}

// Plus returns the sum of both.
func (t Totals) Plus(u Totals) Totals {
	return Totals{
		Calls: t.Calls + u.Calls, Usage: t.Usage.Add(u.Usage), CostUSD: t.CostUSD + u.CostUSD,
		UnknownCosts: t.UnknownCosts + u.UnknownCosts, Scripted: t.Scripted || u.Scripted,
	}
}

// addFailure counts a failed call whose cost is unknown. One that cost nothing, or has no outcome, changes nothing.
func (t *Totals) addFailure(err error) {
	var me *ModelError
	if errors.As(err, &me) && !me.Unpaid {
		t.UnknownCosts++
	}
}

// Run runs a cascade to its end. The result is never nil; the error says why the run did not complete: a [*PhaseError]
// around its cause, a [*BudgetError], a [*RecordError], or the end of ctx. Whatever happened, the end of the run is in
// the log, unless the log itself failed.
func (r *Runner) Run(ctx context.Context, spec Spec) (*Result, error) {
	run := newRun(r, spec)
	start := run.now()
	err := run.begin()
	if err == nil {
		err = run.phases(ctx)
	}
	run.result.Status, run.result.Reason = classify(err)
	run.result.DurationMS = millis(run.now().Sub(start))
	if end := run.end(err); end != nil && !isRecordError(err) {
		err = errors.Join(err, end)
		run.result.Status, run.result.Reason = StatusFailed, StopError
	}
	return run.result, err
}

func isRecordError(err error) bool {
	var re *RecordError
	return errors.As(err, &re)
}

// run is the state of one run. One goroutine, the one that called Run, owns all of it; only the calls of tools leave
// that goroutine, and they touch nothing but effects.
type run struct {
	*Runner
	spec     Spec
	cascade  *cascade.Cascade
	session  *echo.Session
	effects  Effects
	result   *Result
	start    time.Time // for budgets of time
	beside   Totals    // what calls beside the run had taken when the budget was last checked
	observer Observer
	now      func() time.Time
	schemas  schemaCache
	texts    textCache
	index    *autocontext.Index    // what selections have read of the session's messages
	entered  []contextcards.Source // every message that entered the session, by its order less 1
}

func newRun(r *Runner, spec Spec) *run {
	x := &run{
		Runner: r, spec: spec, cascade: spec.Cascade,
		session:  echo.NewSession(spec.Log.SessionID()),
		result:   &Result{SessionID: spec.Log.SessionID(), CascadeID: spec.Cascade.CascadeID},
		observer: r.Observer, now: r.Now,
		schemas: schemaCache{}, texts: textCache{}, index: autocontext.NewIndex(),
	}
	if x.observer == nil {
		x.observer = noObserver{}
	}
	if x.now == nil {
		x.now = time.Now
	}
	x.start = x.now()
	x.effects = &liveEffects{model: r.Model, tools: r.Tools, log: spec.Log, now: x.now}
	return x
}

func (r *run) site() Site { return Site{Cascade: r.cascade.CascadeID} }

// append records something that follows from what is recorded already.
func (r *run) append(e *echo.Entry) error {
	if err := r.spec.Log.Append(e); err != nil {
		return &RecordError{Err: err}
	}
	return nil
}

// warn records something that a person should know and that does not stop the run.
func (r *run) warn(key string, s Site, message string) error {
	e := siteEntry(echo.NodeWarning, key+"/warning", s)
	e.Data = mustJSON(map[string]string{"message": message})
	return r.append(e)
}

func (r *run) begin() error {
	e := siteEntry(echo.NodeRunStart, "run/start", r.site())
	e.Data = mustJSON(map[string]any{"input": r.spec.Input, "work_dir": r.spec.WorkDir})
	return r.append(e)
}

// runEndData is what only run_end and phase_end entries have.
type endData struct {
	Status   Status     `json:"status"`
	Reason   StopReason `json:"reason"`
	Attempts int        `json:"attempts,omitempty"`
	Turns    int        `json:"turns,omitempty"`
	Calls    int        `json:"model_calls"`
	Unknown  int        `json:"unknown_costs,omitempty"`
	Masked   int        `json:"masked_results,omitempty"`
	Recalls  int        `json:"recalls,omitempty"`
	Rereads  int        `json:"rereads,omitempty"`
	Output   any        `json:"output,omitempty"`
}

func (r *run) end(err error) error {
	e := siteEntry(echo.NodeRunEnd, "run/end", r.site())
	res := r.result
	fillEnd(e, res.Totals, res.DurationMS, err)
	e.Data = mustJSON(endData{
		Status: res.Status, Reason: res.Reason, Calls: res.Calls, Unknown: res.UnknownCosts, Output: res.Output,
	})
	if err := r.append(e); err != nil {
		return err
	}
	r.spec.Log.Commit()
	return nil
}

func fillEnd(e *echo.Entry, t Totals, ms float64, err error) {
	usage := t.Usage
	e.Usage, e.DurationMS, e.Scripted = &usage, ms, t.Scripted
	e.CostUSD = t.Cost()
	if err != nil {
		_, reason := classify(err)
		e.Error = &echo.Failure{Kind: string(reason), Message: err.Error()}
	}
}
