package cascade

import (
	"fmt"
	"slices"
	"strconv"
)

// interBlock is a block of settings for the context between phases.
type interBlock struct {
	*InterContext
	layered
	merged Inter // over what it inherits

	// strategies are those of the phases that the block is for; empty when there are none or a
	// mistake elsewhere makes them uncertain: then no setting is said to have no effect.
	strategies []SelectionStrategy
}

// certain reports whether what the block and the one below say about the strategy is sound.
func (b *interBlock) certain() bool {
	certain := func(at place) bool {
		return at.intact("strategy", "selection") && at.key("selection").intact("strategy")
	}
	return certain(b.at) && certain(b.below)
}

type interRules struct{ *checker }

func (k interRules) cascadePlace() place { return k.root.keys("auto_context", "inter_phase") }

func (k interRules) phaseInter(p located) *interBlock {
	return &interBlock{
		InterContext: p.Context.inter(), layered: layered{p.at.key("context"), k.cascadePlace()}, merged: k.cascade.EffectiveInter(p.Phase),
	}
}

// checkInterPhase checks the settings that phases with the mode auto inherit.
func (k interRules) checkInterPhase() {
	s := k.cascade.AutoContext.inter()
	if s == nil {
		return
	}
	b := &interBlock{InterContext: s, layered: layered{k.cascadePlace(), k.cascadePlace()}, merged: mergeInter(s)}
	certain := b.certain()
	for _, p := range k.phases {
		at := p.at.key("context")
		certain = certain && p.at.intact("context") && at.intact("mode") && !at.meant("mode")
		if p.Context.auto() && !p.at.has("tool") {
			certain = certain && k.phaseInter(p).certain()
			b.strategies = append(b.strategies, k.cascade.EffectiveInter(p.Phase).Selection.Strategy)
		}
	}
	if !certain {
		b.strategies = nil
	}
	checkModel(b.at, "selector_model")
	checkModel(b.at, "card_model")
	b.checkWrittenTwice()
	k.checkInterBlock(b)
	b.modelWithoutEffect(b.at)
	if certain && len(b.strategies) == 0 {
		k.interWithoutEffect(b.at)
	}
}

// checkWrittenTwice refuses a value that stands in the block and in its selection.
func (b *interBlock) checkWrittenTwice() {
	for _, key := range b.at.key("selection").written(b.at.written("strategy", "selector_model")...) {
		b.at.keyError(key, CodeMisplacedField, fmt.Sprintf("%s has %q and %q, which mean the same", describe(b.at), key, "selection."+key), "keep one of the two")
	}
}

// interWithoutEffect warns of settings for a selection that no phase makes.
func (k interRules) interWithoutEffect(at place) {
	const hint = `write "context": {"mode": "auto"} in the phases that are to get what matters of earlier ones, or remove it`
	if !k.tools.offered[searchTool] && len(at.written("card_model", "cards")) == 0 {
		k.root.key("auto_context").noEffect("inter_phase", `"inter_phase" is for phases whose context has "mode": "auto", and there is none`, hint)
		return
	}
	for _, key := range at.written("enabled", "strategy", "selector_model", "anchors", "selection") {
		at.noEffect(key, fmt.Sprintf(`%s is for phases whose context has "mode": "auto", and there is none`, describe(at.key(key))), hint)
	}
}

func (k interRules) checkSelects(p located) {
	switch {
	case p.Context == nil:
		return
	case p.at.has("tool"):
		k.checkNothingSelected(p)
		return
	}
	b := k.phaseInter(p)
	if p.Context.auto() {
		if b.certain() {
			b.strategies = []SelectionStrategy{b.merged.Selection.Strategy}
		}
		k.checkCandidates(p)
		k.checkAnchorsBrought(p)
	} else {
		b.checkMode()
	}
	k.checkInterBlock(b)
}

// checkMode refuses settings for a selection in a phase that makes none.
func (b *interBlock) checkMode() {
	if !b.at.intact("mode") || b.at.meant("mode") {
		return
	}
	for _, key := range b.at.written("anchors", "selection") {
		b.at.keyError(key, CodeMisplacedField, fmt.Sprintf(`%s goes with "mode": "auto", which is missing`, describe(b.at.key(key))), `add "mode": "auto" or remove this`)
	}
}

// checkNothingSelected refuses a selection for a phase that runs a tool.
func (k interRules) checkNothingSelected(p located) {
	at := p.at.key("context")
	for _, key := range at.written("mode", "anchors", "selection") {
		what := fmt.Sprintf("%q", key)
		if key == "mode" {
			what = `"mode": "auto"`
		}
		if key != "mode" || p.Context.auto() {
			at.keyError(key, CodeMisplacedField, fmt.Sprintf("%s belongs to the context of a phase that asks a model; %s runs a tool", what, p.title()), "remove it")
		}
	}
}

