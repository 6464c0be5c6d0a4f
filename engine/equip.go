package engine

import (
	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/engine/effect"
)

// equip gathers what a phase with a model works with: its tools, and what its views are made with. It touches nothing
// outside.
func (v *visit) equip() error {
	if v.phase.Deterministic() {
		return nil
	}
	var err error
	if v.facts, err = v.factsOf(v.model); err != nil {
		return err
	}
	v.record.Model, v.record.Prompted = v.model, !v.native()
	told := dialect.Native
	if v.record.Prompted {
		told = dialect.Prompted
	}
	v.repeats = repeats{}
	v.asks = map[autocontext.AskKind]int{}
	v.reads = newReads(&v.result.ContextFigures)
	v.render = autocontext.NewRenderer(told)
	v.settings, v.room = settingsFor(v.cascade, v.phase, v.facts, told)
	v.inter = v.cascade.EffectiveInter(v.phase)
	if v.tools, err = v.gatherTools(); err != nil {
		return err
	}
	v.settings.Fixed = v.fixedTokens()
	v.builder = autocontext.NewBuilder(v.settings)
	v.offerRecall(v.recallIsOfUse(0))
	if v.settings.Policy.Guard.Enabled {
		return v.room.check(v.model)
	}
	return nil
}

// fixedTokens counts what every request has besides its messages. Recall is among it, as it may join the tools later.
func (v *visit) fixedTokens() int64 {
	if v.facts.CountFixed == nil {
		return 0
	}
	var specs []effect.ToolSpec
	if v.native() {
		specs = v.tools.specs
		if _, has := v.tools.byName[toolRecall]; !has {
			specs = append(specs[:len(specs):len(specs)], recallSpec())
		}
	}
	return v.facts.CountFixed(specs)
}

func (v *visit) contextData() *echo.PhaseContext {
	if v.phase.Deterministic() {
		return nil
	}
	s := &v.settings
	d := &echo.PhaseContext{
		Dialect: s.Dialect.String(), Policy: effect.MustJSON(written(&s.Policy)), Limit: s.Limit, Window: v.facts.Window, Reserve: v.room.reserve,
		Strategy: string(s.Strategy), Fixed: s.Fixed, Exact: s.Exact,
	}
	if s.Price != nil {
		d.Price = &echo.Price{Input: s.Price.Input, Cached: s.Price.Cached}
	}
	return d
}

// written returns settings in the form of a cascade file, with everything decided. Settings that are not enabled have
// nothing but the guard.
func written(in *cascade.Intra) *cascade.IntraContext {
	g := in.Guard
	out := &cascade.IntraContext{
		Enabled: &in.Enabled,
		Guard: &cascade.Guard{
			Enabled: &g.Enabled, WarnPercent: &g.WarnPercent, CompactPercent: &g.CompactPercent, TargetPercent: &g.TargetPercent,
			RemovalLevels: g.RemovalLevels, KeepRecentMessages: &g.KeepRecentMessages, Recount: g.Recount,
		},
	}
	if g.SummarizerModel != "" {
		out.Guard.SummarizerModel = &g.SummarizerModel
	}
	if !in.Enabled {
		return out
	}
	out.Window, out.MaskObservationsAfter, out.MinMaskedSize = &in.Window, &in.MaskAfter, &in.MinMaskedSize
	out.Advance = &in.Advance
	if in.Advance == cascade.AdvanceStep {
		out.StepTurns = &in.StepTurns
	}
	out.PreserveReasoning, out.ReasoningLimit, out.PreserveErrors = &in.PreserveReasoning, &in.ReasoningLimit, &in.PreserveErrors
	out.ExcludeTools = in.ExcludeTools
	out.CompressLoops, out.LoopHistoryLimit, out.LoopOutputLimit = &in.CompressLoops, &in.LoopHistoryLimit, &in.LoopOutputLimit
	if t := in.Truncation; t != nil {
		out.Truncation = &cascade.Truncation{
			RecentResults: &t.RecentResults, RecentLimit: &t.RecentLimit, OlderLimit: &t.OlderLimit, InactiveLimit: &t.InactiveLimit,
		}
	}
	if c := in.ClearToolUses; c != nil {
		out.ClearToolUses = &cascade.ClearToolUses{
			TriggerTokens: &c.TriggerTokens, Keep: &c.Keep, ClearAtLeastTokens: &c.ClearAtLeastTokens, ExcludeTools: c.ExcludeTools,
		}
	}
	return out
}
