package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// visit is one visit to a phase: the state that its attempts and turns share. It belongs to the run's goroutine.
type visit struct {
	*run
	phase    *cascade.Phase
	record   *echo.PhaseRecord
	key      echo.Key // of the visit
	result   PhaseResult
	tools    toolset
	repeats  repeats
	reads    reads
	model    string
	facts    effect.ModelFacts
	chosen   string // by route_to
	verdict  string // why the last answer was not accepted; templates see it as validation_error
	touched  bool   // a tool ran that may have changed something
	recorded bool   // it had begun when the run was resumed
	told     int    // the turn at which the model was informed that the run was resumed, 0: none
	attempt  int
	turn     int

	// What the phase's views are made with, see equip. A deterministic phase has none of it.
	settings autocontext.Settings
	room     room
	inter    cascade.Inter
	builder  *autocontext.Builder
	carry    echo.Carry
	render   *autocontext.Renderer
	answered time.Time                   // when the last answer of the phase came
	guarded  int                         // things that the guard did
	asks     map[autocontext.AskKind]int // how often the builder has asked
}

// visit runs a phase once and records how it ended.
func (r *run) visit(ctx context.Context, p *cascade.Phase) (outcome, error) {
	v := &visit{run: r, phase: p, record: r.session.Begin(p.Name), recorded: r.rec.Pending(trunk) != nil}
	v.key = echo.PhaseKey(v.record.Name, v.record.Visit)
	v.result = PhaseResult{Phase: p.Name, Visit: v.record.Visit, Status: echo.StatusRunning}
	start := r.active()
	out, err := v.perform(ctx)
	v.result.DurationMS = effect.Millis(r.active().Sub(start))
	return out, v.finish(ctx, out, err)
}

func (v *visit) perform(ctx context.Context) (outcome, error) {
	v.model = v.modelName()
	err := v.equip()
	e := payloadEntry(v.key.Step(echo.StepStart), v.place(), echo.PhaseStart{Visit: v.record.Visit, Context: v.contextData()})
	e.Model = v.model
	if err := v.append(e); err != nil {
		return outcome{}, err
	}
	var value any
	switch {
	case err != nil:
	case v.phase.Deterministic():
		value, err = v.deterministic(ctx)
	default:
		value, err = v.conversation(ctx)
		if closeErr := v.closeContext(err == nil); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
	}
	if err != nil {
		return outcome{}, v.located(err)
	}
	return outcome{value: value, chosen: v.chosen}, v.settleOutput(value)
}

// settleOutput makes a phase's output known to the rest of the run.
func (v *visit) settleOutput(value any) error {
	v.record.Output, v.record.Done = value, true
	v.session.Set(nil, "output_"+v.phase.Name, value)
	if len(v.phase.OutputSchema) > 0 {
		v.session.Set(nil, "validated_output", value)
	}
	return v.callouts()
}

// located puts the place of the phase around an error that has none yet.
func (v *visit) located(err error) error {
	var pe *PhaseError
	if errors.As(err, &pe) || effect.IsRecordError(err) {
		return err
	}
	var verdict *VerdictError
	reason := echo.StopError
	if errors.As(err, &verdict) {
		reason = echo.StopExhausted
	}
	return &PhaseError{Site: v.place(), Reason: reason, Err: err}
}

// finish records the end of the visit. The error is what ended it, or what made the record fail.
func (v *visit) finish(ctx context.Context, out outcome, err error) error {
	res := &v.result
	if err != nil {
		res.Status, res.Reason = classify(err)
		res.Error = v.mask.Text(err.Error())
	} else {
		res.Status, res.Output = echo.StatusCompleted, out.value
		v.run.result.Output = out.value
	}
	v.run.result.Phases = append(v.run.result.Phases, *res)
	if effect.IsRecordError(err) {
		return err
	}
	e := payloadEntry(v.key.Step(echo.StepEnd), effect.Site{Cascade: v.cascade.CascadeID, Phase: v.phase.Name}, echo.PhaseEnd{
		Status: res.Status, Reason: res.Reason, Attempts: res.Attempts, Turns: res.Turns,
		Calls: res.Calls, Unknown: res.UnknownCosts, Output: res.Output,
		Masked: res.MaskedResults, Recalls: res.Recalls, Rereads: res.Rereads,
	})
	e.Model = v.model
	fillEnd(e, res.Totals, res.DurationMS, err)
	if failed := v.handOff(ctx, e, err); failed != nil {
		return errors.Join(err, failed)
	}
	return errors.Join(err, v.append(e))
}

func (v *visit) modelName() string {
	if v.phase.Deterministic() {
		return ""
	}
	return cmp.Or(v.PhaseModels[v.phase.Name], v.phase.Model, v.DefaultModel)
}

// native reports whether tools are called through the provider's protocol in this phase.
func (v *visit) native() bool {
	if v.phase.UseNativeTools == nil && v.facts.NativeTools != nil {
		return *v.facts.NativeTools
	}
	return v.phase.NativeTools()
}

// place names where the visit is now.
func (v *visit) place() effect.Site {
	return effect.Site{
		Cascade: v.cascade.CascadeID, Phase: v.phase.Name, Visit: v.record.Visit, Attempt: v.attempt, Turn: v.turn,
	}
}

// here returns the key of the place where the visit is now.
func (v *visit) here() echo.Key {
	if v.attempt == 0 {
		return v.key
	}
	return v.key.Attempt(v.attempt).Turn(v.turn)
}

// at returns the key of something that is done where the visit is now.
func (v *visit) at(kind echo.StepKind) echo.Key { return v.here().Step(kind) }

// say adds a message of the engine's own to the history.
func (v *visit) say(kind echo.StepKind, m *echo.Message) error {
	key := v.at(kind)
	m = v.kept(key, m, true)
	v.enter(m, v.turn)
	return v.recordMessage(key, m)
}

// bring adds a message of another phase to the history, with the marks it has.
func (v *visit) bring(key echo.Key, it echo.Item) error {
	it.Attempt, it.Turn, it.Order = v.attempt, v.turn, 0
	it.Message = v.kept(key, it.Message, false)
	v.record.History = append(v.record.History, it)
	return v.recordMessage(key, it.Message)
}

func (v *visit) recordMessage(key echo.Key, m *echo.Message) error {
	return v.append(messageEntry(key, v.place(), m))
}
