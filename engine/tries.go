package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/checks"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/sounding"
)

// tries is where candidates of a phase run and are judged: a visit, or a step of its refinement, which
// has a visit for itself. It implements [sounding.Stage] and belongs to the goroutine of that visit.
type tries struct {
	v       *visit
	handled bool // the run goes on when all have failed
}

// sound runs a phase several times and keeps one outcome.
func sound(ctx context.Context, v *visit) (any, error) {
	each := v.Def.ForEach
	on := &tries{v: v, handled: v.Def.OnError != nil || failedRoute(v.Rec.Rules, v.Def) != "" || each != nil && goesOn(each)}
	course := &sounding.Course{Settings: v.Def.Soundings, Session: v.run.session.ID, Rewrites: v.run.Rewrites}
	if v.Def.Deterministic() {
		course.Task = fmt.Sprintf("Run the tool %s.", v.Def.Runs())
	} else {
		course.Species = sounding.Species(v.Def, v.seen())
	}
	best, err := course.Run(ctx, on)
	if err != nil {
		return nil, err
	}
	return on.keep(ctx, best)
}

// seen returns what the templates of a visit see, as it is recorded.
func (v *visit) seen() string {
	return v.Rec.Mask.Text(string(effect.MustJSON([]any{v.run.spec.Input, v.run.session.State, v.run.vars})))
}

// Perform implements [sounding.Stage].
func (t *tries) Perform(ctx context.Context, list []*sounding.Candidate, only bool) error {
	keys := make([]echo.Key, len(list))
	for i, c := range list {
		keys[i] = t.v.Key.Numbered(echo.StepSounding, c.Number())
		if err := t.know(ctx, c); err != nil {
			return err
		}
	}
	f := &forked{run: t.v.run, handled: t.handled || !only, anyOf: true}
	err := f.do(ctx, list[0].Of.Settings.Parallel(), keys, func(ctx context.Context, i int) part { return t.try(ctx, keys[i], list[i]) })
	t.count(f.parts)
	return t.outcome(f.parts, only, err)
}

// outcome returns the error of candidates that have ended: when all have failed, that of the phase.
func (t *tries) outcome(parts []part, only bool, err error) error {
	errs := make([]error, 0, len(parts))
	for i := range parts {
		if p := &parts[i]; p.run != nil && p.err != nil {
			errs = append(errs, p.err)
		}
	}
	if only && len(errs) == len(parts) && (err == nil || core.Recoverable(err)) {
		return failedPhase(t.v, &core.CandidatesError{Errs: errs})
	}
	return err
}

