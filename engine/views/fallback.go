package views

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/phasecontext"
)

// FallbackModels lists the models that stand in for that of a phase: those of the phase, else of the
// cascade, else of windlass.json. The model itself is none of them.
func FallbackModels(c *cascade.Cascade, p *cascade.Phase, model string, f *effect.ModelFacts) []string {
	list := f.Fallback
	switch {
	case p.Fallback != nil:
		list = p.Fallback
	case c.Fallback != nil:
		list = c.Fallback
	}
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == model })
}

// unreachable returns why a model cannot be asked now though others may be; ok is false for a
// failure that says nothing of others: a request that is refused, a key, a name.
func unreachable(err error) (kind echo.ModelErrorKind, ok bool) {
	var me *effect.ModelError
	if effect.IsRecordError(err) || !errors.As(err, &me) {
		return "", false
	}
	switch me.Kind { //nolint:exhaustive // no other model helps with the others
	case echo.ModelErrRateLimited, echo.ModelErrServer, echo.ModelErrNetwork, echo.ModelErrTimeout:
		return me.Kind, true
	}
	return "", false
}

// FallBack has the next model asked for the rest of the visit when a call has failed for want of one
// that can be reached. The choice follows from what is recorded, and is recorded itself.
func (v *Views) FallBack(ctx context.Context, call echo.Key, failure error) (moved bool, err error) {
	kind, ok := unreachable(failure)
	if !ok {
		return false, nil
	}
	for len(v.Fallbacks) > 0 {
		next := v.Fallbacks[0]
		v.Fallbacks = v.Fallbacks[1:]
		facts, err := v.calls.Models.Of(ctx, next)
		if err != nil {
			return false, err
		}
		if why := v.unfit(next, facts); why != "" {
			if err := v.Rec.Warn(call, next+" is passed over: "+why); err != nil {
				return false, err
			}
			continue
		}
		from := v.Record.Model
		phasecontext.TakeOver(v.Record, next)
		v.moveTo(facts)
		e := v.Rec.Entry(call.Step(echo.StepWarning), echo.Warning{
			Message:  fmt.Sprintf("%s cannot be reached (%s): %s is asked for the rest of the phase", from, kind, next),
			Fallback: &echo.Fallback{From: from, To: next, Kind: kind, Context: v.Data(facts)},
		})
		e.Model = next
		return true, v.Rec.Append(e)
	}
	return false, nil
}

// unfit says why a visit that has begun cannot go on with a model; "" when it can.
func (v *Views) unfit(model string, f effect.ModelFacts) string {
	if !v.Record.Prompted && len(v.tools.Specs) > 0 && v.Def.UseNativeTools == nil && f.NativeTools != nil && !*f.NativeTools {
		return "it has no tool calling, which the phase has begun with"
	}
	if _, r := SettingsFor(v.asked, v.Rec.Rules, v.Def, f, v.Settings.Dialect); v.Settings.Policy.Guard.Enabled {
		if err := r.Check(model); err != nil {
			return err.Error()
		}
	}
	return ""
}

// moveTo makes views for another model: its window and prices count, nothing is in its cache, and
// what was learned of the model before says nothing of it.
func (v *Views) moveTo(f effect.ModelFacts) {
	v.Settings, v.room = SettingsFor(v.asked, v.Rec.Rules, v.Def, f, v.Settings.Dialect)
	v.Settings.Fixed, v.Settings.Summary.Lookups = v.fixedTokens(f), lookupsOf(v)
	v.Builder = autocontext.NewBuilder(v.Settings)
	v.answered, v.marks = time.Time{}, cacheMarks{on: f.MarkCache}
	c := &v.Carry
	c.Sent, c.Debt, c.Scale, c.Ceiling, c.Refused, c.Acting, c.Warned, c.Answered = 0, 0, 0, 0, 0, 0, false, nil
}