func (k interRules) checkInterBlock(b *interBlock) {
	checkModel(b.at.key("selection"), "selector_model")
	if b.Anchors != nil {
		k.checkFromPhases(b.at.keys("anchors", "from_phases"), b.Anchors.FromPhases)
	}
	b.checkWeights()
	b.modelWithoutEffect(b.at.key("selection"))
	b.unused(b.at.key("selection"), "similarity_threshold", func(s SelectionStrategy) bool { return s == StrategySemantic },
		`"similarity_threshold" is only used with the strategy "semantic"`, `set "strategy" to "semantic" or remove it`)
}

func (k interRules) checkFromPhases(list place, names []string) {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		at := list.index(i)
		referenceRules(k).checkSource(at, name, describe(list))
		if seen[name] && list.intact(strconv.Itoa(i)) {
			at.warn(CodeNoEffect, fmt.Sprintf("%s lists %q twice", describe(list), name), "remove one of the two")
		}
		seen[name] = true
	}
}

// checkWeights refuses weights that find no message: recency only raises what the other two find.
func (b *interBlock) checkWeights() {
	const block, keyword, callout = "selection", "keyword_weight", "callout_weight"
	at, reported := b.conflict(block, keyword, callout)
	if s := b.merged.Selection; s.KeywordWeight > 0 || s.CalloutWeight > 0 || !reported {
		return
	}
	at.error(CodeConflicting,
		fmt.Sprintf("%s: %q is 0%s and %q is 0%s: nothing could be chosen by words, which is what every strategy falls back to",
			describe(b.at.key(block)), keyword, b.origin(block, keyword), callout, b.origin(block, callout)),
		`set one of them above 0; "recency_weight" only raises what they find`)
}

// unused warns of a key that no strategy uses of the phases that the block is for.
func (b *interBlock) unused(at place, key string, used func(SelectionStrategy) bool, message, hint string) {
	if at.has(key) && at.intact(key) && len(b.strategies) > 0 && !slices.ContainsFunc(b.strategies, used) && !used(b.merged.Selection.Strategy) {
		at.noEffect(key, message, hint)
	}
}

// modelWithoutEffect warns of a model that is never asked, in either of its two places.
func (b *interBlock) modelWithoutEffect(at place) {
	b.unused(at, "selector_model", SelectionStrategy.AsksModel,
		`"selector_model" is only used with the strategies "llm" and "hybrid"`, `set "strategy" to one of them or remove it`)
}

// checkCandidates warns of a selection that has nothing to select from.
func (k interRules) checkCandidates(p located) {
	at := p.at.key("context")
	brought := slices.ContainsFunc(p.Context.From, func(s Source) bool {
		return s.Phase == FromAll && s.Condition == "" && s.TakesOver()
	})
	switch {
	case brought:
		at.noEffect("mode", fmt.Sprintf(`the context of %s brings in "all", which leaves nothing to select`, p.title()), `name fewer phases in "from", or remove the mode`)
	case p.Phase == k.phases[0].Phase && !k.ledTo(p.Name):
		at.noEffect("mode", p.title()+" is the first to run, so there is nothing to select from", "remove it")
	}
}

// ledTo reports whether some phase can lead to the one of this name.
func (k interRules) ledTo(name string) bool {
	return slices.ContainsFunc(k.phases, func(p located) bool {
		return slices.Contains(p.routes(), name) || p.OnError != nil && p.OnError.Inline == nil && p.OnError.Phase == name
	})
}

// checkAnchorsBrought warns of anchors that "from" brings in, and of an input that is kept out.
func (k interRules) checkAnchorsBrought(p located) {
	if p.Context.Anchors == nil {
		return
	}
	at := p.at.key("context")
	list := at.keys("anchors", "from_phases")
	for i, name := range p.Context.Anchors.FromPhases {
		if slices.ContainsFunc(p.Context.From, func(s Source) bool { return s.Phase == name && s.Condition == "" && s.TakesOver() }) {
			list.index(i).warn(CodeNoEffect, fmt.Sprintf(`%q has no anchors: "from" of %s brings it in`, name, p.title()), "remove one of the two")
		}
	}
	if in := p.Context.IncludeInput; in != nil && !*in {
		if i := slices.Index(p.Context.Anchors.Include, AnchorInput); i >= 0 {
			at.keys("anchors", "include").index(i).warn(CodeNoEffect, `the input is no anchor with "include_input": false`, "remove one of the two")
		}
	}
}
