package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/judging"
	"github.com/windlass-run/windlass/engine/sounding"
)

// tries are the candidates of a visit, or of a step of its refinement, of which one is kept.
type tries struct {
	v        *visit // or, of a step, a place of its own
	settings *soundings.Soundings
	step     int // of refinement, from 1; 0: the first candidates
	handled  bool
	all      []*try // by their numbers less 1
	seed     string
	species  string
	winners  []string // earlier rewrites that have won
	gate     *sounding.Gate
}

// try is a candidate. Its goroutine owns it until it has ended; then it does not change.
type try struct {
	part
	sounding.Plan
	of   *tries
	hone *sounding.Honing // of a step of refinement

	task     string          // what it was asked, without what is its own
	first    *sounding.First // its first request
	rejected string          // why a free check rejected its output
}

// name returns which try a visit is, in the words of its place.
func (c *try) name() effect.Try {
	if c == nil {
		return effect.Try{}
	}
	return effect.Try{Number: c.Index + 1, Step: c.of.step}
}

// modelOf returns the model of a phase. That of a candidate outranks all others.
func (r *run) modelOf(p *cascade.Phase, c *try) string {
	model := ""
	switch {
	case c != nil:
		model = c.Model.Name
	case p.Soundings != nil && len(p.Soundings.Models) > 0:
		model = p.Soundings.Models[0].Name
	}
	return cmp.Or(model, r.PhaseModels[p.Name], p.Model, r.DefaultModel)
}

// sound runs the phase several times and keeps one outcome.
func (v *visit) sound(ctx context.Context) (any, error) {
	t, err := v.newTries(ctx)
	if err != nil {
		return nil, err
	}
	n := sounding.Factor(t.settings)
	if err := t.perform(ctx, 0, n); err != nil {
		return nil, err
	}
	best, err := t.choose(ctx)
	if err != nil {
		return nil, err
	}
	return v.keep(best)
}

// newTries reads what candidates depend on.
func (v *visit) newTries(ctx context.Context) (*tries, error) {
	t := &tries{
		v: v, settings: v.Def.Soundings, gate: &sounding.Gate{},
		handled: v.Def.OnError != nil || failedRoute(v.Rec.Rules, v.Def) != "" || v.Def.ForEach != nil && v.Def.ForEach.OnError != "" && v.Def.ForEach.OnError != cascade.ItemFail,
	}
	if !v.Def.Deterministic() {
		t.species = sounding.Species(v.Def)
	}
	d, err := effect.WholeReading[echo.Seed](ctx, v.Rec, v.Key.Step(echo.StepSeed), v.Site, func() echo.Payload {
		return echo.Seed{Seed: sounding.Seed(v.run.session.ID, v.Key)}
	})
	t.seed = d.Seed
	return t, err
}

// perform runs candidates, those from one number on, up to another. A candidate that fails is out of the
// choice; when all have failed, so has the phase.
func (t *tries) perform(ctx context.Context, from, to int) error {
	for _, p := range sounding.Plans(t.settings, t.seed, from, to) {
		t.all = append(t.all, &try{Plan: p, of: t})
	}
	added := t.all[from:]
	keys := make([]echo.Key, len(added))
	for i, c := range added {
		keys[i] = t.v.Key.Numbered(echo.StepSounding, c.Index+1)
		if !t.v.Def.Deterministic() {
			if _, err := t.v.run.Models.Of(ctx, t.v.run.modelOf(t.v.Def, c)); err != nil {
				return err
			}
		}
	}
	f := &forked{run: t.v.run, handled: t.handled || from > 0, anyOf: true}
	err := f.do(ctx, t.settings.Parallel(), keys, func(ctx context.Context, i int) part { return added[i].execute(ctx, keys[i]) })
	for i, p := range f.parts {
		added[i].part = p
		t.v.result.count(&p.visit)
		t.v.tools.touched = t.v.tools.touched || p.touched
		if p.run != nil {
			t.v.run.asyncs = append(t.v.run.asyncs, p.run.asyncs...)
			p.run.asyncs = nil
		}
	}
	if failed := t.failed(); failed != nil && (err == nil || recoverable(err)) {
		return failed
	}
	return err
}

// failed returns the error of a phase whose candidates have all failed, nil when one has not.
func (t *tries) failed() error {
	errs := make([]error, 0, len(t.all))
	for _, c := range t.all {
		if c.part.run == nil || c.err == nil {
			return nil
		}
		errs = append(errs, c.err)
	}
	return t.v.located(&core.CandidatesError{Errs: errs})
}

// execute runs the phase as the candidate.
func (c *try) execute(ctx context.Context, key echo.Key) part {
	v := c.of.v
	b := v.run.branch(key)
	b.withoutNewest()
	b.vars = c.Vars()
	maps.Copy(b.vars, v.run.vars)
	x := b.newVisit(c.Phase(v.Def), visitAt{scope: scopeTry, key: key, visit: v.Record.Visit, item: v.Item, try: c})
	out, err := x.do(ctx)
	return part{run: b, out: out, err: err, visit: x.result, touched: x.tools.touched}
}

