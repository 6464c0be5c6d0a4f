package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/checks"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/inquiry"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/engine/recollection"
	"github.com/windlass-run/windlass/engine/sounding"
	"github.com/windlass-run/windlass/engine/texts"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/views"
)

// visit is what the attempts and turns of one visit to a phase share.
type visit struct {
	*core.Place
	run       *run
	scope     scope
	result    PhaseResult
	templates *texts.Templates
	calls     *core.Calls
	checks    *checks.Checks
	wards     *wards
	tools     *toolCalls
	asks      *inquiry.Asker
	views     *views.Views // nil in a phase without a model

	try     *sounding.Candidate // that it is; nil: it is none
	resumes bool                // it had begun when the run was resumed
	marked  bool                // its callouts are made: a candidate has made them
}

// scope is which part of a phase a visit runs, and where.
type scope int

const (
	scopePhase   scope = iota // all of it, in the trunk
	scopeNode                 // all of it, in a branch of a graph
	scopeElement              // for one element of its list, in a branch
	scopeTry                  // one of several tries, in a branch
)

// isPart reports whether a visit has another one of the same phase around it.
func (s scope) isPart() bool { return s == scopeElement || s == scopeTry }

// visitAt is where a visit is in the run.
type visitAt struct {
	scope scope
	key   echo.Key
	visit int // from 1: how often the phase has begun
	item  int // of a list, from 1; 0: none
	try   *sounding.Candidate
}

// visit runs a phase once and records how it ended.
func (r *run) visit(ctx context.Context, p *cascade.Phase) (outcome, error) {
	n := r.session.Visits(p.Name) + 1
	return r.newVisit(p, visitAt{key: echo.PhaseKey(p.Name, n), visit: n}).do(ctx)
}

func (v *visit) do(ctx context.Context) (outcome, error) {
	start := v.Rec.Active()
	out, err := v.perform(ctx)
	if err == nil {
		err = v.located(remember(ctx, v))
	}
	v.result.DurationMS = effect.Millis(v.Rec.Active().Sub(start))
	return out, v.finish(ctx, out, err)
}

// remember has the bank of the phase remember what was said in a visit, but not in one of several tries.
func remember(ctx context.Context, v *visit) error {
	if v.scope == scopeTry || v.run.spec.Trial != nil || v.Def.ForEach != nil && v.scope != scopeElement {
		return nil
	}
	w := &recollection.Visit{
		Place: v.Place, Cascade: v.run.spec.Cascade, Banks: v.run.Banks, Session: v.run.session.ID, History: v.run.session.Present(v.Record), Passed: v.result.Reason != echo.StopExhausted,
	}
	if newOpening(v).includesInput() || v.templates.Uses(v.Def.Instructions, "input") {
		w.Input = v.run.spec.Input
	}
	return recollection.Keep(ctx, w)
}

func (r *run) newVisit(p *cascade.Phase, where visitAt) *visit {
	record := r.session.BeginVisit(p.Name, where.visit)
	record.Element = where.item
	model := modelFor(r, p, where.try)
	if !p.Deterministic() {
		record.Model = model
	}
	at := &core.Place{
		Site: effect.Site{Cascade: r.spec.Cascade.CascadeID, Phase: p.Name, Visit: record.Visit, Item: where.item, Try: where.try.Site()},
		Key:  where.key, Rec: r.rec, Def: p, Record: record, Session: r.session,
	}
	v := visitOf(r, at, model)
	v.scope, v.try = where.scope, where.try
	return v
}

// visitOf returns a visit that begins at a place.
func visitOf(r *run, at *core.Place, model string) *visit {
	v := &visit{Place: at, run: r, resumes: r.rec.Replaying()}
	v.result = PhaseResult{Key: at.Key, Phase: at.Def.Name, Visit: at.Record.Visit, Status: echo.StatusRunning}
	v.calls = &core.Calls{Account: r.Account, Place: at, Visited: &v.result.Totals}
	v.templates = &texts.Templates{
		Cache: r.texts, Place: at, Session: r.session, Env: r.Env, Branch: r.vars,
		Run: texts.Run{Input: r.spec.Input, WorkDir: r.spec.WorkDir, Name: r.spec.Name, Turns: r.spec.Cascade.MaxTurns(at.Def)},
	}
	v.checks = &checks.Checks{Schemas: r.schemas, Validators: &checks.Validators{
		Place: at, Calls: v.calls, Templates: v.templates, Cascade: r.spec.Cascade, Session: r.session.ID, Tools: r.Tools, Children: v.childrenHere(), Model: model,
	}}
	v.wards = &wards{v: v, retried: map[int]int{}}
	v.tools = &toolCalls{ownTools: ownTools{Place: at, messages: r.messages}, set: &toolset.Toolset{}, schemas: r.schemas, repeats: toolset.Repeats{}, children: v.childrenHere(), desk: deskOf(r, at)}
	v.asks = &inquiry.Asker{Place: at, Templates: v.templates, SetState: v.tools.setState, Say: v.say}
	return v
}

