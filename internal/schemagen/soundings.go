package schemagen

import (
	"github.com/invopop/jsonschema"

	"github.com/windlass-run/windlass/cascade/soundings"
)

// The defaults of soundings.
var (
	noSoundings               = &soundings.Soundings{}
	leastPairs, mostPairs     = noSoundings.Pairs()
	noHuman                   = &soundings.HumanEval{}
	qualityWeight, costWeight = (&soundings.CostAware{}).Weights()
)

const (
	manyPairs = "1000"
	manySteps = "100"
	judgeSees = " A template: it sees the variables of the phase, candidates, a list of {label, text}, and task."
)

var soundingFields = map[string]field{
	"factor":         {text: "The number of candidates, 2 to 64; 1 is no sounding. By default the number of models.", min: "1", max: "64", examples: []any{3}},
	"max_parallel":   {text: "How many candidates run at a time.", def: noSoundings.Parallel(), min: "1", max: manyParallel},
	"models":         {text: "The models of the candidates: a list of names, or an object from names to settings. The phase's own model does not override them.", examples: []any{[]string{"gpt-5-mini", "claude-haiku-4-5"}, map[string]any{"gpt-5-mini": map[string]any{"factor": 2}, "claude-haiku-4-5": map[string]any{"factor": 1, "temperature": 0.2}}}},
	"model_strategy": {text: "Which candidate gets which model: round_robin in turn, random by chance that the session decides, weighted in proportion to the factors of the models.", def: soundings.RoundRobin},

	"mutate":         {text: "Whether the instructions of the candidates differ; those of the first one never change. By default they do when mutation_mode or mutations is given."},
	"mutation_mode":  {text: "How the instructions differ: rewrite has a model rewrite the rendered instructions as the entry says, augment puts the entry before them, approach after them, under a label.", def: noSoundings.MutatesBy()},
	"mutations":      {text: "The entries: texts, no templates. Candidate i, counted from 0, gets entry (i-1) mod n. By default eight built-in ones of the mode.", minItems: 1, examples: []any{[]string{"Begin with the simplest solution.", "Begin with the hardest requirement."}}},
	"rewrite_model":  {text: "With the mode rewrite: the model that rewrites; by default the model of the run.", examples: []any{"gpt-5-nano"}},
	"winner_history": {text: "With the mode rewrite: how many earlier rewrites that have won the model is shown.", def: noSoundings.Winners(), min: "0", max: "64"},

	"validator":     {text: "A free check before the judging, as in loop_until. What it rejects is not judged; when it rejects all, all are judged.", pattern: notEmpty, examples: []any{"command:go test ./...", "min_words:100"}},
	"output_schema": {text: "A free check before the judging: a JSON Schema of the answer. What does not match is not judged; when none matches, all are judged."},

	"mode":                    {text: "What becomes of the candidates: evaluate keeps one, aggregate writes one answer from all.", def: soundings.Evaluate},
	"aggregator_model":        {text: "With the mode aggregate: the model that writes the answer; by default the model of the run.", examples: []any{"gpt-5"}},
	"aggregator_instructions": {text: "With the mode aggregate: how the answer is written; without it the answers are joined under headings." + judgeSees},

	"evaluator":              {text: "Who chooses: the model, a person (human), or a person among those that the model leaves (hybrid).", def: soundings.ByModel},
	"human_eval":             {text: "How a person chooses, where one does.", examples: []any{map[string]any{"selection_mode": "rank_all", "timeout_seconds": 86400, "on_timeout": "llm_fallback"}}},
	"llm_prefilter":          {text: "With the evaluator hybrid: how many candidates the model leaves to a person.", def: soundings.DefaultPrefilter, min: "2", max: "64"},
	"evaluator_model":        {text: "The model that judges; by default the model of the run.", examples: []any{"gpt-5"}},
	"evaluator_instructions": {text: "By what the answers are judged." + judgeSees, examples: []any{"Which answer is complete, correct and easy to follow?"}},
	"ballots":                {text: "How much is judged. The unit is a pair of ballots: one order of the answers and its reverse.", examples: []any{map[string]any{"max": 6, "confidence": 0.8}}},
	"on_tie":                 {text: "Which candidate is kept when none has enough confidence, of those that are not beaten: the cheapest, the first, or the one that a person chooses (human).", def: noSoundings.Tie()},
	"cost_aware_evaluation":  {text: "Chooses by quality and cost together.", examples: []any{map[string]any{"quality_weight": 0.8, "cost_weight": 0.2}}},
	"pareto_frontier":        {text: "Chooses among the candidates that no other one beats in quality and cost.", examples: []any{map[string]any{"policy": "prefer_cheap"}}},
	"adaptive":               {text: "Begins with few candidates, and adds one while there is no winner and the budget covers one more and its judging.", examples: []any{map[string]any{"min": 2, "max": 6}}},
	"reforge":                {text: "Refines the best answer in steps.", examples: []any{map[string]any{"steps": 2, "honing_prompt": "Make it shorter without losing a fact."}}},
}

