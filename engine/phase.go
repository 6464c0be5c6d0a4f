package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/phasecontext"
)

// visit is what the attempts and turns of one visit to a phase share.
type visit struct {
	*place
	run       *run
	result    PhaseResult
	templates *templates
	calls     *calls
	checks    *checks
	tools     *toolCalls
	views     *views // nil in a phase without a model

	corrects bool // the next turn corrects an answer that loop_until has rejected

	resumes bool // it had begun when the run was resumed
	told    int  // the turn at which the model was told of that; 0: none
}

// visit runs a phase once and records how it ended.
func (r *run) visit(ctx context.Context, p *cascade.Phase) (outcome, error) {
	v := r.newVisit(p)
	start := r.rec.active()
	out, err := v.perform(ctx)
	v.result.DurationMS = effect.Millis(r.rec.active().Sub(start))
	return out, v.finish(ctx, out, err)
}

func (r *run) newVisit(p *cascade.Phase) *visit {
	record := r.session.Begin(p.Name)
	if !p.Deterministic() {
		record.Model = cmp.Or(r.PhaseModels[p.Name], p.Model, r.DefaultModel)
	}
	at := &place{
		Site:  effect.Site{Cascade: r.spec.Cascade.CascadeID, Phase: p.Name, Visit: record.Visit},
		visit: echo.PhaseKey(record.Name, record.Visit), rec: r.rec, phase: p, record: record,
	}
	v := &visit{place: at, run: r, resumes: r.rec.replaying()}
	v.result = PhaseResult{Phase: p.Name, Visit: record.Visit, Status: echo.StatusRunning}
	v.calls = &calls{account: r.account, place: at, visited: &v.result.Totals}
	v.templates = &templates{textCache: r.texts, place: at, session: r.session, spec: &r.spec, env: r.Env}
	v.checks = &checks{
		place: at, calls: v.calls, templates: v.templates, cascade: r.spec.Cascade, session: r.session.ID, tools: r.Tools, schemas: r.schemas,
	}
	v.tools = &toolCalls{ownTools: ownTools{place: at, messages: r.messages}, set: &toolset{}, schemas: r.schemas, repeats: repeats{}}
	return v
}

func (v *visit) perform(ctx context.Context) (outcome, error) {
	var start *echo.PhaseContext
	var err error
	if !v.phase.Deterministic() {
		start, err = v.equip(ctx)
	}
	e := v.rec.entry(v.visit.Step(echo.StepStart), echo.PhaseStart{Visit: v.record.Visit, Context: start})
	e.Model = v.record.Model
	if err := v.rec.Append(e); err != nil {
		return outcome{}, err
	}
	var value any
	switch {
	case err != nil:
	case v.phase.Deterministic():
		value, err = v.runTool(ctx)
	default:
		value, err = v.converse(ctx)
		if failed := v.views.close(err == nil); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		return outcome{}, v.located(err)
	}
	return outcome{value: value, chosen: v.tools.chosen}, v.settleOutput(value)
}

// equip gives a phase with a model its tools and views. It returns what is recorded of them.
func (v *visit) equip(ctx context.Context) (*echo.PhaseContext, error) {
	facts, err := v.run.models.of(ctx, v.record.Model)
	if err != nil {
		return nil, err
	}
	native := v.phase.NativeTools()
	if v.phase.UseNativeTools == nil && facts.NativeTools != nil {
		native = *facts.NativeTools
	}
	v.record.Prompted = !native
	v.views = newViews(&v.run.spec, facts, v.calls, &v.result.ContextFigures)
	v.views.fallbacks = fallbackModels(v.run.spec.Cascade, v.phase, v.record.Model, &facts)
	v.tools.views, v.tools.recalled = v.views, v.views.recalled
	set, err := toolsOf(v.phase, v.run.Tools)
	if err == nil {
		v.tools.set = &set
		err = v.views.declare(&set, facts)
	}
	return v.views.data(facts), err
}

// converse makes attempts until an answer passes every check, and returns it. The first empty
// answer is followed by another attempt in any case, the second by none.
func (v *visit) converse(ctx context.Context) (any, error) {
	if err := newOpening(v).write(ctx); err != nil {
		return nil, err
	}
	limit, empty := v.phase.MaxAttempts(), false
	for v.Attempt = 1; ; v.Attempt++ {
		v.Turn = 0
		v.result.Attempts = v.Attempt
		if v.Attempt > 1 {
			if err := v.askAgain(); err != nil {
				return nil, err
			}
		}
		value, check, ans, err := v.judged(ctx)
		if err != nil || check == "" {
			return value, err
		}
		switch {
		case check == checkEmpty && empty:
			return nil, &EmptyAnswerError{Why: ans.empty}
		case check == checkEmpty:
			empty, limit = true, max(limit, v.Attempt+1)
		case v.Attempt >= limit:
			return nil, &VerdictError{Check: check, Attempts: limit, Reason: v.rec.rules.ending(check, v.templates.rejected)}
		}
	}
}

