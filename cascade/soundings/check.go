package soundings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/settings"
	"github.com/windlass-run/windlass/engine/election"
	"github.com/windlass-run/windlass/internal/source"
)

// Owner is what has soundings: a phase, or a cascade.
type Owner struct {
	NoModel string // why there is no model to choose and no text to change, as: phase "a" runs a tool; "": there is
	Choice  string // the key by which candidates may choose different ways; "": none does
}

// Check holds the block at a place to the rules that need only it and its owner. What it names elsewhere
// (validators, variables, files, schemas) is not looked at.
func (s *Soundings) Check(at document.Place, of Owner) {
	b := &block{s, at}
	b.checkCount(of)
	b.checkModels(of)
	b.checkAdaptive()
	b.checkMutations(of)
	b.checkMode(of)
	b.checkChoice()
	b.checkPerson()
	b.checkCost()
	b.checkReforge(of)
	b.checkTexts()
	for _, key := range []string{"rewrite_model", "aggregator_model", "evaluator_model"} {
		settings.CheckModel(at, key)
	}
}

// block is soundings with their place.
type block struct {
	*Soundings
	at document.Place
}

// counted reports whether nothing is wrong with what says how many candidates there are.
func (b *block) counted() bool {
	if !b.at.Intact("factor", "models", "adaptive") || !b.at.Key("adaptive").Intact("min", "max") {
		return false
	}
	for i := range b.Models {
		if at := b.modelAt(i); !at.Sound() || !at.Intact("factor") {
			return false
		}
	}
	return true
}

// written returns those of the keys that the file has, with a value that is not wrong by itself.
func (b *block) written(keys ...string) []string {
	return slices.DeleteFunc(b.at.Written(keys...), func(key string) bool { return !b.at.Intact(key) })
}

// modelAt is the place of a model: an element of a list, or the value of its name.
func (b *block) modelAt(i int) document.Place {
	at := b.at.Key("models")
	if n := at.Node(); n != nil && n.Kind == source.Object {
		return at.Key(b.Models[i].Name)
	}
	return at.Index(i)
}

func (b *block) checkCount(of Owner) {
	n := b.Count()
	switch {
	case !b.counted():
	case n == 0:
		hint := `write it, as "factor": 3, or name "models"`
		if of.NoModel != "" {
			hint = `write it, as "factor": 3`
		}
		if !b.at.Meant("factor") && !b.at.Meant("models") {
			b.at.Error(document.CodeMissingKey, b.at.Describe()+" does not say how many candidates there are", hint)
		}
	case n == 1:
		key := b.at.Written("factor", "models")[0]
		b.at.NoEffect(key, fmt.Sprintf("%s has one candidate, so nothing is chosen and nothing is refined: it is no sounding", b.at.Describe()), `set "factor" to 2 or more, or remove "soundings"`)
	case n > MaxFactor:
		b.at.Key("models").Error(document.CodeOutOfRange, fmt.Sprintf("%s comes to %d candidates, at most %d are possible", b.at.Key("models").Describe(), n, MaxFactor), "lower the factors, or name fewer models")
	}
}

func (b *block) checkModels(of Owner) {
	models := b.at.Key("models")
	if of.NoModel != "" {
		for _, key := range b.written("models", "model_strategy") {
			b.at.KeyError(key, document.CodeMisplacedField, fmt.Sprintf("%q is for candidates that ask a model; %s", key, of.NoModel), `remove it; write "factor"`)
		}
		return
	}
	if b.at.Has("model_strategy") && !b.at.Has("models") && !b.at.Meant("models") {
		b.at.NoEffect("model_strategy", fmt.Sprintf("%s has no models to choose from", b.at.Describe()), `add "models" or remove it`)
	}
	for i, m := range b.Models {
		if at := b.modelAt(i); strings.TrimSpace(m.Name) == "" && at.Sound() {
			at.Error(document.CodeEmptyModel, models.Describe()+" names a model of nothing", "name a model, or remove it")
		}
	}
	if b.counted() && len(b.Models) > 0 && b.Count() <= MaxFactor {
		b.checkFactors(models)
	}
}

