package settings

import "time"

// InterContext is the inter_phase block: what comes into phases with the mode auto. Fields that
// are not set have their defaults; cascade.EffectiveInter merges it with a phase's context.
type InterContext struct {
	Enabled       *bool              `json:"enabled,omitempty"`
	Strategy      *SelectionStrategy `json:"strategy,omitempty"`       // short for that of Selection; a file has one of them
	SelectorModel *string            `json:"selector_model,omitempty"` // likewise
	CardModel     *string            `json:"card_model,omitempty"`
	Cards         *Cards             `json:"cards,omitempty"`
	Anchors       *Anchors           `json:"anchors,omitempty"`
	Selection     *Selection         `json:"selection,omitempty"`
}

// Cards says how the cards are made by which messages are selected.
type Cards struct {
	Enabled     *bool    `json:"enabled,omitempty"` // default: true; cards are made of the messages of every session that ClickHouse keeps
	WaitSeconds *float64 `json:"wait_seconds,omitempty"`
}

// Anchors are what comes in whatever is selected. They do not count against its budget.
type Anchors struct {
	Window     *int            `json:"window,omitempty"`
	FromPhases []string        `json:"from_phases,omitzero"` // empty: none, whatever the cascade says
	Include    []AnchorInclude `json:"include,omitzero"`     // likewise
}

// AnchorInclude is a kind of anchor, beside the newest turns.
type AnchorInclude string

// What can be an anchor.
const (
	AnchorOutput   AnchorInclude = "output"   // of the source phases
	AnchorCallouts AnchorInclude = "callouts" // messages of all phases that are marked
	AnchorInput    AnchorInclude = "input"    // of the run
	AnchorErrors   AnchorInclude = "errors"   // tool results of all phases that are errors, with their calls
)

// Selection says how messages of earlier phases are chosen.
type Selection struct {
	Strategy            *SelectionStrategy `json:"strategy,omitempty"`
	MaxTokens           *int64             `json:"max_tokens,omitempty"`
	MaxMessages         *int               `json:"max_messages,omitempty"`
	SelectorModel       *string            `json:"selector_model,omitempty"`
	RecencyWeight       *float64           `json:"recency_weight,omitempty"`
	KeywordWeight       *float64           `json:"keyword_weight,omitempty"`
	CalloutWeight       *float64           `json:"callout_weight,omitempty"`
	SimilarityThreshold *float64           `json:"similarity_threshold,omitempty"`
}

// SelectionStrategy is a way to choose messages of earlier phases.
type SelectionStrategy string

// The strategies.
const (
	StrategyHeuristic SelectionStrategy = "heuristic" // by words, with recency and callouts
	StrategySemantic  SelectionStrategy = "semantic"  // by meaning
	StrategyLLM       SelectionStrategy = "llm"       // a model chooses from a menu of summaries
	StrategyHybrid    SelectionStrategy = "hybrid"    // words and meaning choose twice the budget, then a model
)

// AsksModel reports whether the strategy has a model choose.
func (s SelectionStrategy) AsksModel() bool { return s == StrategyLLM || s == StrategyHybrid }

// Inter is [InterContext] merged with a phase's context.
type Inter struct {
	Enabled   bool // the phase selects: its context has the mode auto, and the cascade has not switched it off
	Anchors   InterAnchors
	Selection InterSelection
	Cards     InterCards
}

// InterAnchors is [Anchors] with its defaults.
type InterAnchors struct {
	Window     int      // the newest turns of each source phase, and of the phase's own last visit
	FromPhases []string // names, or [FromAll], [FromFirst], [FromPrevious]
	Include    []AnchorInclude
}

// InterSelection is [Selection] with its defaults.
type InterSelection struct {
	Strategy            SelectionStrategy
	MaxTokens           int64 // of what is chosen
	MaxMessages         int
	SelectorModel       string // "": the phase's own
	RecencyWeight       float64
	KeywordWeight       float64
	CalloutWeight       float64
	SimilarityThreshold float64 // a share of the most similar, 0 to 1
}

// InterCards is what cards are made with, in all phases.
type InterCards struct {
	Enabled bool
	Model   string        // what sums messages up; "": the sentences that say most are taken
	Wait    time.Duration // for the cards under way, before a selection
}
