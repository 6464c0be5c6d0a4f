package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// Runner runs cascades. It holds what all runs share and may run several at once.
type Runner struct {
	Model        effect.Model      // not used where Spec.Effects are given
	Tools        effect.Tools      // their specifications are asked for in any case
	DefaultModel string            // for phases whose cascade names none
	PhaseModels  map[string]string // for single phases; outranks the file
	Env          map[string]string // what templates see as env
	Observer     Observer          // nil: nobody watches
	Mask         effect.Mask       // of the secrets that are known; nil: none are

	Facts func(model string) effect.ModelFacts // what is known of a model; nil: nothing is

	Cards      Cards      // nil: messages are selected on what can be said of them at once
	CardModel  string     // what sums messages up for Cards; "": nothing does
	Similarity Similarity // nil: nothing is selected by it

	// Workspace reads what is known of the files that runs work on, nil when that is nothing; nil: nothing is read. It is
	// asked for when a phase stops before its end, and when tools ran in it that may have changed something.
	Workspace func(ctx context.Context) *echo.Workspace

	Seams effect.Seams // the zero value: those of an ordinary process
}

// Spec is one run.
type Spec struct {
	Cascade *cascade.Cascade
	Input   map[string]any
	// Log is the session's; the caller makes and closes it. nil: the run is a replay of its recording. Nothing is asked of the
	// world and nothing is recorded, and where the recording ends, the run ends with [effect.ErrEndOfRecord].
	Log     *echo.Log
	WorkDir string // the session's own folder, which templates see as session.work_dir
	Name    string // what templates see as session.id; "": the id of the log's session

	// Header is what the session was begun with. It is recorded with the beginning of the run, so that the session can be
	// had from its entries alone. May be nil.
	Header json.RawMessage

	// Recording is what is recorded of the run already, in its order: it is answered from there as far as that goes, and then
	// goes on. The log holds these entries already. A run that does not follow them ends with an [*effect.DivergenceError].
	Recording []*echo.Entry

	// Effects perform what is not recorded, and record it in the log; nil: the runner's model and tools are asked.
	Effects effect.Effects

	// Budget is what the run may take; nil: what was in force when it was last recorded, or else what the cascade says. The
	// zero value limits nothing.
	Budget *cascade.Budget

	// Background returns what background calls, such as those for cards, have used since it was last asked; nil: there are
	// none. The budget counts it, as far as the cost is known; the result does not.
	Background func() effect.Totals
}

// Result is how a run ended.
type Result struct {
	SessionID string          `json:"session_id"`
	CascadeID string          `json:"cascade_id"`
	Status    echo.Status     `json:"status"`
	Reason    echo.StopReason `json:"reason"`
	Output    any             `json:"output"` // of the last phase that ended well
	Phases    []PhaseResult   `json:"phases"`
	effect.Totals
	DurationMS float64 `json:"duration_ms"`
}

// PhaseResult is how one visit to a phase ended.
type PhaseResult struct {
	Phase    string          `json:"phase"`
	Visit    int             `json:"visit"`
	Status   echo.Status     `json:"status"`
	Reason   echo.StopReason `json:"reason"`
	Attempts int             `json:"attempts"`
	Turns    int             `json:"turns"` // of all attempts
	effect.Totals
	ContextFigures
	DurationMS float64 `json:"duration_ms"`
	Output     any     `json:"output,omitempty"`
	Error      string  `json:"error,omitempty"`
}

// Run runs a cascade to its end. The result is never nil; the error says why the run did not complete: a [*PhaseError]
// around its cause, a [*BudgetError], a [*effect.RecordError], or the end of ctx. Whatever happened, the end of the run is in
// the log, unless the log itself failed.
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
		err = run.phases(ctx)
	}
	run.result.Status, run.result.Reason = classify(err)
	run.result.DurationMS = effect.Millis(run.active().Sub(run.start))
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

// trunk is the branch of the run itself.
var trunk echo.Key

