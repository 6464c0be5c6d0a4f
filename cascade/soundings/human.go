package soundings

import (
	"cmp"
	"fmt"

	"github.com/windlass-run/windlass/cascade/document"
)

// HumanEval says how a person chooses among candidates, where one does. The methods know the defaults, also of nil.
type HumanEval struct {
	Presentation     Presentation  `json:"presentation,omitempty"`
	SelectionMode    SelectionMode `json:"selection_mode,omitempty"`
	ShowMetadata     bool          `json:"show_metadata,omitempty"`
	ShowMutations    bool          `json:"show_mutations,omitempty"`
	AllowRejectAll   *bool         `json:"allow_reject_all,omitempty"` // default: true
	AllowTie         bool          `json:"allow_tie,omitempty"`
	RequireReasoning bool          `json:"require_reasoning,omitempty"`
	TimeoutSeconds   float64       `json:"timeout_seconds,omitempty"` // 0: the wait has no end
	OnTimeout        OnTimeout     `json:"on_timeout,omitempty"`
}

// Presentation says how a page shows candidates.
type Presentation string

// The presentations.
const (
	SideBySide Presentation = "side_by_side"
	Tabbed     Presentation = "tabbed"
	Diff       Presentation = "diff"
)

// SelectionMode says how a person chooses.
type SelectionMode string

// The modes of selection.
const (
	PickOne  SelectionMode = "pick_one"
	RankAll  SelectionMode = "rank_all"
	RateEach SelectionMode = "rate_each"
)

// OnTimeout says what follows when nobody chooses in time.
type OnTimeout string

// What can follow.
const (
	LLMFallback  OnTimeout = "llm_fallback" // the model chooses
	FallToFirst  OnTimeout = "first"        // the first candidate is kept
	AbortTimeout OnTimeout = "abort"        // the phase fails
)

// Shows returns how a page shows candidates.
func (h *HumanEval) Shows() Presentation {
	if h == nil {
		return SideBySide
	}
	return cmp.Or(h.Presentation, SideBySide)
}

// Selects returns how a person chooses.
func (h *HumanEval) Selects() SelectionMode {
	if h == nil {
		return PickOne
	}
	return cmp.Or(h.SelectionMode, PickOne)
}

// Rejects reports whether a person may reject all candidates.
func (h *HumanEval) Rejects() bool {
	return h == nil || h.AllowRejectAll == nil || *h.AllowRejectAll
}

// Expiry returns what follows when nobody chooses in time; "": the wait has no end.
func (h *HumanEval) Expiry() OnTimeout {
	if h == nil || h.TimeoutSeconds <= 0 {
		return ""
	}
	return cmp.Or(h.OnTimeout, LLMFallback)
}

// Leaves returns how many candidates the model leaves to a person.
func (s *Soundings) Leaves() int { return cmp.Or(s.Prefilter, DefaultPrefilter) }

// AsksPerson reports whether a person may be asked to choose.
func (s *Soundings) AsksPerson() bool {
	return s.ByPerson() || s.OnTie == TieHuman || s.Pareto != nil && s.Pareto.Policy == Interactive
}

// ByPerson reports whether a person chooses in any case.
func (s *Soundings) ByPerson() bool { return s.Evaluator == ByHuman || s.Evaluator == ByHybrid }

// Judges reports whether a model may be asked to choose.
func (s *Soundings) Judges() bool {
	return !s.Aggregates() && (s.Evaluator != ByHuman || s.HumanEval.Expiry() == LLMFallback)
}

// judgeKeys are those that only a judging model looks at.
var judgeKeys = []string{"evaluator_model", "ballots", "cost_aware_evaluation"}

// checkPerson checks how a person chooses.
func (b *block) checkPerson() {
	if b.Aggregates() || !b.at.Intact("mode", "evaluator", "on_tie", "pareto_frontier", "human_eval") || b.at.Meant("evaluator") || b.at.Meant("on_tie") || b.at.Meant("human_eval") {
		return
	}
	if b.ByPerson() {
		b.checkEvaluator()
	}
	if b.Evaluator != ByHybrid && b.at.Has("llm_prefilter") {
		b.at.NoEffect("llm_prefilter", b.at.Describe()+` has no evaluator "hybrid", which would leave candidates to a person`, `set "evaluator" to "hybrid", or remove it`)
	}
	if b.at.Has("human_eval") && !b.AsksPerson() {
		b.at.NoEffect("human_eval", b.at.Describe()+": no person chooses", `set "evaluator" to "human" or "hybrid", or "on_tie" to "human", or remove it`)
	}
	if b.OnTie == TieHuman && b.CostAware != nil && !b.ByPerson() {
		b.at.NoEffect("on_tie", fmt.Sprintf(`%s: "cost_aware_evaluation" always finds a winner, so nobody is asked about a tie`, b.at.Describe()), "remove one of the two")
	}
	b.checkHumanEval()
}

// checkEvaluator checks what stands beside an evaluator that is a person.
func (b *block) checkEvaluator() {
	who := fmt.Sprintf(`%s: with "evaluator": %q`, b.at.Describe(), b.Evaluator)
	if b.at.Has("adaptive") {
		b.at.KeyError("adaptive", document.CodeConflicting, who+" a person chooses once, so nothing says when there are enough candidates", `write "factor" in place of "adaptive"`)
	}
	if b.at.Has("pareto_frontier") {
		b.at.KeyError("pareto_frontier", document.CodeConflicting, who+" a person chooses, and the frontier would choose in another way",
			`remove "evaluator" and set "policy" to "interactive", which has a person choose on the frontier, or remove "pareto_frontier"`)
	}
	if !b.Judges() {
		for _, key := range b.written(judgeKeys...) {
			b.at.NoEffect(key, fmt.Sprintf("%s no model judges, so %q is never used", who, key), `let the model choose when nobody does in time: "human_eval": {"timeout_seconds": ...}; or remove it`)
		}
	}
	if b.OnTie == TieHuman {
		b.at.NoEffect("on_tie", who+` a person has chosen before; a tie of that person goes to the cheapest candidate`, `write "cheapest" or "first", or remove it`)
	}
	if n := b.Count(); b.Evaluator == ByHybrid && b.counted() && b.at.Intact("llm_prefilter") && n >= MinFactor && b.Leaves() >= n {
		b.at.Warn(document.CodeNoEffect, fmt.Sprintf("%s leaves %d candidates to a person, and there are %d: the model never judges", b.at.Describe(), b.Leaves(), n),
			`raise "factor", lower "llm_prefilter", or set "evaluator" to "human"`)
	}
}

// checkHumanEval looks for settings that do nothing together.
func (b *block) checkHumanEval() {
	h, at := b.HumanEval, b.at.Key("human_eval")
	if h == nil || !at.Intact("selection_mode", "timeout_seconds", "on_timeout", "allow_tie", "allow_reject_all") || at.Meant("selection_mode") || at.Meant("timeout_seconds") || at.Meant("on_timeout") {
		return
	}
	if at.Has("on_timeout") && !at.Has("timeout_seconds") {
		at.NoEffect("on_timeout", at.Describe()+" waits without an end, so nothing follows", `add "timeout_seconds", or remove it`)
	}
	if h.Selects() != PickOne {
		for _, key := range at.Written("allow_tie", "allow_reject_all") {
			at.NoEffect(key, fmt.Sprintf(`%s: %q is only used with "selection_mode": "pick_one"`, at.Describe(), key), `write "selection_mode": "pick_one", or remove it`)
		}
	}
}
