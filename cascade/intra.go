package cascade

// AutoContext says how windlass chooses what a model is sent.
type AutoContext struct {
	IntraPhase *IntraContext `json:"intra_phase,omitempty"`
}

// IntraContext says what becomes of older messages inside a phase, as it is written in a file: a field that is not set
// inherits, from the cascade and then from the defaults. [Cascade.EffectiveIntra] puts it together.
type IntraContext struct {
	Enabled               *bool          `json:"enabled,omitempty"`
	Window                *int           `json:"window,omitempty"`
	MaskObservationsAfter *int           `json:"mask_observations_after,omitempty"`
	MinMaskedSize         *int           `json:"min_masked_size,omitempty"`
	Advance               *Advance       `json:"advance,omitempty"`
	StepTurns             *int           `json:"step_turns,omitempty"`
	PreserveReasoning     *bool          `json:"preserve_reasoning,omitempty"`
	ReasoningLimit        *int           `json:"reasoning_limit,omitempty"`
	PreserveErrors        *bool          `json:"preserve_errors,omitempty"`
	ExcludeTools          []string       `json:"exclude_tools,omitempty"`
	CompressLoops         *bool          `json:"compress_loops,omitempty"`
	LoopHistoryLimit      *int           `json:"loop_history_limit,omitempty"`
	LoopOutputLimit       *int           `json:"loop_output_limit,omitempty"`
	Truncation            *Truncation    `json:"truncation,omitempty"`
	ClearToolUses         *ClearToolUses `json:"clear_tool_uses,omitempty"`
	Guard                 *Guard         `json:"guard,omitempty"`
}

// Advance says when old tool results are masked.
type Advance string

// The ways to advance.
const (
	AdvanceCost      Advance = "cost"       // when it pays, by the prices of the model
	AdvanceEveryTurn Advance = "every_turn" // as soon as a result is old enough
	AdvanceStep      Advance = "step"       // every step_turns turns
)

// Truncation cuts tool results by how recent they are, keeping their beginnings and ends. Limits are in characters.
type Truncation struct {
	RecentResults *int `json:"recent_results,omitempty"`
	RecentLimit   *int `json:"recent_limit,omitempty"`
	OlderLimit    *int `json:"older_limit,omitempty"`
	InactiveLimit *int `json:"inactive_limit,omitempty"`
}

// ClearToolUses masks the oldest tool results when a request grows past a number of tokens.
type ClearToolUses struct {
	TriggerTokens      *int64   `json:"trigger_tokens,omitempty"`
	Keep               *int     `json:"keep,omitempty"`
	ClearAtLeastTokens *int64   `json:"clear_at_least_tokens,omitempty"`
	ExcludeTools       []string `json:"exclude_tools,omitempty"`
}

// Guard keeps requests below the model's window. Percentages are of what a request may have: the window less the reserve
// for the answer.
type Guard struct {
	Enabled            *bool   `json:"enabled,omitempty"`
	WarnPercent        *int    `json:"warn_percent,omitempty"`
	CompactPercent     *int    `json:"compact_percent,omitempty"`
	TargetPercent      *int    `json:"target_percent,omitempty"`
	RemovalLevels      []int   `json:"removal_levels,omitempty"`
	KeepRecentMessages *int    `json:"keep_recent_messages,omitempty"`
	SummarizerModel    *string `json:"summarizer_model,omitempty"`
	Recount            Recount `json:"recount,omitempty"`
}

// Recount says how the guard counts before it acts.
type Recount string

// The ways to count.
const (
	RecountTokenizer Recount = "tokenizer" // the default: the model family's tokenizer, or an estimate
	RecountProbe     Recount = "probe"     // a minimal call to the provider, which counts exactly
)

// TokenBudget is a lower ceiling than the model's window for every request.
type TokenBudget struct {
	MaxTotal         int64                  `json:"max_total"`
	ReserveForOutput int64                  `json:"reserve_for_output,omitempty"`
	Strategy         BudgetStrategy         `json:"strategy,omitempty"`          // default summarize
	WarningThreshold float64                `json:"warning_threshold,omitempty"` // a share, such as 0.8; default: the guard's warn_percent
	PhaseOverrides   map[string]TokenBudget `json:"phase_overrides,omitempty"`   // by phase; a field that is not set inherits
}

// BudgetStrategy says what makes room when a request comes near its ceiling.
type BudgetStrategy string

// The strategies.
const (
	BudgetSummarize     BudgetStrategy = "summarize"      // the guard's steps: mask, remove from the middle outward, compact
	BudgetPruneOldest   BudgetStrategy = "prune_oldest"   // mask, remove the oldest tool results first, then leave out the oldest turns
	BudgetSlidingWindow BudgetStrategy = "sliding_window" // mask, then leave out the oldest turns
	BudgetFail          BudgetStrategy = "fail"           // nothing: the phase fails
)