// know asks what is known of the models of a candidate, once for the run and not in each branch.
func (t *tries) know(ctx context.Context, c *sounding.Candidate) error {
	if t.v.Def.Deterministic() {
		return nil
	}
	models := []string{modelFor(t.v.run, t.v.Def, c)}
	if c.Rewritten() {
		models = append(models, c.Rewording(t.Model()).Model)
	}
	for _, m := range models {
		if _, err := t.v.run.Models.Of(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// try runs the phase as a candidate.
func (t *tries) try(ctx context.Context, key echo.Key, c *sounding.Candidate) part {
	b := t.v.run.branch(key)
	withoutNewest(b)
	b.vars = more(t.v.run.vars, c.Vars())
	x := b.newVisit(c.Phase(t.v.Def), visitAt{scope: scopeTry, key: key, visit: t.v.Record.Visit, item: t.v.Item, try: c})
	c.Hash = effect.HashOf(b.rec.Recorder, echo.NodePhaseEnd, key.Step(echo.StepFinish))
	out, err := x.do(ctx)
	p := part{run: b, out: out, err: err, visit: x.result, touched: x.tools.touched}
	c.Err, c.Value, c.Taken, c.Asked, c.Host = err, out.value, b.result.Plus(b.result.Children).Plus(b.result.copied), x.Record.Model, &p
	return p
}

// count adds what branches took to the visit. Cascades that their parts have begun run on in any case.
func (t *tries) count(parts []part) {
	for i := range parts {
		p := &parts[i]
		t.v.result.count(&p.visit)
		t.v.tools.touched = t.v.tools.touched || p.touched
		if p.run != nil {
			t.v.run.asyncs = append(t.v.run.asyncs, p.run.asyncs...)
			p.run.asyncs = nil
		}
	}
}

// Step implements [sounding.Stage].
func (t *tries) Step(ctx context.Context, step int, do func(context.Context, sounding.Stage) error) error {
	key := t.v.Key.Numbered(echo.StepReforge, step)
	f := &forked{run: t.v.run, handled: t.handled}
	err := f.do(ctx, 1, []echo.Key{key}, func(ctx context.Context, _ int) part {
		b := t.v.run.branch(key)
		withoutNewest(b)
		x := b.newVisit(t.v.Def, visitAt{scope: scopeTry, key: key, visit: t.v.Record.Visit, item: t.v.Item})
		err := do(ctx, &tries{v: x})
		return part{run: b, err: err, visit: x.result, touched: x.tools.touched}
	})
	t.count(f.parts)
	return cmp.Or(err, f.parts[0].err)
}

// Passes implements [sounding.Stage].
func (t *tries) Passes(ctx context.Context, validator, text string) (bool, error) {
	judges := checksOfOutput(t.v)
	vd, err := judges.Ask(ctx, validator, text)
	if err != nil {
		return false, err
	}
	vd.Ward, vd.Mode = wardPost, string(cascade.WardAdvisory)
	err = judges.RecordVerdict(validator, vd)
	return vd.Valid, err
}

// Taken implements [sounding.Stage].
func (t *tries) Taken() effect.Totals { return t.v.result.Totals }

// Model implements [judging.Bench].
func (t *tries) Model() string { return t.v.run.DefaultModel }

// Place implements [judging.Bench].
func (t *tries) Place() *core.Place { return t.v.Place }

// Calls implements [judging.Bench].
func (t *tries) Calls() *core.Calls { return t.v.calls }

// Instructions implements [judging.Bench].
func (t *tries) Instructions(field, source string, more map[string]any) (string, error) {
	vars := t.v.templates.VarsFor(source)
	maps.Copy(vars, more)
	return t.v.templates.TextWith(field, source, vars)
}

// maxParallelBallots bounds how many judges look at the same time.
const maxParallelBallots = 8

// Each implements [judging.Bench].
func (t *tries) Each(ctx context.Context, keys []echo.Key, do func(ctx context.Context, i int, calls *core.Calls) error) error {
	f := &forked{run: t.v.run}
	err := f.do(ctx, maxParallelBallots, keys, func(ctx context.Context, i int) part {
		b := t.v.run.branch(keys[i])
		place := *t.v.Place
		place.Ward, place.Rec = keys[i], b.rec
		taken := PhaseResult{}
		err := do(ctx, i, &core.Calls{Account: b.Account, Place: &place, Visited: &taken.Totals})
		return part{run: b, visit: taken, err: err}
	})
	t.count(f.parts)
	return err
}

// modelFor returns the model of a phase. That of a candidate outranks all others.
func modelFor(r *run, p *cascade.Phase, c *sounding.Candidate) string {
	model := ""
	switch {
	case c != nil:
		model = c.Model.Name
	case p.Soundings.Active() && len(p.Soundings.Models) > 0:
		model = p.Soundings.Models[0].Name
	}
	return cmp.Or(model, r.PhaseModels[p.Name], p.Model, r.DefaultModel)
}

// beginTry records which candidate the visit is.
func beginTry(v *visit, settings *echo.PhaseContext) error {
	if v.try.Model.Name != "" {
		v.try.Context = settings
	}
	return recordTry(v)
}

func recordTry(v *visit) error {
	return v.Rec.Add(v.Key.Step(echo.StepCandidate), v.try.Recorded(v.Record.Model))
}

// checksOfOutput returns checks of the output of a visit that record below the visit itself.
func checksOfOutput(v *visit) *checks.Checks {
	place := *v.Place
	place.Attempt, place.Turn = 0, 0
	words, asked := *v.templates, *v.checks.Validators
	words.Place = &place
	asked.Place, asked.Templates, asked.Children, asked.Subject = &place, &words, &children{Place: &place, run: v.run}, "output"
	asked.Calls = &core.Calls{Account: v.run.Account, Place: &place, Visited: &v.result.Totals}
	return &checks.Checks{Schemas: v.checks.Schemas, Validators: &asked}
}

// screen has the free checks look at the output of a candidate.
func screen(ctx context.Context, v *visit, value any) error {
	if v.try == nil {
		return nil
	}
	s, judges, text := v.try.Of.Settings, checksOfOutput(v), echo.AsText(value)
	if len(s.OutputSchema) > 0 {
		_, reason, err := judges.Fits(ctx, s.OutputSchema, text)
		if err != nil || reason != "" {
			v.try.Rejected = reason
			return err
		}
	}
	if s.Validator == "" {
		return nil
	}
	vd, err := judges.Validate(ctx, s.Validator, text)
	if err == nil && !vd.Valid {
		v.try.Rejected = cmp.Or(vd.Reason, "it gave no reason")
	}
	return err
}

// keep makes what a candidate has left that of the visit.
func (t *tries) keep(ctx context.Context, b *sounding.Best) (any, error) {
	v := t.v
	if b.Candidate == nil {
		return t.keepWritten(ctx, b.Text)
	}
	p, _ := b.Candidate.Host.(*part)
	for _, rec := range p.run.ownVisits() {
		if err := t.takeOver(b.Candidate, rec, p.run); err != nil {
			return nil, err
		}
		v.Record.StateKeys = union(v.Record.StateKeys, rec.StateKeys)
		v.Record.Model, v.Record.Before, v.Record.Prompted = rec.Model, slices.Clone(rec.Before), rec.Prompted
	}
	v.run.adoptShared(p.run)
	v.tools.chosen, v.marked = p.out.chosen, true
	v.result.Reason = p.visit.Reason
	return p.out.value, nil
}

// takeOver makes the messages of a candidate those of the visit. Its task is that of the phase: how the candidate's
// differs, and the answer that it was to refine, stay its own.
func (t *tries) takeOver(c *sounding.Candidate, rec *echo.PhaseRecord, by *run) error {
	for i, it := range rec.History {
		if !c.Varies() || it.Message.Kind() != echo.KindTask || it.Order == 0 {
			t.v.run.messages.Append(t.v.Record, rec.History[i:i+1], by.messages)
			continue
		}
		if err := t.v.say(echo.StepTask, c.Task); err != nil {
			return err
		}
		own := t.v.Record.History[len(t.v.Record.History)-1].Message
		for _, called := range by.session.OwnCallouts() {
			if called.Hash != it.Message.Hash() {
				continue
			}
			if err := markCallout(t.v, "task", called.Name, own); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepWritten makes an answer that of the visit which was written from those of all candidates.
func (t *tries) keepWritten(ctx context.Context, text string) (any, error) {
	v := t.v
	v.result.Reason = echo.StopAnswered
	if err := v.say(echo.StepCollected, echo.NewText(echo.RoleAssistant, echo.KindAnswer, text)); err != nil || len(v.Def.OutputSchema) == 0 {
		return text, err
	}
	value, reason, err := v.checks.Fits(ctx, v.Def.OutputSchema, text)
	if err == nil && reason != "" {
		err = &core.VerdictError{Check: "output_schema", Attempts: 1, Reason: "the answer that was written from those of all candidates: " + reason}
	}
	return value, err
}

// vary makes the instructions of a candidate, and those of the phase whose instructions a try of the whole
// cascade changes.
func (o *opening) vary(ctx context.Context) error {
	c, whole := o.v.try, o.v.run.spec.Trial
	changes := whole.Changes(o.v.run.spec.Cascade, o.v.Def)
	if c == nil && !changes {
		return nil
	}
	text, err := o.v.templates.Text("instructions", o.v.Def.Instructions)
	if err != nil {
		return err
	}
	o.asked = text
	if changes {
		if text, err = o.reword(ctx, 2, whole.Rewording(o.v.run.DefaultModel), text); err != nil {
			return err
		}
	}
	o.varied = &text
	if c == nil {
		return nil
	}
	return o.varyTry(ctx, c)
}

// varyTry makes the instructions of a candidate from those that the others have, too.
func (o *opening) varyTry(ctx context.Context, c *sounding.Candidate) (err error) {
	text := *o.varied
	task, err := o.withInput(text)
	if err != nil {
		return err
	}
	c.Task = o.taskMessage(task)
	if text, err = o.reword(ctx, 1, c.Rewording(o.v.run.DefaultModel), text); err != nil {
		return err
	}
	if c.Rewritten() {
		c.Mutation = c.Mutation.WithText(text)
		if err := recordTry(o.v); err != nil {
			return err
		}
	}
	o.varied = new(c.Honed(text))
	return nil
}

// reword changes instructions; a model is asked where it rewrites them. What a try of the whole cascade has
// rewritten is the second call, which a candidate has besides its own.
func (o *opening) reword(ctx context.Context, number int, how sounding.Rewording, text string) (string, error) {
	if !how.AsksModel() {
		return how.Words(text), nil
	}
	v := o.v
	site := v.Site
	site.Purpose = echo.PurposeRewrite
	key, req := v.Key.Step(echo.StepRewrite).Try(echo.StepModel, number), how.Request(site, text)
	if err := v.calls.Begin(ctx, key, req); err != nil {
		return "", err
	}
	resp, err := v.calls.Ask(ctx, key, req)
	if err != nil {
		return "", fmt.Errorf("rewrite the instructions: %w", err)
	}
	return sounding.Rewritten(resp)
}

// askFirst makes the first call of a candidate. It may wait for what its request shares with another's.
func (c *conversation) askFirst(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	s := &c.views.Settings
	first := &sounding.First{Model: req.Model, Messages: req.Messages, Tools: req.ToolsDigest, Fixed: s.Fixed, Count: s.Count, Price: s.Price}
	c.try.First = first
	if c.Rec.Peek(echo.NodeModelCall, key) == nil && !c.Rec.IsReplay() {
		leave, err := c.try.Of.Gate.Enter(ctx, first, req)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	resp, err := c.calls.Ask(ctx, key, req)
	if err == nil {
		first.Usage = &resp.Usage
	}
	return resp, err
}
