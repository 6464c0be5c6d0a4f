package cascade

import "slices"

// DefaultIntra returns the settings of a phase that says nothing but that it wants them.
func DefaultIntra() Intra {
	return Intra{
		Enabled: true, Window: 5, MaskAfter: 3, MinMaskedSize: 200, Advance: AdvanceCost, StepTurns: 10,
		PreserveReasoning: true, ReasoningLimit: 2000, PreserveErrors: true,
		CompressLoops: true, LoopHistoryLimit: 3, LoopOutputLimit: 500,
		Guard: IntraGuard{
			Enabled: true, WarnPercent: 80, CompactPercent: 90, TargetPercent: 72, RemovalLevels: []int{10, 20, 50, 100},
			KeepRecentMessages: 10, Recount: RecountTokenizer,
		},
	}
}

// DefaultTruncation returns the tiers of a truncation that is switched on and says nothing more.
func DefaultTruncation() IntraTruncation {
	return IntraTruncation{RecentResults: 5, RecentLimit: 5000, OlderLimit: 1000, InactiveLimit: 300}
}

// DefaultClear returns the settings of a clear_tool_uses that is switched on and says nothing more.
func DefaultClear() IntraClear {
	return IntraClear{TriggerTokens: 100_000, Keep: 3, ClearAtLeastTokens: 5000}
}

// EffectiveIntra returns the settings of a phase: its own, over those of the cascade, over the defaults, field by field.
// Without either block they are not enabled, and only the guard applies.
func (c *Cascade) EffectiveIntra(p *Phase) Intra {
	return mergeIntra(c.AutoContext.intra(), p.IntraContext)
}

func (a *AutoContext) intra() *IntraContext {
	if a == nil {
		return nil
	}
	return a.IntraPhase
}

// mergeIntra puts layers over the defaults, the last one on top; a layer may be nil.
//
// One rule holds for the settings as a whole and for each block inside them: a layer that has the block switches it on
// unless it says otherwise. What a layer below wrote into a block that it switched off is not lost by that.
func mergeIntra(layers ...*IntraContext) Intra {
	in := DefaultIntra()
	in.Enabled = false
	truncation, truncates := DefaultTruncation(), false
	clearing, clears := DefaultClear(), false
	for _, s := range layers {
		if s == nil {
			continue
		}
		in.merge(s)
		if t := s.Truncation; t != nil {
			truncates = switched(t.Enabled)
			truncation.merge(t)
		}
		if u := s.ClearToolUses; u != nil {
			clears = switched(u.Enabled)
			clearing.merge(u)
		}
	}
	if truncates {
		in.Truncation = &truncation
	}
	if clears {
		in.ClearToolUses = &clearing
	}
	return in
}

// switched reports whether a block that is written is on.
func switched(enabled *bool) bool { return enabled == nil || *enabled }

func (in *Intra) merge(s *IntraContext) {
	in.Enabled = switched(s.Enabled)
	set(&in.Window, s.Window)
	set(&in.MaskAfter, s.MaskObservationsAfter)
	set(&in.MinMaskedSize, s.MinMaskedSize)
	set(&in.Advance, s.Advance)
	set(&in.StepTurns, s.StepTurns)
	set(&in.PreserveReasoning, s.PreserveReasoning)
	set(&in.ReasoningLimit, s.ReasoningLimit)
	set(&in.PreserveErrors, s.PreserveErrors)
	set(&in.CompressLoops, s.CompressLoops)
	set(&in.LoopHistoryLimit, s.LoopHistoryLimit)
	set(&in.LoopOutputLimit, s.LoopOutputLimit)
	setList(&in.ExcludeTools, s.ExcludeTools)
	if s.Guard != nil {
		in.Guard.merge(s.Guard)
	}
}

func (g *IntraGuard) merge(s *Guard) {
	g.Enabled = switched(s.Enabled)
	set(&g.WarnPercent, s.WarnPercent)
	set(&g.CompactPercent, s.CompactPercent)
	set(&g.TargetPercent, s.TargetPercent)
	set(&g.KeepRecentMessages, s.KeepRecentMessages)
	set(&g.SummarizerModel, s.SummarizerModel)
	set(&g.Recount, nonZero(s.Recount))
	setList(&g.RemovalLevels, s.RemovalLevels)
}

func (t *IntraTruncation) merge(s *Truncation) {
	set(&t.RecentResults, s.RecentResults)
	set(&t.RecentLimit, s.RecentLimit)
	set(&t.OlderLimit, s.OlderLimit)
	set(&t.InactiveLimit, s.InactiveLimit)
}

func (c *IntraClear) merge(s *ClearToolUses) {
	set(&c.TriggerTokens, s.TriggerTokens)
	set(&c.Keep, s.Keep)
	set(&c.ClearAtLeastTokens, s.ClearAtLeastTokens)
	setList(&c.ExcludeTools, s.ExcludeTools)
}

// set overwrites a value with one that is there.
func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// setList overwrites a list with one that is written, be it empty. It copies: settings share nothing with the cascade.
func setList[T any](dst *[]T, src []T) {
	if src != nil {
		*dst = slices.Clone(src)
	}
}

// EffectiveTokenBudget returns the ceiling of a phase with everything decided but what the model says, or nil when there
// is none.
func (c *Cascade) EffectiveTokenBudget(p *Phase) *TokenBudget {
	if c.TokenBudget == nil {
		return nil
	}
	b := *c.TokenBudget
	own := b.PhaseOverrides[p.Name]
	b.PhaseOverrides = nil
	set(&b.MaxTotal, nonZero(own.MaxTotal))
	set(&b.ReserveForOutput, nonZero(own.ReserveForOutput))
	set(&b.Strategy, nonZero(own.Strategy))
	set(&b.WarningThreshold, nonZero(own.WarningThreshold))
	if b.Strategy == "" {
		b.Strategy = BudgetSummarize
	}
	return &b
}

func nonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
