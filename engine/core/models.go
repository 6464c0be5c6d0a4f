package core

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Models has what is known of the models that a run, or a branch of it, asks.
type Models struct {
	Rec   *Recorder
	Facts func(model string) effect.ModelFacts // see Runner.Facts; may be nil
	Known map[string]effect.ModelFacts
}

// In returns the models of a branch, which knows what the run knows so far.
func (m *Models) In(rec *Recorder) *Models {
	return &Models{Rec: rec, Facts: m.Facts, Known: maps.Clone(m.Known)}
}

// Of returns what is known of a model. What was known when the run first asked is recorded and
// holds for all of it. How tokens are counted follows from the model's name.
func (m *Models) Of(ctx context.Context, model string) (effect.ModelFacts, error) {
	if f, ok := m.Known[model]; ok {
		return f, nil
	}
	var f effect.ModelFacts
	if m.Facts != nil {
		f = m.Facts(model)
	}
	if f.Name == model {
		f.Name = ""
	}
	key := m.Rec.base().Named(echo.StepFacts, model)
	d, _, err := effect.Reading[echo.ModelFacts](ctx, m.Rec, key, effect.Site{Cascade: m.Rec.Cascade}, func() echo.Payload {
		d := m.reading(ctx, &f)
		if d.IsZero() || f.AskWindow != nil && ctx.Err() != nil { // then nobody answered
			return nil
		}
		return d
	})
	if err != nil { // nothing is known when nothing is recorded
		return f, err
	}
	if d.Name != f.Name && m.Facts != nil { // it stood for another model then
		f = m.Facts(cmp.Or(d.Name, model))
	}
	f.Window, f.Assumed, f.MaxOutput, f.Price, f.Tariff, f.NativeTools = d.Window, d.Assumed, d.MaxOutput, d.Price, d.Tariff, d.NativeTools
	f.Fallback, f.MarkCache, f.NoImages = d.Fallback, d.MarkCache, d.NoImages
	m.Known[model] = f
	if !d.Assumed {
		return f, nil
	}
	return f, m.Rec.Warn(key, fmt.Sprintf("the context window of %s is not known: %d tokens are assumed; set context_window of the model in windlass.json",
		model, d.Window))
}

// reading is what is recorded of a model's facts.
func (m *Models) reading(ctx context.Context, f *effect.ModelFacts) echo.ModelFacts {
	d := echo.ModelFacts{Name: f.Name, Window: f.Window, MaxOutput: f.MaxOutput, Price: f.Price, Tariff: f.Tariff, NativeTools: f.NativeTools, Fallback: f.Fallback, MarkCache: f.MarkCache}
	if m.Rec.Rules.ShowsTurn() {
		d.NoImages = f.NoImages
	}
	if !m.Rec.Rules.assumesWindow() {
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
