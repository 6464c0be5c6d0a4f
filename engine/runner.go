package engine

import (
	"context"
	"encoding/json"
	"errors"
	"math"
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
	Mask         Mask              // of the secrets that are known; nil: none are

	Facts func(model string) ModelFacts // what is known of a model; nil: nothing is

	Cards     Cards   // nil: messages are selected on what can be said of them at once
	CardModel string  // what sums messages up for Cards; "": nothing does
	Meaning   Meaning // nil: nothing is selected by meaning

	// Workspace reads what is known of the files that runs work on, nil when that is nothing; nil: nothing is read. It is
	// asked for when a phase stops before its end, and when tools ran in it that may have changed something.
	Workspace func(ctx context.Context) *Workspace

	Now func() time.Time // nil: the system's clock
}

// Spec is one run.
type Spec struct {
	Cascade *cascade.Cascade
	Input   map[string]any
	Log     *echo.Log // the session's; the caller makes and closes it
	WorkDir string    // the session's own folder, which templates see as session.work_dir
	Name    string    // what templates see as session.id; "": the id of the log's session

	// Header is what the session was begun with. It is recorded with the beginning of the run, so that the session can be
	// had from its entries alone. May be nil.
	Header json.RawMessage

	// Past is what is recorded of the run already, in its order: it is answered from there as far as that goes, and then goes
	// on. The log holds these entries already. A run that does not follow them ends with a [*DivergenceError].
	Past []*echo.Entry
	// Replay keeps the run to its past: nothing is asked of the world and nothing is recorded. Where the past ends, the run
	// ends with [ErrEndOfRecord]. The log is not used and may be nil.
	Replay bool

	// Answers are recorded outcomes of effects that the run is answered from, by their keys and whatever it asks, in place of
	// the model and the tools: nothing is asked of the world. What happens is recorded in the log as in any run. A call that
	// has no answer ends the run with an [*UnansweredError]. nil: the world answers. Past is not used with it.
	Answers []*echo.Entry

	// Budget is what the run may take; nil: what was in force when it was last recorded, or else what the cascade says. The
	// zero value limits nothing.
	Budget *cascade.Budget

	// Beside returns what calls beside the run have taken since it was last asked, such as those for cards; nil: there are
	// none. The budget counts it, as far as the cost is known; the result does not.
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
	t.CostUSD = addCosts(t.CostUSD, *r.CostUSD)
}

// addCosts adds amounts. What is recorded is believed only in ranges that cannot overflow; older records may hold more, and
// a sum must stay a number that can be recorded.
func addCosts(a, b float64) float64 { return min(max(a+b, -math.MaxFloat64), math.MaxFloat64) }

// Plus returns the sum of both.
func (t Totals) Plus(u Totals) Totals {
	return Totals{
		Calls: t.Calls + u.Calls, Usage: t.Usage.Add(u.Usage), CostUSD: addCosts(t.CostUSD, u.CostUSD),
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
	err := run.begin()
	if err == nil {
		err = run.phases(ctx)
	}
	run.result.Status, run.result.Reason = classify(err)
	run.result.DurationMS = millis(run.active().Sub(run.start))
	if isRecordError(err) {
		return run.result, run.missing(err)
	}
	if end := run.end(err); end != nil {
		err = errors.Join(err, end)
		run.result.Status, run.result.Reason = StatusFailed, StopError
	} else if next := run.past.pending(); next != nil {
		return run.result, other(next, echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd))
	}
	return run.result, err
}

// missing is the error of a run that found something not recorded. When other things are still recorded, that was not the
// end of the record but another way.
func (r *run) missing(err error) error {
	var end *endError
	if next := r.past.pending(); next != nil && errors.As(err, &end) {
		return other(next, end.node, end.key)
	}
	return err
}

// isRecordError reports whether the record is why the run ended: it cannot be written, it says something else than what the
// run does, or it ends, or has no answer. Nothing more is recorded then.
func isRecordError(err error) bool {
	var re *RecordError
	var de *DivergenceError
	var ue *UnansweredError
	return errors.As(err, &re) || errors.As(err, &de) || errors.As(err, &ue) || errors.Is(err, ErrEndOfRecord)
}

// run is the state of one run. One goroutine, the one that called Run, owns all of it; only the calls of tools leave
// that goroutine, and they touch nothing but effects.
type run struct {
	*Runner
	spec    Spec
	cascade *cascade.Cascade
	session *echo.Session
	effects Effects
	past    *past // nil: everything is new
	result  *Result
	start   time.Time      // when it began, by the clock of active
	budget  cascade.Budget // in force; the zero value limits nothing
	answers answers        // so far, for estimates of the next call

	beside     Totals // what calls beside the run had taken when the budget was last checked
	besideTold bool   // that not all of it is known

	observer Observer
	mask     Mask
	clock    func() time.Time
	schemas  schemaCache
	texts    textCache
	index    *autocontext.Index    // what selections have read of the session's messages
	entered  []contextcards.Source // every message that entered the session, by its order less 1
	known    map[string]ModelFacts
	taken    []takenRoute // the way so far
	files    *Workspace   // the newest reading
	doubted  bool         // that figures of an endpoint were ignored has been said
	opened   bool         // a turn has begun after the end of the past
	aside    []uint64     // numbers of entries of the past that it goes on without
}