// checkFactors holds the factors of models against the number of candidates.
func (b *block) checkFactors(models document.Place) {
	n, sum, free := b.Count(), 0, 0
	for _, m := range b.Models {
		if sum += m.Factor; m.Factor == 0 {
			free++
		}
	}
	key, said := "factor", b.at.Has("factor")
	if b.Adaptive != nil && b.Adaptive.Max > 0 {
		key, said = "adaptive.max", true
	}
	switch {
	case !said || b.ModelStrategy == Weighted || !b.at.Intact("model_strategy"):
	case sum > n || free == 0 && sum < n:
		hint := fmt.Sprintf("make them come to %d, or remove %q", n, key)
		if free > 0 {
			hint = fmt.Sprintf("make them come to less than %d, as one of the models has none, or remove %q", n, key)
		}
		models.Error(document.CodeConflicting, fmt.Sprintf("the factors of %s come to %d, and %q is %d", models.Describe(), sum, key, n), hint)
	case b.ModelStrategy != Random:
		var idle []string
		assigned := b.Assign("")
		for _, m := range b.Models {
			if !slices.Contains(assigned, m) {
				idle = append(idle, strconv.Quote(m.Name))
			}
		}
		if len(idle) > 0 {
			models.Warn(document.CodeNoEffect, fmt.Sprintf("%s has more models than there are candidates: no candidate gets %s", models.Describe(), idle[0]),
				fmt.Sprintf("raise %q, or name fewer models", key))
		}
	}
}

func (b *block) checkAdaptive() {
	at := b.at.Key("adaptive")
	if b.Adaptive == nil || !b.counted() {
		return
	}
	n := b.Count()
	switch {
	case b.Adaptive.Max > 0 && b.Factor != nil && *b.Factor != b.Adaptive.Max:
		at.Key("max").Error(document.CodeConflicting, fmt.Sprintf(`%s is %d, and "factor" is %d: both say how many candidates there are at most`, at.Key("max").Describe(), b.Adaptive.Max, *b.Factor),
			`remove "factor"`)
	case b.Adaptive.Min > n && n > 0:
		at.Key("min").Error(document.CodeConflicting, fmt.Sprintf("%s is %d, and there are at most %d candidates", at.Key("min").Describe(), b.Adaptive.Min, n),
			fmt.Sprintf(`set "min" to at most %d`, n))
	case n > 1:
		if first, _ := b.Bounds(); first == n {
			b.at.NoEffect("adaptive", fmt.Sprintf("%s begins with %d candidates, which are all that it may have", b.at.Describe(), n), `set "max" or "factor" above "min", or remove it`)
		}
	}
}

// The keys that say how instructions are changed, and those of them that only a rewrite has.
var (
	mutationKeys = []string{"mutate", "mutation_mode", "mutations", "rewrite_model", "winner_history"}
	rewriteKeys  = []string{"rewrite_model", "winner_history"}
)

func (b *block) checkMutations(of Owner) {
	if of.NoModel != "" {
		for _, key := range b.written(mutationKeys...) {
			b.at.NoEffect(key, fmt.Sprintf("%q changes instructions; %s", key, of.NoModel), "remove it; templates tell candidates apart by sounding_index")
		}
		return
	}
	if !b.at.Intact("mutate", "mutation_mode", "mutations") || !b.at.Key("reforge").Intact("mutate") {
		return
	}
	switch {
	case !b.Mutates() && (b.Reforge == nil || !b.Reforge.Mutate):
		hint := `write "mutation_mode": "rewrite", or remove it`
		if b.Mutate != nil {
			hint = `write "mutate": true, or remove it`
		}
		for _, key := range b.written(mutationKeys[1:]...) {
			b.at.NoEffect(key, fmt.Sprintf("%s: the instructions of candidates are not changed, so %q is never used", b.at.Describe(), key), hint)
		}
	case b.MutatesBy() != Rewrite:
		for _, key := range b.written(rewriteKeys...) {
			b.at.NoEffect(key, fmt.Sprintf(`%s: %q is only used with "mutation_mode": "rewrite"`, b.at.Describe(), key), `set "mutation_mode" to "rewrite" or remove it`)
		}
	}
	b.checkEntries()
}