// judged makes one attempt and returns its value, or the check that its answer did not pass. An answer
// that loop_until rejects is corrected as long as there are turns that the file gives.
func (v *visit) judged(ctx context.Context) (value any, check string, ans answer, err error) {
	for {
		if ans, err = v.attempt(ctx); err != nil {
			return nil, "", ans, err
		}
		if value, check, err = v.checks.judge(ctx, ans); err != nil {
			return nil, "", ans, err
		}
		if check == "" {
			v.result.Reason = ans.reason
			return value, "", ans, nil
		}
		v.corrects = check == loopUntilCheck+v.phase.Rules.LoopUntil && v.rec.rules.correctsInAttempt(&v.phase.Rules, v.Turn)
		if !v.corrects {
			return nil, check, ans, nil
		}
	}
}

// askAgain opens an attempt after one that did not pass.
func (v *visit) askAgain() error {
	text, err := v.templates.correction()
	if err != nil {
		return err
	}
	return v.say(echo.StepRetry, echo.NewText(echo.RoleUser, echo.KindRetry, text))
}

// say adds a message of the engine's own to the history.
func (v *visit) say(kind echo.StepKind, m *echo.Message) error {
	key := v.at(kind)
	m = v.rec.kept(key, m, true)
	v.enter(m)
	return v.rec.message(key, m)
}

// enter adds a message to the history. What its model reasoned is for the requests of the visit only.
func (v *visit) enter(m *echo.Message) {
	v.run.messages.Enter(v.record, echo.WithThought(m, nil), v.Attempt, v.Turn)
	if h := v.record.History; len(echo.Thought(m)) > 0 {
		h[len(h)-1].Message = m
	}
}

// settleOutput makes a phase's output known to the rest of the run.
func (v *visit) settleOutput(value any) error {
	v.record.Output, v.record.Done = value, true
	v.run.session.Set(nil, cascade.StateOutputPrefix+v.phase.Name, value)
	if len(v.phase.OutputSchema) > 0 {
		v.run.session.Set(nil, cascade.StateValidatedOutput, value)
	}
	return v.callouts()
}

// callouts marks the output, or messages, of a phase that has ended well as important.
func (v *visit) callouts() error {
	c := v.phase.Callouts
	if c == nil {
		return nil
	}
	if last := phasecontext.LastAnswer(v.record.History); c.Output != "" && last != nil {
		if err := v.callout("output", c.Output, last.Message); err != nil {
			return err
		}
	}
	if c.Messages == "" {
		return nil
	}
	for i, it := range phasecontext.Pick(v.record.History, c.MessagesFilter) {
		if err := v.callout(fmt.Sprintf("message%d", i+1), c.Messages, it.Message); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) callout(what, nameTemplate string, m *echo.Message) error {
	name, err := v.templates.text("callouts", nameTemplate)
	if err != nil {
		return err
	}
	v.run.session.Callouts = append(v.run.session.Callouts, echo.Callout{Name: name, Phase: v.phase.Name, Hash: m.Hash()})
	v.run.messages.MarkCallout(v.record, m.Hash(), name)
	e := v.rec.entry(v.visit.Named(echo.StepCallout, what), echo.CalloutMark{Name: name})
	e.ContentHash = m.Hash()
	return v.rec.Append(e)
}

// located puts the place of the phase around an error that has none yet.
func (v *visit) located(err error) error {
	var pe *PhaseError
	if errors.As(err, &pe) || effect.IsRecordError(err) {
		return err
	}
	reason := echo.StopError
	switch {
	case errors.As(err, new(*VerdictError)):
		reason = echo.StopExhausted
	case errors.As(err, new(*EmptyAnswerError)):
		reason = echo.StopEmptyAnswer
	}
	return &PhaseError{Site: v.Site, Reason: reason, Err: err}
}

// finish records the end of the visit and returns what ended it or made the record fail.
func (v *visit) finish(ctx context.Context, out outcome, err error) error {
	v.record.ForgetThoughts()
	res := &v.result
	if err != nil {
		res.Status, res.Reason = classify(err)
		res.Error = v.rec.mask.Text(err.Error())
	} else {
		res.Status, res.Output = echo.StatusCompleted, out.value
		v.run.result.Output = out.value
	}
	v.run.result.Phases = append(v.run.result.Phases, *res)
	if effect.IsRecordError(err) {
		return err
	}
	e := v.rec.end(v.visit.Step(echo.StepEnd), echo.PhaseEnd{
		Status: res.Status, Reason: res.Reason, Attempts: res.Attempts, Turns: res.Turns,
		Calls: res.Calls, Unknown: res.UnknownCosts, Output: res.Output,
		Masked: res.MaskedResults, Recalls: res.Recalls, Rereads: res.Rereads,
	}, res.Totals, res.DurationMS, err)
	e.Model = v.record.Model
	failed := v.handOff(ctx, e, err)
	if failed == nil {
		failed = v.rec.Append(e)
	}
	return errors.Join(err, failed)
}