var modelFields = map[string]field{
	"factor":            {text: "How many candidates get this model. The factors of all models add up to factor; with the strategy weighted they are proportions.", min: "1", max: "64"},
	"temperature":       {text: "The sampling temperature of these candidates; by default that of the phase.", min: "0", max: "2"},
	"max_output_tokens": {text: "The most tokens of one answer of these candidates; by default those of the phase.", min: "1", max: manyTokens},
}

var ballotFields = map[string]field{
	"min":        {text: "The pairs of ballots before the first decision.", def: leastPairs, min: "1", max: manyPairs},
	"max":        {text: "The most pairs of ballots. Without a winner by then it is a tie.", def: mostPairs, min: "1", max: manyPairs},
	"confidence": {text: "How sure a choice has to be, above 0.5 and below 1: at 0.9 at most one in ten choices among equal answers names a winner.", def: noSoundings.Confidence(), above: "0.5", below: "1"},
}

var costFields = map[string]field{
	"quality_weight":          {text: "How much quality counts. Only the proportion of the two weights matters.", def: qualityWeight, min: "0", max: manyWeight},
	"cost_weight":             {text: "How much it counts that an answer was cheap.", def: costWeight, min: "0", max: manyWeight},
	"show_costs_to_evaluator": {text: "Whether the judge is shown what each answer has cost.", def: false},
	"cost_normalization":      {text: "How costs become numbers that can be weighed.", def: (&soundings.CostAware{}).Normalized()},
}

var paretoFields = map[string]field{
	"policy":        {text: "Which candidate of the frontier is kept: balanced, prefer_cheap, prefer_quality, or the one that a person chooses (interactive).", def: (&soundings.Pareto{}).Prefers()},
	"show_frontier": {text: "Whether the frontier is shown with the choice.", def: false},
}

var humanEvalFields = map[string]field{
	"presentation":      {text: "How a page shows the candidates: beside each other, one at a time, or by what differs.", def: noHuman.Shows()},
	"selection_mode":    {text: "How a person chooses: picks one, puts all in order, or rates each from 1 to 5.", def: noHuman.Selects()},
	"show_metadata":     {text: "Whether the model, the cost and the tokens of each candidate are shown.", def: false},
	"show_mutations":    {text: "Whether it is shown how the instructions of each candidate differ.", def: false},
	"allow_reject_all":  {text: "With pick_one: whether none can be picked, which fails the phase. A step of refinement always has the best answer so far.", def: noHuman.Rejects()},
	"allow_tie":         {text: "With pick_one: whether a tie can be picked, which on_tie decides.", def: false},
	"require_reasoning": {text: "Whether the answer needs a reason.", def: false},
	"timeout_seconds":   {text: "After how many seconds the wait ends without a choice. Without it the wait has no end.", above: "0", max: manyWait, examples: []any{86400}},
	"on_timeout":        {text: "What follows when nobody chooses in time: the model chooses, the first candidate is kept, or the phase fails.", def: soundings.LLMFallback},
}

var adaptiveFields = map[string]field{
	"min": {text: "The candidates at the beginning.", def: soundings.DefaultAdaptiveMin, min: "2", max: "64"},
	"max": {text: "The most candidates; by default factor.", min: "2", max: "64"},
}

var reforgeFields = map[string]field{
	"steps":              {text: "The most steps.", def: soundings.DefaultSteps, min: "1", max: manySteps},
	"honing_prompt":      {text: "What is to be made better: a text, no template.", examples: []any{"Make it shorter without losing a fact."}},
	"factor_per_step":    {text: "The candidates of one step.", def: soundings.DefaultPerStep, min: "1", max: "64"},
	"mutate":             {text: "Whether the instructions of the candidates of a step differ, as mutation_mode and mutations say.", def: false},
	"evaluator_override": {text: "The evaluator_instructions of the steps." + judgeSees},
	"threshold":          {text: "A validator, or a ward: the refinement ends when the best answer passes it.", examples: []any{"min_words:300"}},
	"patience":           {text: "After how many steps in a row without a better answer the refinement ends.", def: soundings.DefaultPatience, min: "1", max: manySteps},
}

// addSoundings adds the forms that package soundings decodes by hand.
func addSoundings(set func(def, key string, forms ...*jsonschema.Schema), list func(*jsonschema.Schema) *jsonschema.Schema, ref func(string) *jsonschema.Schema) {
	names := list(&jsonschema.Schema{Type: "string"})
	one := uint64(1)
	names.MinItems = &one
	set("Soundings", "models", names, &jsonschema.Schema{Type: "object", AdditionalProperties: ref("Model"), MinProperties: &one})
	set("Reforge", "threshold", &jsonschema.Schema{Type: "string", Pattern: notEmpty}, ref("Ward"))
}