func newRun(r *Runner, spec Spec) *run {
	x := &run{
		Runner: r, spec: spec, cascade: spec.Cascade,
		session:  echo.NewSession(spec.sessionID()),
		result:   &Result{SessionID: spec.sessionID(), CascadeID: spec.Cascade.CascadeID},
		observer: r.Observer, mask: r.Mask, clock: r.Now,
		schemas: schemaCache{}, texts: textCache{}, index: autocontext.NewIndex(), known: map[string]ModelFacts{},
		budget: spec.BudgetInForce(), answers: newAnswers(),
	}
	if x.observer == nil {
		x.observer = noObserver{}
	}
	if x.clock == nil {
		x.clock = time.Now
	}
	if x.mask == nil {
		x.mask = noMask{}
	}
	live := &liveEffects{model: r.Model, tools: r.Tools, log: spec.Log, now: x.clock, mask: x.mask}
	x.effects = live
	if spec.Answers != nil {
		x.effects = newAnsweredEffects(spec.Log, spec.Answers)
	} else if len(spec.Past) > 0 || spec.Replay {
		x.past = newPast(spec.Past)
		x.observer = &presentObserver{x.past, x.observer}
		if spec.Replay {
			live = nil
		}
		x.effects = &recordedEffects{past: x.past, live: live, goOn: x.goOn, mask: x.mask}
	}
	x.start = x.active()
	return x
}

func (s *Spec) sessionID() string {
	if s.Log == nil {
		return s.Name
	}
	return s.Log.SessionID()
}

// now returns the time; in the part of the run that is recorded, when the last of it that was used was recorded.
func (r *run) now() time.Time {
	at, _ := r.time()
	return at
}

// active returns the time on a clock that stands still while nobody runs the session.
func (r *run) active() time.Time {
	at, away := r.time()
	return at.Add(-away)
}

func (r *run) time() (at time.Time, away time.Duration) {
	switch {
	case r.past == nil, len(r.past.entries) == 0 && !r.spec.Replay:
		return r.clock(), 0
	case r.spec.Replay:
		return r.past.clock()
	}
	if away, ok := r.past.resumed(); ok {
		return r.clock(), away
	}
	return r.past.clock()
}

func (r *run) site() Site { return Site{Cascade: r.cascade.CascadeID} }

// append records something that follows from what is recorded already.
func (r *run) append(e *echo.Entry) error {
	if r.past != nil {
		switch recorded, next := r.past.follow(e.NodeType, e.Key); {
		case recorded != nil:
			return sameButSecrets(r.mask, recorded, e)
		case next != nil:
			return other(next, e.NodeType, e.Key)
		case r.spec.Replay:
			return &endError{e.NodeType, e.Key}
		}
		if err := r.goOn(); err != nil {
			return err
		}
	}
	if err := r.spec.Log.Append(withoutSecrets(r.mask, e)); err != nil {
		return &RecordError{Err: err}
	}
	return nil
}

// warn records something that a person should know and that does not stop the run.
func (r *run) warn(key echo.Key, s Site, message string) error {
	e := siteEntry(echo.NodeWarning, key.Step(echo.StepWarning), s)
	e.Data = mustJSON(map[string]string{"message": message})
	return r.append(e)
}

func (r *run) begin() error {
	r.takeUp()
	e := siteEntry(echo.NodeRunStart, echo.RunKey().Step(echo.StepStart), r.site())
	e.Data = mustJSON(runStartData{Input: r.spec.Input, WorkDir: r.spec.WorkDir, Header: r.spec.Header, Budget: r.budgetInForce()})
	return r.append(e)
}

// runStartData is what only a run_start entry has.
type runStartData struct {
	Input   map[string]any  `json:"input"`
	WorkDir string          `json:"work_dir"`
	Header  json.RawMessage `json:"header,omitempty"` // of the session's journal
	Budget  *cascade.Budget `json:"budget,omitempty"` // in force; nil: there is none
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
	e := siteEntry(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd), r.site())
	res := r.result
	fillEnd(e, res.Totals, res.DurationMS, err)
	e.Data = mustJSON(endData{
		Status: res.Status, Reason: res.Reason, Calls: res.Calls, Unknown: res.UnknownCosts, Output: res.Output,
	})
	if err := r.append(e); err != nil {
		return err
	}
	if !r.spec.Replay {
		r.spec.Log.Commit()
	}
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
