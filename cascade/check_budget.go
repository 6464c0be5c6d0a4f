package cascade

import (
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade/settings"
)

type budgetRules struct{ *checker }

// checkTokenBudget checks that the ceiling leaves room for a request in every phase.
func (k budgetRules) checkTokenBudget() {
	b := k.cascade.TokenBudget
	if b == nil {
		return
	}
	at := k.root.Key("token_budget")
	k.checkOverrides(at.Key("phase_overrides"), b.PhaseOverrides)
	k.checkCeiling(at, b, "")
	k.checkThreshold(at, b, settings.MergeIntra(k.cascade.AutoContext.Intra()).Guard)
	for _, p := range k.phases {
		if _, own := b.PhaseOverrides[p.Name]; own && !p.Deterministic() {
			k.checkOverride(at.Keys("phase_overrides", p.Name), p)
		}
		k.checkAnswerFits(p)
	}
	k.checkHeld()
}

// checkHeld warns where the guard is switched off, which would hold the ceiling.
func (k budgetRules) checkHeld() {
	warn := func(at place) {
		at.NoEffect("guard", `without the guard nothing holds the "token_budget"`, "switch the guard on, or remove the token_budget")
	}
	below := false
	for _, p := range k.phases {
		switch {
		case p.Deterministic() || k.cascade.EffectiveIntra(p.Phase).Guard.Enabled:
		case p.IntraContext != nil && p.IntraContext.Guard != nil:
			warn(p.at.Key("intra_context"))
		default:
			below = true
		}
	}
	if below {
		warn(k.root.Keys("auto_context", "intra_phase"))
	}
}

// checkOverrides resolves the phases that have a ceiling of their own.
func (k budgetRules) checkOverrides(at place, overrides map[string]TokenBudgetOverride) {
	asks := make(map[string]bool, len(k.phases))
	for _, p := range k.phases {
		asks[p.Name] = asks[p.Name] || !p.Deterministic()
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		_, written := k.names.named[name]
		switch {
		case k.root.Document().Full():
			return
		case !written:
			at.KeyError(name, CodeUnknownPhase, fmt.Sprintf("%s names %q, which is no phase", describe(at), name), k.names.hint(name))
		case !asks[name]:
			at.NoEffect(name, fmt.Sprintf("phase %q runs a tool and sends no requests", name), "remove it")
		}
	}
}

// checkOverride checks what a phase's ceiling amounts to.
func (k budgetRules) checkOverride(at place, p located) {
	b := k.cascade.EffectiveTokenBudget(p.Phase)
	if at.Has("max_total") || at.Has("reserve_for_output") {
		k.checkCeiling(at, b, " for "+p.title())
	}
	if at.Has("warning_threshold") {
		k.checkThreshold(at, b, k.cascade.EffectiveIntra(p.Phase).Guard)
	}
}

// checkCeiling refuses a reserve that leaves nothing. A zero is not given, or reported elsewhere.
func (k budgetRules) checkCeiling(at place, b *TokenBudget, whose string) {
	if b.MaxTotal == 0 || b.MaxTotal > b.ReserveForOutput || !at.Intact("max_total", "reserve_for_output") {
		return
	}
	key := "reserve_for_output"
	if !at.Has(key) {
		key = "max_total"
	}
	at.Key(key).Error(CodeConflicting,
		fmt.Sprintf("the token_budget%s has a max_total of %d and a reserve_for_output of %d, which leaves nothing for the request",
			whose, b.MaxTotal, b.ReserveForOutput), "make max_total larger than reserve_for_output, by what a request needs")
}

// checkAnswerFits refuses an answer that takes the whole ceiling, where it is the reserve.
func (k budgetRules) checkAnswerFits(p located) {
	b := k.cascade.EffectiveTokenBudget(p.Phase)
	if b.ReserveForOutput > 0 || b.MaxTotal == 0 || p.MaxOutputTokens == 0 || b.MaxTotal > int64(p.MaxOutputTokens) {
		return
	}
	p.at.Key("max_output_tokens").Error(CodeConflicting,
		fmt.Sprintf("the token_budget has a max_total of %d and max_output_tokens of %s is %d, which leaves nothing for the request",
			b.MaxTotal, p.title(), p.MaxOutputTokens), "lower max_output_tokens, or set reserve_for_output")
}

// checkThreshold warns of a warning that comes after the guard has acted.
func (k budgetRules) checkThreshold(at place, b *TokenBudget, g IntraGuard) {
	share := 100 * b.WarningThreshold
	if b.Strategy == BudgetFail || share <= float64(g.CompactPercent) || !at.Intact("warning_threshold") {
		return
	}
	at.NoEffect("warning_threshold",
		fmt.Sprintf("a warning at %g %% comes too late: the guard makes room at %d %% (compact_percent)", share, g.CompactPercent),
		fmt.Sprintf("set warning_threshold to %g or less", float64(g.CompactPercent)/100))
}