// Intra is [IntraContext] with everything decided. Sizes are in characters unless they say otherwise, ages in turns.
type Intra struct {
	Enabled           bool
	Window            int // the newest turns, untouched by stubs and trims
	MaskAfter         int // tool results older than this may be masked
	MinMaskedSize     int
	Advance           Advance
	StepTurns         int
	PreserveReasoning bool
	ReasoningLimit    int
	PreserveErrors    bool
	ExcludeTools      []string
	CompressLoops     bool
	LoopHistoryLimit  int // attempts
	LoopOutputLimit   int
	Truncation        *IntraTruncation // nil: off
	ClearToolUses     *IntraClear      // nil: off
	Guard             IntraGuard
}

// IntraTruncation is [Truncation] with everything decided.
type IntraTruncation struct{ RecentResults, RecentLimit, OlderLimit, InactiveLimit int }

// IntraClear is [ClearToolUses] with everything decided.
type IntraClear struct {
	TriggerTokens, ClearAtLeastTokens int64
	Keep                              int
	ExcludeTools                      []string
}

// IntraGuard is [Guard] with everything decided.
type IntraGuard struct {
	Enabled                                    bool
	WarnPercent, CompactPercent, TargetPercent int
	RemovalLevels                              []int // percent, rising
	KeepRecentMessages                         int
	SummarizerModel                            string // "": the phase's own
	Recount                                    Recount
}

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

// EffectiveIntra returns the settings of a phase: its own, over those of the cascade, over the defaults. Without either
// block they are not enabled, and only the guard applies.
func (c *Cascade) EffectiveIntra(p *Phase) Intra {
	in := DefaultIntra()
	in.Enabled = false
	if c.AutoContext != nil {
		in.merge(c.AutoContext.IntraPhase)
	}
	in.merge(p.IntraContext)
	return in
}

// merge puts what is set in s over in. A block that is present enables the settings unless it says otherwise.
func (in *Intra) merge(s *IntraContext) {
	if s == nil {
		return
	}
	in.Enabled = true
	set(&in.Enabled, s.Enabled)
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
	if s.ExcludeTools != nil {
		in.ExcludeTools = s.ExcludeTools
	}
	in.Truncation = mergeTruncation(in.Truncation, s.Truncation)
	in.ClearToolUses = mergeClear(in.ClearToolUses, s.ClearToolUses)
	in.Guard.merge(s.Guard)
}

func (g *IntraGuard) merge(s *Guard) {
	if s == nil {
		return
	}
	set(&g.Enabled, s.Enabled)
	set(&g.WarnPercent, s.WarnPercent)
	set(&g.CompactPercent, s.CompactPercent)
	set(&g.TargetPercent, s.TargetPercent)
	set(&g.KeepRecentMessages, s.KeepRecentMessages)
	set(&g.SummarizerModel, s.SummarizerModel)
	if s.RemovalLevels != nil {
		g.RemovalLevels = s.RemovalLevels
	}
	if s.Recount != "" {
		g.Recount = s.Recount
	}
}

func mergeTruncation(over *IntraTruncation, s *Truncation) *IntraTruncation {
	if s == nil {
		return over
	}
	t := IntraTruncation{RecentResults: 5, RecentLimit: 5000, OlderLimit: 1000, InactiveLimit: 300}
	if over != nil {
		t = *over
	}
	set(&t.RecentResults, s.RecentResults)
	set(&t.RecentLimit, s.RecentLimit)
	set(&t.OlderLimit, s.OlderLimit)
	set(&t.InactiveLimit, s.InactiveLimit)
	return &t
}

func mergeClear(over *IntraClear, s *ClearToolUses) *IntraClear {
	if s == nil {
		return over
	}
	c := IntraClear{TriggerTokens: 100_000, Keep: 3, ClearAtLeastTokens: 5000}
	if over != nil {
		c = *over
	}
	set(&c.TriggerTokens, s.TriggerTokens)
	set(&c.Keep, s.Keep)
	set(&c.ClearAtLeastTokens, s.ClearAtLeastTokens)
	if s.ExcludeTools != nil {
		c.ExcludeTools = s.ExcludeTools
	}
	return &c
}

// set overwrites a value with one that is there.
func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// EffectiveTokenBudget returns the ceiling of a phase with everything decided, or nil when there is none.
func (c *Cascade) EffectiveTokenBudget(p *Phase) *TokenBudget {
	if c.TokenBudget == nil {
		return nil
	}
	b := *c.TokenBudget
	own, ok := b.PhaseOverrides[p.Name]
	b.PhaseOverrides = nil
	if ok {
		b.override(own)
	}
	if b.Strategy == "" {
		b.Strategy = BudgetSummarize
	}
	return &b
}

func (b *TokenBudget) override(own TokenBudget) {
	set(&b.MaxTotal, nonZero(own.MaxTotal))
	set(&b.ReserveForOutput, nonZero(own.ReserveForOutput))
	set(&b.Strategy, nonZero(own.Strategy))
	set(&b.WarningThreshold, nonZero(own.WarningThreshold))
}

func nonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
