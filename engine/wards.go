package engine

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// The moments at which wards look, as verdicts name them.
const (
	wardPre  = "pre"
	wardTurn = "turn"
	wardPost = "post"
)

// wards are the validators that stand around a visit. They belong to the goroutine of the visit.
type wards struct {
	v       *visit
	retried map[int]int // by the number of a ward: how often it has begun another attempt
}

// watch is what the wards of one moment look at.
type watch struct {
	moment   string
	subject  string // input, answer or output
	content  string
	attached []echo.Part // images that are in no history yet
}

// of returns the wards of a moment and the number of the first: they are counted over all moments.
func (w *wards) of(moment string) (list []cascade.Ward, first int) {
	all := w.v.Def.Wards
	switch {
	case all == nil:
		return nil, 1
	case moment == wardPre:
		return all.Pre, 1
	case moment == wardTurn:
		return all.Turn, 1 + len(all.Pre)
	}
	return all.Post, 1 + len(all.Pre) + len(all.Turn)
}

// input has the wards look at what is rendered, before anything is paid, with the input of the run: an
// element of a list with the element. The error is a [*WardError] where one of them blocks.
func (w *wards) input(ctx context.Context, name string, rendered any, attached []echo.Part) error {
	of, input := "input", any(w.v.run.spec.Input)
	switch {
	case w.v.Item > 0:
		of, input = cascade.DefaultAs, w.v.run.vars[w.v.Def.ForEach.Variable()]
	case w.v.run.spec.Input == nil:
		input = map[string]any{}
	}
	content := string(effect.MustJSON(map[string]any{of: input, name: rendered}))
	_, err := w.look(ctx, watch{moment: wardPre, subject: "input", content: content, attached: attached})
	return err
}

// answer has the wards look at an answer of the model, see [wards.look].
func (w *wards) answer(ctx context.Context, content string) (refused string, err error) {
	return w.look(ctx, watch{moment: wardTurn, subject: "answer", content: content})
}

// output has the wards look at the output of the phase, see [wards.look].
func (w *wards) output(ctx context.Context, value any) (refused string, err error) {
	return w.look(ctx, watch{moment: wardPost, subject: "output", content: echo.AsText(value)})
}

// guarded is a ward at work, and what it has said.
type guarded struct {
	ward    cascade.Ward
	number  int
	mode    cascade.WardMode
	verdict *echo.Verdict
	failure error // why it could not run; nil: it could
}

// look asks the wards of a moment and does what their modes say: an error when one blocks, else the
// check that another attempt is to pass; why is then in templates.Rejected.
func (w *wards) look(ctx context.Context, at watch) (refused string, err error) {
	list, first := w.of(at.moment)
	if len(list) == 0 {
		return "", nil
	}
	seen := make([]guarded, len(list))
	for i, ward := range list {
		seen[i] = guarded{ward: ward, number: first + i, mode: cmp.Or(ward.Mode, cascade.WardBlocking)}
		if at.moment == wardPre && ward.Mode == cascade.WardRetry {
			seen[i].mode = cascade.WardBlocking // nothing was answered that could be corrected
		}
	}
	if err := w.askAll(ctx, at, seen); err != nil {
		return "", err
	}
	for i := range seen {
		if err := w.record(at, &seen[i]); err != nil {
			return "", err
		}
	}
	return w.decide(at, seen)
}

func (w *wards) key(g *guarded) echo.Key { return w.v.Here().Numbered(echo.StepWard, g.number) }

// askAll has all wards judge, at the same time, each in a branch of its own. What they have taken is
// counted in any case.
func (w *wards) askAll(ctx context.Context, at watch, seen []guarded) error {
	for i := range seen {
		if err := w.know(ctx, &seen[i]); err != nil {
			return err
		}
	}
	keys := make([]echo.Key, len(seen))
	for i := range seen {
		keys[i] = w.key(&seen[i])
	}
	f := &forked{run: w.v.run}
	err := f.do(ctx, maxParallelWards, keys, func(ctx context.Context, i int) part {
		b := w.v.run.branch(keys[i])
		return part{run: b, err: w.ask(ctx, b, at, &seen[i])}
	})
	for _, p := range f.parts {
		if p.run != nil {
			w.v.result.Totals = w.v.result.Plus(p.run.result.Totals)
		}
	}
	return err
}

// maxParallelWards bounds how many wards judge at the same time.
const maxParallelWards = 8

// know asks what is known of the model of a validator, once for the run and not in each branch.
func (w *wards) know(ctx context.Context, g *guarded) error {
	ref, err := w.v.checks.Cascade.ParseValidator(g.ward.Validator)
	if err != nil || ref.Kind != cascade.ValidatorInline {
		return err
	}
	_, err = w.v.calls.Models.Of(ctx, w.v.checks.ModelOf(ref.Name))
	return err
}

// ask has one ward judge, in its branch.
func (w *wards) ask(ctx context.Context, b *run, at watch, g *guarded) (err error) {
	place := *w.v.Place
	place.Ward, place.Rec = w.key(g), b.rec
	words, asked := *w.v.templates, *w.v.checks.Validators
	words.Place, words.Session = &place, b.session
	asked.Place, asked.Templates, asked.Children = &place, &words, &children{Place: &place, run: b}
	asked.Calls = &core.Calls{Account: b.Account, Place: &place, Visited: new(effect.Totals)}
	asked.Subject, asked.Attached = at.subject, at.attached
	if g.verdict, err = asked.Ask(ctx, g.ward.Validator, at.content); err != nil {
		return err
	}
	g.failure = asked.Failure()
	g.verdict.Ward, g.verdict.Mode = at.moment, string(g.mode)
	g.verdict.CostUSD = b.result.Plus(b.result.Children).Cost()
	return nil
}

// record records a verdict, and the warning of a ward that only advises.
func (w *wards) record(at watch, g *guarded) error {
	key := w.key(g)
	g.verdict.Validator = g.ward.Validator
	if err := w.v.Rec.Add(key.Named(echo.StepVerdict, g.ward.Validator), *g.verdict); err != nil {
		return err
	}
	if g.verdict.Valid || g.mode != cascade.WardAdvisory {
		return nil
	}
	return w.v.Rec.Warn(key, fmt.Sprintf("ward %s (%s) advises against the %s: %s", g.ward.Validator, at.moment, at.subject, excerpt.Of(g.verdict.Reason)))
}

// decide says what follows from the verdicts: the first ward that blocks decides.
func (w *wards) decide(at watch, seen []guarded) (refused string, err error) {
	var again []*guarded
	for i := range seen {
		g := &seen[i]
		if g.verdict.Valid || g.mode == cascade.WardAdvisory {
			continue
		}
		if g.mode != cascade.WardRetry || w.retried[g.number] >= max(g.ward.MaxAttempts, 1) {
			return "", w.blocks(at, g)
		}
		again = append(again, g)
	}
	if len(again) == 0 {
		return "", nil
	}
	reasons := make([]string, len(again))
	for i, g := range again {
		w.retried[g.number]++
		reasons[i] = g.verdict.Reason
	}
	w.v.templates.Rejected = strings.Join(reasons, "\n\n")
	return wardCheck + again[0].ward.Validator, nil
}

// wardCheck is what a check is called that a ward decides, before its validator.
const wardCheck = "ward "

func isWardCheck(check string) bool { return strings.HasPrefix(check, wardCheck) }

func (w *wards) blocks(at watch, g *guarded) error {
	return &core.WardError{
		Validator: g.ward.Validator, Moment: at.moment, Subject: at.subject, Times: w.retried[g.number] + 1,
		Reason: g.verdict.Reason, Cause: g.failure,
	}
}