// beginTry records which candidate the visit is.
func (v *visit) beginTry(settings *echo.PhaseContext) error {
	c := v.try
	d := echo.Candidate{Index: c.Index, Factor: c.Factor, Model: v.Record.Model, Mutation: c.Mutation, Species: c.of.species}
	if c.Plan.Model.Name != "" {
		d.Context = settings
	}
	return v.Rec.Add(v.Key.Step(echo.StepCandidate), d)
}

// screen has the free checks look at the output of a candidate.
func (v *visit) screen(ctx context.Context, value any) error {
	if v.try == nil {
		return nil
	}
	s := v.try.of.settings
	place := *v.Place
	place.Attempt, place.Turn = 0, 0
	texts, asked := *v.templates, *v.checks.validators
	texts.Place = &place
	asked.Place, asked.templates, asked.children, asked.subject = &place, &texts, &children{Place: &place, run: v.run}, "output"
	asked.calls = &core.Calls{Account: v.run.Account, Place: &place, Visited: &v.result.Totals}
	checks := &checks{schemas: v.checks.schemas, validators: &asked}
	text := echo.AsText(value)
	if len(s.OutputSchema) > 0 {
		_, reason, err := checks.matchSchema(ctx, s.OutputSchema, text)
		if err == nil {
			err = checks.verdict("output_schema", &echo.Verdict{Valid: reason == "", Reason: reason})
		}
		if err != nil || reason != "" {
			v.try.rejected = reason
			return err
		}
	}
	if s.Validator == "" {
		return nil
	}
	vd, err := checks.validate(ctx, s.Validator, text)
	if err == nil && !vd.Valid {
		v.try.rejected = cmp.Or(vd.Reason, "the validator gave no reason")
	}
	return err
}

// best is what a choice has come to.
type best struct {
	try   *try // nil: the answer was written from those of all
	text  string
	value any
}

// choose keeps one of the candidates.
func (t *tries) choose(ctx context.Context) (*best, error) {
	for _, c := range t.all {
		if c.err == nil {
			return &best{try: c, text: echo.AsText(c.out.value), value: c.out.value}, nil
		}
	}
	return nil, fmt.Errorf("no candidate")
}

// entrant returns the candidate as the choice sees it.
func (c *try) entrant() judging.Entrant {
	e := judging.Entrant{Number: c.Index + 1, Rejected: c.rejected, Model: c.visitModel(), Mutation: c.Mutation}
	e.CostUSD = c.visit.Totals.Cost()
	e.Tokens = c.visit.Totals.Usage.In + c.visit.Totals.Usage.Out
	if c.err != nil {
		e.Failed = c.of.v.Rec.Mask.Text(c.err.Error())
		return e
	}
	e.Text = echo.AsText(c.out.value)
	e.Hash = echo.NewText(echo.RoleAssistant, echo.KindAnswer, e.Text).Hash()
	return e
}

func (c *try) visitModel() string { return c.part.run.ownVisits()[0].Model }

// keep makes what a candidate has left that of the visit.
func (v *visit) keep(b *best) (any, error) {
	if b.try == nil {
		v.result.Reason = echo.StopAnswered
		return b.value, v.say(echo.StepCollected, echo.NewText(echo.RoleAssistant, echo.KindAnswer, b.text))
	}
	from := b.try.part.run
	for _, rec := range from.ownVisits() {
		v.run.messages.Append(v.Record, rec.History, from.messages)
		v.Record.StateKeys = union(v.Record.StateKeys, rec.StateKeys)
		v.Record.Model, v.Record.Before, v.Record.Prompted = rec.Model, rec.Before, rec.Prompted
	}
	v.run.adoptShared(from)
	v.tools.chosen, v.marked = b.try.out.chosen, true
	v.result.Reason = b.try.visit.Reason
	return b.value, nil
}

// vary makes the instructions of a candidate.
func (o *opening) vary(ctx context.Context) error {
	c := o.v.try
	if c == nil {
		return nil
	}
	text, err := o.v.templates.text("instructions", o.v.Def.Instructions)
	if err != nil {
		return err
	}
	if c.task, err = o.withInput(text); err != nil {
		return err
	}
	text = sounding.Words(text, c.Mutation)
	o.varied = &text
	return nil
}

// askFirst makes the first call of a candidate.
func (c *conversation) askFirst(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	s := &c.views.Settings
	f := &sounding.First{Model: req.Model, Messages: req.Messages, Tools: req.ToolsDigest, Fixed: s.Fixed, Count: s.Count, Price: s.Price}
	c.try.first = f
	if c.Rec.Peek(echo.NodeModelCall, key) == nil && !c.Rec.IsReplay() {
		leave, err := c.try.of.gate.Enter(ctx, f, req)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	resp, err := c.calls.Ask(ctx, key, req)
	if err == nil {
		f.Usage = &resp.Usage
	}
	return resp, err
}