// checkEntries looks for entries that no candidate gets.
func (b *block) checkEntries() {
	most := 0
	if b.Mutates() {
		most = b.Count() - 1
	}
	if b.Reforge != nil && b.Reforge.Mutate {
		most = max(most, b.Reforge.PerStep()-1)
	}
	if b.counted() && most > 0 && len(b.Mutations) > most {
		b.at.Key("mutations").Index(most).Warn(document.CodeNoEffect,
			fmt.Sprintf("%s has %d entries, and %d candidates beside the first one, which is unchanged: this and what follows is never used", b.at.Key("mutations").Describe(), len(b.Mutations), most),
			`raise "factor", or remove entries`)
	}
}

func (b *block) checkMode(of Owner) {
	if !b.at.Intact("mode") {
		return
	}
	if !b.Aggregates() {
		for _, key := range b.written("aggregator_model", "aggregator_instructions") {
			b.at.NoEffect(key, fmt.Sprintf(`%s: %q is only used with "mode": "aggregate"`, b.at.Describe(), key), `add "mode": "aggregate" or remove it`)
		}
		return
	}
	for _, key := range b.written("evaluator", "evaluator_model", "evaluator_instructions", "human_eval", "llm_prefilter", "ballots", "on_tie", "cost_aware_evaluation", "pareto_frontier") {
		b.at.NoEffect(key, fmt.Sprintf(`%s: with "mode": "aggregate" no candidate is chosen, so %q is never used`, b.at.Describe(), key), `write "mode": "evaluate", or remove it`)
	}
	if b.at.Has("aggregator_model") && !b.at.Has("aggregator_instructions") {
		b.at.NoEffect("aggregator_model", b.at.Describe()+" has no aggregator_instructions, so the answers are joined without a model", `add "aggregator_instructions" or remove it`)
	}
	conflict := func(key, why, hint string) {
		if b.at.Has(key) {
			b.at.KeyError(key, document.CodeConflicting, fmt.Sprintf(`%s: with "mode": "aggregate" %s`, b.at.Describe(), why), hint)
		}
	}
	conflict("adaptive", "no candidate is chosen, so nothing says when there are enough", `write "factor" in place of "adaptive"`)
	conflict("reforge", "no candidate is the best one, which could be refined", `write "mode": "evaluate", or refine in a phase after it`)
	if of.Choice != "" {
		b.at.Key("mode").Error(document.CodeConflicting, fmt.Sprintf("%s writes one answer from all candidates, and by %q each of them may choose another way", b.at.Describe(), of.Choice),
			"let a phase after it choose")
	}
}

// checkChoice checks the ballots.
func (b *block) checkChoice() {
	at := b.at.Key("ballots")
	if b.Ballots != nil && at.Intact("min", "max") && b.Ballots.Max > 0 && b.Ballots.Min > b.Ballots.Max {
		at.Key("min").Error(document.CodeConflicting, fmt.Sprintf(`%s is %d, and "max" is %d`, at.Key("min").Describe(), b.Ballots.Min, b.Ballots.Max),
			fmt.Sprintf(`set "min" to at most %d`, b.Ballots.Max))
	}
	if b.Pareto == nil && !b.Aggregates() && b.Ballots != nil && at.Sound() {
		b.checkDecides(at)
	}
	if b.Pareto == nil || b.Aggregates() {
		return
	}
	for _, key := range b.written("ballots", "adaptive") {
		b.at.NoEffect(key, fmt.Sprintf(`%s: with "pareto_frontier" answers get points and the policy always finds a winner, so %q is never used`, b.at.Describe(), key), "remove one of the two")
	}
}