func (v *visit) perform(ctx context.Context) (outcome, error) {
	var start *echo.PhaseContext
	var err error
	if !v.Def.Deterministic() {
		start, err = v.equip(ctx)
	}
	if err := v.begin(start); err != nil {
		return outcome{}, err
	}
	if err != nil {
		return outcome{}, v.located(err)
	}
	value, err := v.produce(ctx)
	if err != nil {
		return outcome{}, v.located(err)
	}
	if err := screen(ctx, v, value); err != nil {
		return outcome{}, v.located(err)
	}
	if err := v.settleOutput(value); err != nil {
		return outcome{}, err
	}
	if !v.scope.isPart() {
		err = v.asks.Input(ctx)
	}
	return outcome{value: value, chosen: v.tools.chosen, decided: v.asks.Route}, v.located(err)
}

// begin records that the phase begins; the elements of a list do so together, and so do several tries.
func (v *visit) begin(settings *echo.PhaseContext) error {
	switch v.scope { //nolint:exhaustive // the others begin with an entry of their own
	case scopeElement:
		return nil
	case scopeTry:
		return beginTry(v, settings)
	}
	e := v.Rec.Entry(v.mark(echo.StepStart, echo.StepBegin), echo.PhaseStart{Visit: v.Record.Visit, Context: settings})
	e.Model = v.Record.Model
	return v.Rec.Append(e)
}

// mark returns the key of the beginning or the end of the visit: the branches of a run have marks of
// their own.
func (v *visit) mark(inTrunk, inBranch echo.StepKind) echo.Key {
	if v.scope == scopePhase {
		return v.Key.Step(inTrunk)
	}
	return v.Key.Step(inBranch)
}

// produce makes the output of the phase.
func (v *visit) produce(ctx context.Context) (any, error) {
	switch {
	case v.Def.ForEach != nil && !v.scope.isPart():
		return v.each(ctx)
	case v.Def.Soundings.Active():
		return sound(ctx, v)
	}
	if err := v.runSubs(ctx); err != nil {
		return nil, err
	}
	if err := v.beginAsync(cascade.TriggerOnStart); err != nil {
		return nil, err
	}
	value, err := v.work(ctx)
	if err != nil {
		return nil, err
	}
	v.templates.Own = map[string]any{v.Def.Name: value}
	return value, v.beginAsync(cascade.TriggerOnEnd)
}

// work is the phase's own: a tool, or a conversation with a model.
func (v *visit) work(ctx context.Context) (any, error) {
	if v.Def.Deterministic() {
		return toolPhase{v}.runTool(ctx)
	}
	value, err := (&conversation{visit: v, stands: standsOf(v)}).converse(ctx)
	if failed := v.views.Close(err == nil); failed != nil {
		err = errors.Join(err, failed)
	}
	return value, err
}

// equip gives a phase with a model its tools and views. It returns what is recorded of them.
func (v *visit) equip(ctx context.Context) (*echo.PhaseContext, error) {
	facts, err := v.run.Models.Of(ctx, v.Record.Model)
	if err != nil {
		return nil, err
	}
	native := v.Def.NativeTools()
	if v.Def.UseNativeTools == nil && facts.NativeTools != nil {
		native = *facts.NativeTools
	}
	v.Record.Prompted = !native
	v.views = views.NewViews(views.Asked{Cascade: v.run.spec.Cascade, Off: v.run.spec.Off}, facts, v.calls, &v.result.ContextFigures)
	v.views.Fallbacks = views.FallbackModels(v.run.spec.Cascade, v.Def, v.Record.Model, &facts)
	v.tools.views, v.tools.recalled = v.views, v.views.Recalled
	set, err := toolset.ToolsOf(v.Def, v.run.spec.Cascade, v.run.Tools, toolset.Told{Images: v.Rec.Rules.AsksWithImages(), Messages: v.Rec.Rules.NamesLookups()})
	if err == nil {
		v.tools.set = &set
		err = v.views.Declare(&set, facts)
	}
	return v.views.Data(facts), err
}

// say adds a message of the engine's own to the history.
func (v *visit) say(kind echo.StepKind, m *echo.Message) error { return sayAt(v, v.At(kind), m) }

// sayAt is say under a key.
func sayAt(v *visit, key echo.Key, m *echo.Message) error {
	m = v.Rec.Kept(key, m, true)
	v.enter(m)
	return v.Rec.Message(key, m)
}

