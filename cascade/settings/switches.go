package settings

// SwitchedOff is what somebody has switched off of auto_context, over what any cascade says.
type SwitchedOff struct {
	IntraPhase   bool `json:"intra_phase,omitempty"`   // full history is sent, under the guard
	Cards        bool `json:"cards,omitempty"`         // no cards are made
	InterPhase   bool `json:"inter_phase,omitempty"`   // only what context.from names comes into phases
	LLMSelection bool `json:"llm_selection,omitempty"` // no model chooses: the strategy is heuristic
}

// Intra returns the settings for the context inside a phase that are left.
func (o SwitchedOff) Intra(in Intra) Intra {
	in.Enabled = in.Enabled && !o.IntraPhase
	return in
}

// Inter returns the settings for the context between phases that are left.
func (o SwitchedOff) Inter(in Inter) Inter {
	in.Enabled = in.Enabled && !o.InterPhase
	if o.LLMSelection && in.Selection.Strategy.AsksModel() {
		in.Selection.Strategy = StrategyHeuristic
	}
	return in
}