// checkDecides warns of so few pairs of ballots that no choice can be decided by them.
func (b *block) checkDecides(at document.Place) {
	confidence := b.Confidence()
	if confidence <= 0.5 || confidence >= 1 {
		return // which is an error of its own
	}
	_, most := b.Pairs()
	fewest, ok := election.Fewest(MinFactor, confidence)
	if !ok {
		at.Warn(document.CodeNoEffect, fmt.Sprintf("%s: no number of pairs reaches a confidence of %g, so every choice is a tie", at.Describe(), confidence), `set "confidence" to 0.99 or less`)
		return
	}
	if most < fewest {
		at.Warn(document.CodeNoEffect, fmt.Sprintf("%s: a confidence of %g needs %d pairs or more, and there are %d at most, so every choice is a tie", at.Describe(), confidence, fewest, most),
			fmt.Sprintf(`set "max" to %d or more, or "confidence" lower`, fewest))
	}
}

func (b *block) checkCost() {
	if b.CostAware != nil && b.Pareto != nil {
		b.at.KeyError("pareto_frontier", document.CodeConflicting, fmt.Sprintf(`%s has both "cost_aware_evaluation" and "pareto_frontier", which choose in different ways`, b.at.Describe()),
			`keep "cost_aware_evaluation" to weigh quality against cost, or "pareto_frontier" to choose among those that no other one beats in both`)
	}
	at := b.at.Key("cost_aware_evaluation")
	if b.CostAware == nil || !at.Intact("quality_weight", "cost_weight") {
		return
	}
	if quality, cost := b.CostAware.Weights(); quality == 0 && cost == 0 {
		at.Error(document.CodeConflicting, fmt.Sprintf("%s gives no weight to quality and none to cost", at.Describe()), `set one of "quality_weight" and "cost_weight" above 0`)
	}
}

func (b *block) checkReforge(of Owner) {
	at := b.at.Key("reforge")
	switch {
	case b.Reforge == nil:
		return
	case of.NoModel != "":
		b.at.KeyError("reforge", document.CodeMisplacedField, fmt.Sprintf("%q refines the answer of a model; %s", "reforge", of.NoModel), "remove it")
		return
	}
	if at.Intact("steps", "patience") && b.Reforge.Patience > b.Reforge.MaxSteps() {
		at.NoEffect("patience", fmt.Sprintf(`%s is %d, and "steps" is %d, which ends the refinement before`, at.Key("patience").Describe(), b.Reforge.Patience, b.Reforge.MaxSteps()), `raise "steps" or remove it`)
	}
	if n := at.Key("threshold").Node(); n != nil && n.Kind == source.Object {
		for _, key := range at.Key("threshold").Written("mode", "max_attempts") {
			at.Key("threshold").NoEffect(key, fmt.Sprintf("%s says when the refinement ends and fails nothing, so %q is never used", at.Key("threshold").Describe(), key), "remove it")
		}
	}
}

// checkTexts refuses texts of nothing.
func (b *block) checkTexts() {
	reforge := b.at.Key("reforge")
	for _, at := range []document.Place{b.at.Key("evaluator_instructions"), b.at.Key("aggregator_instructions"), reforge.Key("evaluator_override"), reforge.Key("honing_prompt")} {
		if at.Blank() {
			at.Error(document.CodeInvalidValue, at.Describe()+" is empty", "say what is wanted, or remove the key")
		}
	}
	list := b.at.Key("mutations")
	for i, text := range b.Mutations {
		if at := list.Index(i); strings.TrimSpace(text) == "" && at.Sound() {
			at.Error(document.CodeInvalidValue, at.Describe()+" is empty", "say how the instructions are to differ, or remove the entry")
		}
	}
}