// enter adds a message to the history. What its model reasoned is for the requests of the visit only.
func (v *visit) enter(m *echo.Message) {
	v.run.messages.Enter(v.Record, echo.WithThought(m, nil), v.Attempt, v.Turn)
	if h := v.Record.History; len(echo.Thought(m)) > 0 {
		h[len(h)-1].Message = m
	}
}

// settleOutput makes a phase's output known to the rest of the run.
func (v *visit) settleOutput(value any) error {
	v.Record.Output, v.Record.Done = value, true
	if v.scope.isPart() {
		return v.callouts()
	}
	v.run.session.Set(nil, cascade.StateOutputPrefix+v.Def.Name, value)
	if len(v.Def.OutputSchema) > 0 && v.result.Reason != echo.StopExhausted {
		v.run.session.Set(nil, cascade.StateValidatedOutput, value)
	}
	return v.callouts()
}

// callouts marks the output, or messages, of a phase that has ended well as important.
func (v *visit) callouts() error {
	c := v.Def.Callouts
	if c == nil || v.marked {
		return nil
	}
	if last := phasecontext.LastAnswer(v.Present()); c.Output != "" && last != nil {
		if err := v.callout("output", c.Output, last.Message); err != nil {
			return err
		}
	}
	if c.Messages == "" {
		return nil
	}
	for i, it := range phasecontext.Pick(v.Present(), c.MessagesFilter) {
		if err := v.callout(fmt.Sprintf("message%d", i+1), c.Messages, it.Message); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) callout(what, nameTemplate string, m *echo.Message) error {
	name, err := v.templates.Text("callouts", nameTemplate)
	if err != nil {
		return err
	}
	return markCallout(v, what, name, m)
}

func markCallout(v *visit, what, name string, m *echo.Message) error {
	v.run.session.Callouts = append(v.run.session.Callouts, echo.Callout{Name: name, Phase: v.Def.Name, Hash: m.Hash()})
	v.run.messages.MarkCallout(v.Record, m.Hash(), name)
	e := v.Rec.Entry(v.Key.Named(echo.StepCallout, what), echo.CalloutMark{Name: name})
	e.ContentHash = m.Hash()
	return v.Rec.Append(e)
}

// located puts the place of the phase around an error that has none yet.
func (v *visit) located(err error) error {
	var pe *core.PhaseError
	if err == nil || errors.As(err, &pe) || effect.IsRecordError(err) {
		return err
	}
	return failedPhase(v, err)
}

// failedPhase returns the error of a phase for one without its place.
func failedPhase(v *visit, err error) error {
	reason := echo.StopError
	var child *ChildError
	switch {
	case errors.As(err, new(*effect.ModelError)): // also of a validator, which then can be asked again
	case errors.As(err, &child) && record.CanResume(child.Status, child.Stopped): // the same
	case errors.As(err, new(*core.WardError)):
		reason = echo.StopWard
	case errors.As(err, new(*core.VerdictError)):
		reason = echo.StopExhausted
	case errors.As(err, new(*core.EmptyAnswerError)):
		reason = echo.StopEmptyAnswer
	}
	return &core.PhaseError{Site: v.Site, Reason: reason, Err: err}
}

// finish records the end of the visit and returns what ended it or made the record fail.
func (v *visit) finish(ctx context.Context, out outcome, err error) error {
	v.Record.ForgetThoughts()
	res := &v.result
	if err != nil {
		res.Status, res.Reason = core.Classify(err)
		res.Error = v.Rec.Mask.Text(err.Error())
	} else {
		res.Status, res.Output = echo.StatusCompleted, out.value
		v.run.result.Output = out.value
	}
	if !v.scope.isPart() {
		v.run.result.Phases = append(v.run.result.Phases, *res)
	}
	if effect.IsRecordError(err) || v.scope != scopePhase && err != nil && !core.Recoverable(err) {
		return err // of a branch that is stopped, the run records it
	}
	e := v.Rec.End(v.mark(echo.StepEnd, echo.StepFinish), echo.PhaseEnd{
		Status: res.Status, Reason: res.Reason, Attempts: res.Attempts, Turns: res.Turns,
		Calls: res.Calls, Unknown: res.UnknownCosts, Output: res.Output,
		Masked: res.MaskedResults, Recalls: res.Recalls, Rereads: res.Rereads,
	}, res.Totals, res.DurationMS, err)
	e.Model = v.Record.Model
	if v.scope != scopePhase {
		return errors.Join(err, v.Rec.Append(e))
	}
	failed := v.handOff(ctx, e, err)
	if failed == nil {
		failed = v.Rec.Append(e)
	}
	return errors.Join(err, failed)
}
