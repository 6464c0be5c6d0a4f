package cascade

import "github.com/windlass-run/windlass/cascade/settings"

// checkTokenBudget holds the budget of the cascade against its phases.
func (k *checker) checkTokenBudget() {
	if k.cascade.TokenBudget == nil {
		return
	}
	c := &settings.Budgeted{
		Root: k.root, Guard: settings.MergeIntra(k.cascade.AutoContext.Intra()).Guard, Phases: make([]settings.BudgetPhase, len(k.phases)),
		Named: func(phase string) bool { _, written := k.names.named[phase]; return written },
		Hint:  func(phase string) string { return k.names.hint(phase) },
	}
	for i, p := range k.phases {
		c.Phases[i] = settings.BudgetPhase{
			Name: p.Name, At: p.at, AsksNobody: p.Deterministic(), Own: p.IntraContext != nil && p.IntraContext.Guard != nil,
			Guard: k.cascade.EffectiveIntra(p.Phase).Guard, MaxOutputTokens: p.MaxOutputTokens,
		}
	}
	k.cascade.TokenBudget.Check(c)
}
