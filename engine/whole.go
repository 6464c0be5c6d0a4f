package engine

import (
	"context"
	"fmt"
	"maps"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/sounding"
)

// wholes is where candidates of the whole cascade run and are judged, each as a session of its own: the
// run, or a step of its refinement. It implements [sounding.Stage].
type wholes struct {
	tries // of a visit to no phase
}

// wholeOf returns the stage of a run, or of a branch of it.
func wholeOf(r *run, key echo.Key) *wholes {
	at := &core.Place{
		Site: effect.Site{Cascade: r.spec.Cascade.CascadeID}, Key: key, Rec: r.rec, Def: &cascade.Phase{}, Record: &echo.PhaseRecord{Model: r.DefaultModel},
	}
	return &wholes{tries{v: visitOf(r, at, r.DefaultModel)}}
}

// soundWhole runs the cascade several times and keeps one outcome.
func soundWhole(ctx context.Context, r *run) error {
	c := r.spec.Cascade
	course := &sounding.Course{
		Settings: c.Soundings, Session: r.session.ID, Rewrites: r.Rewrites, Species: sounding.WholeSpecies(c),
		Task: sounding.WholeTask(c, r.spec.Input),
	}
	on := wholeOf(r, echo.RunKey())
	best, err := course.Run(ctx, on)
	if err != nil {
		return on.v.located(err)
	}
	if best.Candidate == nil {
		r.result.Output = best.Text
		return nil
	}
	out, _ := best.Candidate.Host.(*effect.ChildOutcome)
	r.result.Output = out.Output
	for name, value := range out.State {
		r.session.Set(nil, name, value)
	}
	return nil
}

// Perform implements [sounding.Stage].
func (w *wholes) Perform(ctx context.Context, list []*sounding.Candidate, only bool) error {
	keys := make([]echo.Key, len(list))
	for i, c := range list {
		keys[i] = w.v.Key.Numbered(echo.StepSounding, c.Number())
	}
	f := &forked{run: w.v.run, handled: !only, anyOf: true}
	err := f.do(ctx, list[0].Of.Settings.Parallel(), keys, func(ctx context.Context, i int) part { return w.try(ctx, keys[i], list[i]) })
	w.count(f.parts)
	return w.outcome(f.parts, only, err)
}

// try runs the cascade as a candidate, in a session of its own.
func (w *wholes) try(ctx context.Context, key echo.Key, c *sounding.Candidate) part {
	b := w.v.run.branch(key)
	at := wholeOf(b, key)
	at.v.try, at.v.Try = c, c.Site()
	c.Hash = effect.HashOf(b.rec.Recorder, echo.NodeChildEnd, key.Step(echo.StepCandidate))
	out, err := at.begin(ctx, key, c)
	p := part{run: b, visit: at.v.result}
	if out != nil {
		b.countChild(out)
		c.Value, c.Taken, c.Host = out.Output, out.Totals.Plus(out.CopiedTotals()), out
		if err = failure(fmt.Sprintf("of candidate %d", c.Number()), out); err == nil {
			err = screen(ctx, at.v, out.Output)
		}
	}
	c.Err, c.Asked, p.err = err, c.Model.Name, err
	p.visit = at.v.result
	return p
}

// begin begins the session of a candidate and waits for its end.
func (w *wholes) begin(ctx context.Context, key echo.Key, c *sounding.Candidate) (*effect.ChildOutcome, error) {
	r := w.v.run
	at := key.Step(echo.StepCandidate)
	if err := w.v.Rec.Add(at, c.Recorded(c.Model.Name)); err != nil {
		return nil, err
	}
	def := c.Cascade(r.spec.Cascade)
	return w.v.childrenHere().do(ctx, &wanted{
		key: at, name: def.CascadeID, how: echo.ChildSounding, of: &cascade.Reached{Hash: library.Hash(def), Cascade: def}, trial: c.Trial(),
		input: c.Input(r.spec.Input), state: maps.Clone(r.spec.State),
	})
}

// Step implements [sounding.Stage].
func (w *wholes) Step(ctx context.Context, step int, do func(context.Context, sounding.Stage) error) error {
	key := w.v.Key.Numbered(echo.StepReforge, step)
	f := &forked{run: w.v.run}
	err := f.do(ctx, 1, []echo.Key{key}, func(ctx context.Context, _ int) part {
		at := wholeOf(w.v.run.branch(key), key)
		at.v.Try = effect.Try{Step: step}
		p := part{run: at.v.run}
		if err := do(ctx, at); err != nil {
			p.err = at.v.located(err)
		}
		p.visit = at.v.result
		return p
	})
	w.count(f.parts)
	return err
}
