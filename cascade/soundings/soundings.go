// Package soundings has the settings of several tries of a phase, or of a cascade, of which one is kept:
// as a file has them, and their defaults.
package soundings

import "encoding/json"

// Soundings are several tries, of which one is kept. Use the methods: they know the defaults.
type Soundings struct {
	Factor        *int          `json:"factor,omitempty"` // candidates, 2 to 64; 1 is no sounding; default: the number of models
	MaxParallel   int           `json:"max_parallel,omitempty"`
	Models        Models        `json:"models,omitzero"`
	ModelStrategy ModelStrategy `json:"model_strategy,omitempty"`

	Mutate        *bool        `json:"mutate,omitempty"` // default: whether mutation_mode or mutations is given
	MutationMode  MutationMode `json:"mutation_mode,omitempty"`
	Mutations     []string     `json:"mutations,omitempty"`
	RewriteModel  string       `json:"rewrite_model,omitempty"`
	WinnerHistory *int         `json:"winner_history,omitempty"` // earlier winning rewrites that a rewrite is shown

	Validator    string          `json:"validator,omitempty"`     // a free check, as in loop_until
	OutputSchema json.RawMessage `json:"output_schema,omitempty"` // a free check

	Mode                   Mode   `json:"mode,omitempty"`
	AggregatorModel        string `json:"aggregator_model,omitempty"`
	AggregatorInstructions string `json:"aggregator_instructions,omitempty"`

	Evaluator             Evaluator  `json:"evaluator,omitempty"`
	EvaluatorModel        string     `json:"evaluator_model,omitempty"`
	EvaluatorInstructions string     `json:"evaluator_instructions,omitempty"` // a template
	HumanEval             *HumanEval `json:"human_eval,omitempty"`
	Prefilter             int        `json:"llm_prefilter,omitempty"` // of hybrid: how many a person chooses from
	Ballots               *Ballots   `json:"ballots,omitempty"`
	OnTie                 OnTie      `json:"on_tie,omitempty"`
	CostAware             *CostAware `json:"cost_aware_evaluation,omitempty"`
	Pareto                *Pareto    `json:"pareto_frontier,omitempty"`
	Adaptive              *Adaptive  `json:"adaptive,omitempty"`
	Reforge               *Reforge   `json:"reforge,omitempty"`
}

// Bounds and defaults.
const (
	MinFactor            = 2
	MaxFactor            = 64
	DefaultMaxParallel   = 3
	DefaultWinnerHistory = 5
	DefaultConfidence    = 0.9
	DefaultMinPairs      = 3  // what the measured table of docs/soundings.md supports
	DefaultMaxPairs      = 12 // likewise
	DefaultSteps         = 1
	DefaultPerStep       = 2
	DefaultPatience      = 1
	DefaultAdaptiveMin   = 2
	DefaultQualityWeight = 0.7
	DefaultCostWeight    = 0.3
	DefaultPrefilter     = 2
)

// RefinementInput is the input by which a whole run of a step of refinement gets {best, prompt, step}. No
// inputs_schema keeps it out.
const RefinementInput = "_refinement_context"

// Models are the models of the candidates. In a file they are a list of names, or an object from
// names to settings, which are kept in the order of the file.
type Models []Model

// Model is one of them.
type Model struct {
	Name            string   `json:"-"`
	Factor          int      `json:"factor,omitempty"` // candidates that it gets; 0: as the strategy says
	Temperature     *float64 `json:"temperature,omitempty"`
	MaxOutputTokens int      `json:"max_output_tokens,omitempty"`
}

// ModelStrategy says which candidate gets which model.
type ModelStrategy string

// The strategies.
const (
	RoundRobin ModelStrategy = "round_robin"
	Random     ModelStrategy = "random" // seeded by the session
	Weighted   ModelStrategy = "weighted"
)

// MutationMode says how the instructions of a candidate differ from those of the file.
type MutationMode string

// The modes of mutation.
const (
	Rewrite  MutationMode = "rewrite"  // a model rewrites the rendered instructions
	Augment  MutationMode = "augment"  // the entry stands before the instructions
	Approach MutationMode = "approach" // the entry stands after them, under a label
)

// Mode says what becomes of the candidates.
type Mode string

// The modes.
const (
	Evaluate  Mode = "evaluate"  // one is kept
	Aggregate Mode = "aggregate" // one answer is written from all
)

// Evaluator says who chooses.
type Evaluator string

// The evaluators.
const (
	ByModel  Evaluator = "model"
	ByHuman  Evaluator = "human"
	ByHybrid Evaluator = "hybrid" // the model leaves some, and a person chooses among these
)

// Ballots bound the judging. The unit is a pair of ballots: one order of the candidates and its reverse.
type Ballots struct {
	Min        int     `json:"min,omitempty"` // pairs before the first decision
	Max        int     `json:"max,omitempty"` // pairs
	Confidence float64 `json:"confidence,omitempty"`
}

// OnTie says which candidate is kept when no candidate has enough confidence.
type OnTie string

// What a tie can lead to.
const (
	TieCheapest OnTie = "cheapest"
	TieFirst    OnTie = "first"
	TieHuman    OnTie = "human" // a person chooses
)

// CostAware has the choice look at what candidates cost, beside their quality.
type CostAware struct {
	QualityWeight        *float64      `json:"quality_weight,omitempty"`
	CostWeight           *float64      `json:"cost_weight,omitempty"`
	ShowCostsToEvaluator bool          `json:"show_costs_to_evaluator,omitempty"`
	CostNormalization    Normalization `json:"cost_normalization,omitempty"`
}

// Normalization says how costs become numbers that can be weighed against quality.
type Normalization string

// The normalizations.
const (
	MinMax   Normalization = "min_max"
	ZScore   Normalization = "z_score"
	LogScale Normalization = "log_scale"
)

// Pareto has the choice look at candidates only that no other one beats in quality and cost.
type Pareto struct {
	Policy       Policy `json:"policy,omitempty"`
	ShowFrontier bool   `json:"show_frontier,omitempty"`
}

// Policy says which candidate of the frontier is kept.
type Policy string

// The policies.
const (
	Balanced      Policy = "balanced"
	PreferCheap   Policy = "prefer_cheap"
	PreferQuality Policy = "prefer_quality"
	Interactive   Policy = "interactive" // a person chooses
)

// Adaptive begins with few candidates and adds one while there is no winner and the budget covers it.
type Adaptive struct {
	Min int `json:"min,omitempty"`
	Max int `json:"max,omitempty"`
}

// Reforge refines the best answer in steps.
type Reforge struct {
	Steps             int             `json:"steps,omitempty"`
	HoningPrompt      string          `json:"honing_prompt,omitempty"` // text, no template
	FactorPerStep     int             `json:"factor_per_step,omitempty"`
	Mutate            bool            `json:"mutate,omitempty"`
	EvaluatorOverride string          `json:"evaluator_override,omitempty"` // instructions of the judge in the steps
	Threshold         json.RawMessage `json:"threshold,omitempty"`          // a ward: its validator, or an object
	Patience          int             `json:"patience,omitempty"`
}
