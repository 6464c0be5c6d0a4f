package settings

import (
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade/document"
)

// BudgetPhase is what the rules of a token budget look at of a phase.
type BudgetPhase struct {
	Name            string
	At              document.Place
	AsksNobody      bool // it runs a tool, and sends no requests
	Own             bool // it has a guard of its own
	Guard           IntraGuard
	MaxOutputTokens int
}

// Budgeted is a cascade with a token budget.
type Budgeted struct {
	Root   document.Place
	Guard  IntraGuard // of the cascade
	Phases []BudgetPhase
	Named  func(phase string) bool   // whether the file has a phase of this name
	Hint   func(phase string) string // which one was perhaps meant
}

// Check checks that the ceiling leaves room for a request in every phase.
func (b *TokenBudget) Check(c *Budgeted) {
	if b == nil {
		return
	}
	at := c.Root.Key("token_budget")
	c.checkOverrides(at.Key("phase_overrides"), b.PhaseOverrides)
	b.checkCeiling(at, "")
	b.checkThreshold(at, c.Guard)
	for _, p := range c.Phases {
		if _, own := b.PhaseOverrides[p.Name]; own && !p.AsksNobody {
			b.checkOverride(at.Keys("phase_overrides", p.Name), &p)
		}
		b.checkAnswerFits(&p)
	}
	c.checkHeld()
}

// checkHeld warns where the guard is switched off, which would hold the ceiling.
func (c *Budgeted) checkHeld() {
	warn := func(at document.Place) {
		at.NoEffect("guard", `without the guard nothing holds the "token_budget"`, "switch the guard on, or remove the token_budget")
	}
	below := false
	for _, p := range c.Phases {
		switch {
		case p.AsksNobody || p.Guard.Enabled:
		case p.Own:
			warn(p.At.Key("intra_context"))
		default:
			below = true
		}
	}
	if below {
		warn(c.Root.Keys("auto_context", "intra_phase"))
	}
}

// checkOverrides resolves the phases that have a ceiling of their own.
func (c *Budgeted) checkOverrides(at document.Place, overrides map[string]TokenBudgetOverride) {
	asks := make(map[string]bool, len(c.Phases))
	for _, p := range c.Phases {
		asks[p.Name] = asks[p.Name] || !p.AsksNobody
	}
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		switch {
		case c.Root.Document().Full():
			return
		case !c.Named(name):
			at.KeyError(name, document.CodeUnknownPhase, fmt.Sprintf("%s names %q, which is no phase", at.Describe(), name), c.Hint(name))
		case !asks[name]:
			at.NoEffect(name, fmt.Sprintf("phase %q runs a tool and sends no requests", name), "remove it")
		}
	}
}

// checkOverride checks what a phase's ceiling amounts to.
func (b *TokenBudget) checkOverride(at document.Place, p *BudgetPhase) {
	own := b.For(p.Name)
	if at.Has("max_total") || at.Has("reserve_for_output") {
		own.checkCeiling(at, " for "+p.At.Describe())
	}
	if at.Has("warning_threshold") {
		own.checkThreshold(at, p.Guard)
	}
}

// checkCeiling refuses a reserve that leaves nothing. A zero is not given, or reported elsewhere.
func (b *TokenBudget) checkCeiling(at document.Place, whose string) {
	if b.MaxTotal == 0 || b.MaxTotal > b.ReserveForOutput || !at.Intact("max_total", "reserve_for_output") {
		return
	}
	key := "reserve_for_output"
	if !at.Has(key) {
		key = "max_total"
	}
	at.Key(key).Error(document.CodeConflicting,
		fmt.Sprintf("the token_budget%s has a max_total of %d and a reserve_for_output of %d, which leaves nothing for the request",
			whose, b.MaxTotal, b.ReserveForOutput), "make max_total larger than reserve_for_output, by what a request needs")
}

// checkAnswerFits refuses an answer that takes the whole ceiling, where it is the reserve.
func (b *TokenBudget) checkAnswerFits(p *BudgetPhase) {
	own := b.For(p.Name)
	if own.ReserveForOutput > 0 || own.MaxTotal == 0 || p.MaxOutputTokens == 0 || own.MaxTotal > int64(p.MaxOutputTokens) {
		return
	}
	p.At.Key("max_output_tokens").Error(document.CodeConflicting,
		fmt.Sprintf("the token_budget has a max_total of %d and max_output_tokens of %s is %d, which leaves nothing for the request",
			own.MaxTotal, p.At.Describe(), p.MaxOutputTokens), "lower max_output_tokens, or set reserve_for_output")
}

// checkThreshold warns of a warning that comes after the guard has acted.
func (b *TokenBudget) checkThreshold(at document.Place, g IntraGuard) {
	share := 100 * b.WarningThreshold
	if b.Strategy == BudgetFail || share <= float64(g.CompactPercent) || !at.Intact("warning_threshold") {
		return
	}
	at.NoEffect("warning_threshold",
		fmt.Sprintf("a warning at %g %% comes too late: the guard makes room at %d %% (compact_percent)", share, g.CompactPercent),
		fmt.Sprintf("set warning_threshold to %g or less", float64(g.CompactPercent)/100))
}
