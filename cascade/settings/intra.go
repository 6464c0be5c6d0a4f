package settings

// AutoContext says how windlass chooses what a model is sent.
type AutoContext struct {
	IntraPhase *IntraContext `json:"intra_phase,omitempty"`
	InterPhase *InterContext `json:"inter_phase,omitempty"`
}

// IntraContext is what becomes of older messages inside a phase. Fields that are not set inherit
// from the cascade, then from the defaults (cascade.EffectiveIntra).
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
	Dedupe                *bool          `json:"dedupe,omitempty"`
	ExcludeTools          []string       `json:"exclude_tools,omitzero"` // empty: none, whatever the cascade says
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

// Truncation cuts tool results, by how recent they are, to limits in characters. In a file it is
// an object, or a boolean for Enabled alone.
type Truncation struct {
	Enabled       *bool `json:"enabled,omitempty"` // default: true where the block is written
	RecentResults *int  `json:"recent_results,omitempty"`
	RecentLimit   *int  `json:"recent_limit,omitempty"`
	OlderLimit    *int  `json:"older_limit,omitempty"`
	InactiveLimit *int  `json:"inactive_limit,omitempty"`
}

// ClearToolUses masks the oldest tool results when a request grows past a number of tokens. In a
// file it is an object or a boolean, as [Truncation]; sizes may have the form of a provider, an [Amount].
type ClearToolUses struct {
	Enabled            *bool    `json:"enabled,omitempty"` // default: true where the block is written
	TriggerTokens      *int64   `json:"trigger_tokens,omitempty"`
	Keep               *int     `json:"keep,omitempty"`
	ClearAtLeastTokens *int64   `json:"clear_at_least_tokens,omitempty"`
	ExcludeTools       []string `json:"exclude_tools,omitzero"` // beside those of IntraContext

	Trigger      *Amount `json:"trigger,omitempty"`        // TriggerTokens in the form of a provider; nil once it is read
	ClearAtLeast *Amount `json:"clear_at_least,omitempty"` // ClearAtLeastTokens in that form; nil once it is read
}

// Amount is a number with what it counts, as the context management of a provider's API writes it.
type Amount struct {
	Type  string `json:"type"` // input_tokens, or tool_uses of what is kept
	Value int64  `json:"value"`
}

// The types of amounts.
const (
	InputTokens = "input_tokens"
	ToolUses    = "tool_uses"
)

// Guard keeps requests below the model's window; percentages are of it less the reserve for the
// answer. In a file it is an object or a boolean, as [Truncation].
type Guard struct {
	Enabled            *bool   `json:"enabled,omitempty"`
	WarnPercent        *int    `json:"warn_percent,omitempty"`
	CompactPercent     *int    `json:"compact_percent,omitempty"`
	TargetPercent      *int    `json:"target_percent,omitempty"`
	CompactAtTokens    *int64  `json:"compact_at_tokens,omitempty"` // 0: none, whatever the cascade says
	RemovalLevels      []int   `json:"removal_levels,omitzero"`
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

// TokenBudget is a lower ceiling than the model's window for every request. Sizes are in tokens.
type TokenBudget struct {
	MaxTotal         int64                          `json:"max_total,omitempty"`          // of a request and its answer; where the block does not say it, DefaultMaxTotal
	ReserveForOutput int64                          `json:"reserve_for_output,omitempty"` // of MaxTotal; 0: the model's reserve for the answer
	Strategy         BudgetStrategy                 `json:"strategy,omitempty"`           // default summarize
	WarningThreshold float64                        `json:"warning_threshold,omitempty"`  // a share, such as 0.8; default: the guard's warn_percent
	PhaseOverrides   map[string]TokenBudgetOverride `json:"phase_overrides,omitempty"`    // by phase
	Summarizer       *Summarizer                    `json:"summarizer,omitempty"`
}

// DefaultMaxTotal is the ceiling of a token_budget that names none.
const DefaultMaxTotal = 100_000

// Summarizer says how older messages are summed up to keep a [TokenBudget].
type Summarizer struct {
	Model      string `json:"model,omitempty"`       // default: summarizer_model of the guard, else the phase's own
	TargetSize int64  `json:"target_size,omitempty"` // of a summary, in tokens; 0: a tenth of the request
}

// TokenBudgetOverride is a [TokenBudget] of one phase. A field that is not set inherits.
// In a file it is an object, or a number for MaxTotal alone.
type TokenBudgetOverride struct {
	MaxTotal         int64          `json:"max_total,omitempty"`
	ReserveForOutput int64          `json:"reserve_for_output,omitempty"`
	Strategy         BudgetStrategy `json:"strategy,omitempty"`
	WarningThreshold float64        `json:"warning_threshold,omitempty"`
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

// Intra is [IntraContext] with its defaults. Sizes are in characters, ages in turns.
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
	Dedupe            bool // of results with equal content only the newest stays
	ExcludeTools      []string
	CompressLoops     bool
	LoopHistoryLimit  int // attempts
	LoopOutputLimit   int
	Truncation        *IntraTruncation // nil: off
	ClearToolUses     *IntraClear      // nil: off
	Guard             IntraGuard
}

// IntraTruncation is [Truncation] with its defaults.
type IntraTruncation struct{ RecentResults, RecentLimit, OlderLimit, InactiveLimit int }

// IntraClear is [ClearToolUses] with its defaults.
type IntraClear struct {
	TriggerTokens, ClearAtLeastTokens int64
	Keep                              int
	ExcludeTools                      []string
}

// IntraGuard is [Guard] with its defaults.
type IntraGuard struct {
	Enabled                                    bool
	WarnPercent, CompactPercent, TargetPercent int
	CompactAtTokens                            int64 // 0: none
	RemovalLevels                              []int // percent, rising
	KeepRecentMessages                         int
	SummarizerModel                            string // "": the phase's own
	Recount                                    Recount
}
