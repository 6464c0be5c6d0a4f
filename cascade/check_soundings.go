package cascade

import (
	"fmt"
	"iter"
	"slices"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/shape"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/cascade/validators"
)

// soundingRules are those of several tries of a phase, or of the cascade.
type soundingRules struct{ *checker }

func (k soundingRules) checkPhase(p located) {
	of := soundings.Owner{}
	switch {
	case !p.asksModel():
		of.NoModel = p.title() + " runs a tool"
		if p.at.Has("routing") {
			of.Choice = "routing"
		}
	case p.ChoosesRoute():
		of.Choice = "handoffs"
	}
	k.check(p.Soundings, p.at, of)
	k.checkJoined(p)
}

// checkJoined refuses a schema of the answer where that is all answers under headings.
func (k soundingRules) checkJoined(p located) {
	s := p.Soundings
	if at := p.at.Key("soundings"); s.Active() && s.Aggregates() && at.Intact("mode") && p.at.Has("output_schema") && !at.Has("aggregator_instructions") {
		p.at.KeyError("output_schema", document.CodeConflicting,
			fmt.Sprintf("%s joins the answers of its candidates under headings, which is no JSON value: two different answers never match %s", p.title(), p.at.Key("output_schema").Describe()),
			`add "aggregator_instructions" that ask for one JSON value, or move the schema to "soundings", where it holds for each candidate`)
	}
}

func (k soundingRules) checkCascade() {
	of := soundings.Owner{}
	if !slices.ContainsFunc(k.phases, func(p located) bool { return p.asksModel() }) {
		of.NoModel = "no phase of the cascade does"
	}
	k.check(k.cascade.Soundings, k.root, of)
	for _, t := range k.templates.ofSoundings(k.cascade.Soundings, k.root) {
		k.templates.check(t.at, t.text)
	}
}

func (k soundingRules) check(s *soundings.Soundings, owner place, of soundings.Owner) {
	if s == nil {
		return
	}
	at := owner.Key("soundings")
	s.Check(at, of)
	for at, validator := range validatorsOfSoundings(s, owner) {
		if at.Sound() && at.Node() != nil && validator != "" {
			validatorRules(k).checkValidatorRef(at, validator)
		}
	}
	if len(s.OutputSchema) > 0 {
		k.schemas.Check(at.Key("output_schema"), s.OutputSchema, at.Key("output_schema").Describe())
	}
}

// validatorsOfSoundings yields the validators of soundings with their places.
func validatorsOfSoundings(s *soundings.Soundings, owner place) iter.Seq2[place, string] {
	return func(yield func(place, string) bool) {
		if s == nil || !yield(owner.Keys("soundings", "validator"), s.Validator) {
			return
		}
		yield(validators.Ref(owner.Keys("soundings", "reforge", "threshold")), s.Reforge.Until())
	}
}

// textsOfSoundings yields the instructions of judges and of the aggregator, which are templates, and
// then the honing prompt, which is none.
func textsOfSoundings(s *soundings.Soundings, owner place) iter.Seq2[place, *string] {
	return func(yield func(place, *string) bool) {
		at := owner.Key("soundings")
		if s == nil || !yield(at.Key("evaluator_instructions"), &s.EvaluatorInstructions) || !yield(at.Key("aggregator_instructions"), &s.AggregatorInstructions) {
			return
		}
		if r := s.Reforge; r != nil && yield(at.Keys("reforge", "evaluator_override"), &r.EvaluatorOverride) {
			yield(at.Keys("reforge", "honing_prompt"), &r.HoningPrompt)
		}
	}
}

// ofSoundings lists the templates of soundings without those of validators.
func (t templates) ofSoundings(s *soundings.Soundings, owner place) []templateAt {
	var list []templateAt
	for at, text := range textsOfSoundings(s, owner) {
		if s.Reforge == nil || text != &s.Reforge.HoningPrompt {
			list = append(list, templateAt{TemplateText, t.in(at), "", *text, sight{judge: true}})
		}
	}
	return list
}

// judged are the variables that are only seen by what judges answers, or joins them.
var judged = map[string]*shape.Shape{
	"candidates": {Kind: "a list", Item: shape.OfSample(map[string]any{"label": "", "text": ""})},
	"task":       {Kind: "a string"},
}

// runVariables are those that the judges of whole runs see beside what is judged.
var runVariables = []string{"input", "env", "session", "session_id"}

// refined is the shape of inputs with what a whole run of a step of refinement is given besides.
func (k variableRules) refined(input *shape.Shape) *shape.Shape {
	if s := k.cascade.Soundings; s == nil || s.Reforge == nil {
		return input
	}
	return input.With(map[string]any{soundings.RefinementInput: map[string]any{"best": "", "prompt": "", "step": 0}})
}

// checkRunVariables checks the templates of the soundings of the cascade.
func (k variableRules) checkRunVariables(s *varScope) {
	s.run, s.variables = true, map[string]any{}
	for _, name := range runVariables {
		if v, ok := k.known.Variables.Phase[name]; ok {
			s.variables[name] = v
		}
	}
	for _, t := range k.templates.ofSoundings(k.cascade.Soundings, k.root) {
		k.checkTemplate(t, s)
	}
	for at, validator := range validatorsOfSoundings(k.cascade.Soundings, k.root) {
		if t, is := commandAt(at, validator); is {
			k.checkTemplate(t, s)
		}
	}
}
