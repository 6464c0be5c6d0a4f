package engine

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/engine/effect"
)

type models struct {
	rec   *recorder
	facts func(model string) effect.ModelFacts // see Runner.Facts; may be nil
	known map[string]effect.ModelFacts
}

// of returns what is known of a model. What was known when the run first asked is recorded and
// holds for all of it. How tokens are counted follows from the model's name.
func (m *models) of(ctx context.Context, model string) (effect.ModelFacts, error) {
	if f, ok := m.known[model]; ok {
		return f, nil
	}
	var f effect.ModelFacts
	if m.facts != nil {
		f = m.facts(model)
	}
	if f.Name == model {
		f.Name = ""
	}
	key := echo.RunKey().Named(echo.StepFacts, model)
	d, _, err := effect.Reading[echo.ModelFacts](ctx, m.rec, key, effect.Site{Cascade: m.rec.cascade}, func() echo.Payload {
		d := m.reading(ctx, &f)
		if d.IsZero() || f.AskWindow != nil && ctx.Err() != nil { // then nobody answered
			return nil
		}
		return d
	})
	if err != nil { // nothing is known when nothing is recorded
		return f, err
	}
	if d.Name != f.Name && m.facts != nil { // it stood for another model then
		f = m.facts(cmp.Or(d.Name, model))
	}
	f.Window, f.Assumed, f.MaxOutput, f.Price, f.Tariff, f.NativeTools = d.Window, d.Assumed, d.MaxOutput, d.Price, d.Tariff, d.NativeTools
	f.Fallback, f.MarkCache = d.Fallback, d.MarkCache
	m.known[model] = f
	if !d.Assumed {
		return f, nil
	}
	return f, m.rec.warn(key, fmt.Sprintf("the context window of %s is not known: %d tokens are assumed; set context_window of the model in windlass.json",
		model, d.Window))
}

// reading is what is recorded of a model's facts.
func (m *models) reading(ctx context.Context, f *effect.ModelFacts) echo.ModelFacts {
	d := echo.ModelFacts{Name: f.Name, Window: f.Window, MaxOutput: f.MaxOutput, Price: f.Price, Tariff: f.Tariff, NativeTools: f.NativeTools, Fallback: f.Fallback, MarkCache: f.MarkCache}
	if !m.rec.rules.assumesWindow() {
		return d
	}
	if f.AskWindow != nil {
		d.Window = cmp.Or(f.AskWindow(ctx), d.Window)
	}
	if d.Window == 0 && f.DefaultWindow > 0 {
		d.Window, d.Assumed = f.DefaultWindow, true
	}
	return d
}

// room is how many tokens a request may have, and why.
type room struct {
	limit   int64 // 0: unknown
	ceiling int64 // of request and answer together
	assumed bool  // the ceiling is not known, but taken for it
	reserve int64 // for the answer
	from    string
}

// roomFor returns the model's window or max_total, less what is kept for the answer: the budget's
// reserve, else max_output_tokens, else the longest answer but at most a quarter. A max_total counts
// more than a window that is only assumed, and such a window never says that there is no room.
func roomFor(f effect.ModelFacts, b *cascade.TokenBudget, maxOutput int) room {
	r := room{ceiling: f.Window, assumed: f.Assumed}
	if b != nil && b.MaxTotal > 0 && (r.ceiling == 0 || r.assumed || b.MaxTotal < r.ceiling) {
		r.ceiling, r.assumed = b.MaxTotal, false
	}
	if r.ceiling == 0 {
		return room{}
	}
	switch {
	case b != nil && b.ReserveForOutput > 0:
		r.reserve, r.from = b.ReserveForOutput, "token_budget.reserve_for_output"
	case maxOutput > 0:
		r.reserve, r.from = int64(maxOutput), "max_output_tokens"
	default:
		r.reserve = r.ceiling / 4
		if f.MaxOutput > 0 {
			r.reserve = min(r.reserve, f.MaxOutput)
		}
	}
	if r.limit = max(r.ceiling-r.reserve, 0); r.limit == 0 && r.assumed {
		return room{}
	}
	return r
}

// check says why nothing could be sent at all.
func (r room) check(model string) error {
	if r.ceiling == 0 || r.limit > 0 {
		return nil
	}
	return fmt.Errorf("%s keeps %d tokens for the answer, and %s takes only %d in all: nothing is left to send; lower %s, "+
		"or set context_window of the model in windlass.json if it takes more", r.from, r.reserve, model, r.ceiling, r.from)
}

func settingsFor(spec *Spec, rules ruleset, p *cascade.Phase, f effect.ModelFacts, d dialect.Dialect) (autocontext.Settings, room) {
	c := spec.Cascade
	budget := c.EffectiveTokenBudget(p)
	r := roomFor(f, budget, p.MaxOutputTokens)
	s := autocontext.Settings{
		Policy: spec.Off.Intra(c.EffectiveIntra(p)), FailuresInText: rules.findsFailures(), NameText: rules.namesText(), OwnIDs: rules.ownIDs(),
		SwitchedOff: c.EffectiveIntra(p).Enabled && spec.Off.IntraPhase, Dialect: d, Price: f.Price, Limit: r.limit, Assumed: r.assumed,
		Count: f.Count, Exact: f.Exact,
	}
	s.Policy.Dedupe = s.Policy.Dedupe && rules.dedupes()
	if budget != nil {
		s.Strategy = budget.Strategy
		if budget.WarningThreshold > 0 {
			s.Policy.Guard.WarnPercent = int(math.Round(100 * budget.WarningThreshold))
		}
	}
	return s, r
}