// run is the state of one run. One goroutine, the one that called Run, owns all of it; only the calls of tools leave
// that goroutine, and they touch nothing but the recorder.
type run struct {
	*Runner
	spec    Spec
	cascade *cascade.Cascade
	session *echo.Session
	rec     *effect.Recorder
	own     *ownRecord
	result  *Result
	start   time.Time      // when it began, by the clock of active
	budget  cascade.Budget // in force; the zero value limits nothing
	answers answers        // so far, for estimates of the next call

	background       effect.Totals // what background calls had used when the budget was last checked
	backgroundWarned bool          // that not all of it is known

	observer Observer
	mask     effect.Mask
	schemas  schemaCache
	texts    textCache
	index    *autocontext.Index    // what selections have read of the session's messages
	entered  []contextcards.Source // every message that entered the session, by its order less 1
	known    map[string]effect.ModelFacts
	doubted  bool     // that figures of an endpoint were ignored has been said
	opened   bool     // a turn has begun after the end of the past
	aside    []uint64 // numbers of entries of the recording that it goes on without
}

func newRun(r *Runner, spec Spec) *run {
	x := &run{
		Runner: r, spec: spec, cascade: spec.Cascade,
		session:  echo.NewSession(spec.sessionID()),
		result:   &Result{SessionID: spec.sessionID(), CascadeID: spec.Cascade.CascadeID},
		observer: r.Observer, mask: r.Mask,
		schemas: schemaCache{}, texts: textCache{}, index: autocontext.NewIndex(), known: map[string]effect.ModelFacts{},
		budget: spec.BudgetInForce(), answers: newAnswers(), own: newOwnRecord(spec.Recording),
	}
	if x.observer == nil {
		x.observer = noObserver{}
	}
	if x.mask == nil {
		x.mask = effect.NoMask{}
	}
	x.aside = x.setAside()
	x.rec = x.newRecorder()
	if len(spec.Recording) > 0 {
		x.observer = &presentObserver{x.rec, x.observer}
	}
	x.start = x.active()
	return x
}

func (r *run) newRecorder() *effect.Recorder {
	o := effect.Options{
		Log: r.spec.Log, Mask: r.mask, Seams: r.Seams, Effects: r.spec.Effects,
		Recording: r.spec.Recording, SetAside: record.SetAside(r.spec.Recording),
	}
	for _, seq := range r.aside {
		o.SetAside[seq] = true
	}
	if o.Effects == nil {
		o.Effects = effect.NewLive(r.Model, r.Tools, effect.Writer{Log: o.Log, Mask: o.Mask}, r.Seams.Now)
	}
	if len(o.Recording) > 0 {
		o.Resumed = r.resumed
	}
	return effect.NewRecorder(o)
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

func (r *run) time() (at time.Time, away time.Duration) { return r.rec.Time(trunk) }

func (r *run) site() effect.Site { return effect.Site{Cascade: r.cascade.CascadeID} }

// append records something that follows from what is recorded already.
func (r *run) append(e *echo.Entry) error { return r.rec.Append(e) }

// warn records something that a person should know and that does not stop the run.
func (r *run) warn(key echo.Key, s effect.Site, message string) error {
	return r.append(payloadEntry(key.Step(echo.StepWarning), s, echo.Warning{Message: message}))
}

func (r *run) begin() error {
	start := echo.RunStart{Input: r.spec.Input, WorkDir: r.spec.WorkDir, Header: r.spec.Header, Budget: r.budgetInForce()}
	return r.append(payloadEntry(echo.RunKey().Step(echo.StepStart), r.site(), start))
}

func (r *run) end(err error) error {
	res := r.result
	e := payloadEntry(echo.RunKey().Step(echo.StepEnd), r.site(), echo.RunEnd{
		Status: res.Status, Reason: res.Reason, Calls: res.Calls, Unknown: res.UnknownCosts, Output: res.Output,
	})
	fillEnd(e, res.Totals, res.DurationMS, err)
	if err := r.append(e); err != nil {
		return err
	}
	r.rec.Commit()
	return nil
}

func fillEnd(e *echo.Entry, t effect.Totals, ms float64, err error) {
	usage := t.Usage
	e.Usage, e.DurationMS, e.Scripted = &usage, ms, t.Scripted
	e.CostUSD = t.Cost()
	if err != nil {
		_, reason := classify(err)
		e.Error = &echo.Failure{Kind: string(reason), Message: err.Error()}
	}
}
