package cascade

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// interBlock is a block of settings for the context between phases, as it is written in one place.
type interBlock struct {
	*InterContext
	at    place       // of "anchors" and "selection"
	below *interBlock // what it inherits from: for a phase's block the cascade's, when there is one

	// strategies are those of the phases that the block is for. It is empty when there is none, or
	// when some of them may be others than they seem, because what is written is wrong: then
	// nothing is said about what has no effect.
	strategies []SelectionStrategy
}

// merged returns what the block amounts to.
func (b *interBlock) merged() Inter {
	if b.below == nil {
		return mergeInter(b.InterContext)
	}
	return mergeInter(b.below.InterContext, b.InterContext)
}

// certain reports whether the block and what it inherits from say what they seem to about the
// strategy: nothing is wrong with it.
func (b *interBlock) certain() bool {
	return b.at.intact("strategy", "selection") && b.at.key("selection").intact("strategy") && (b.below == nil || b.below.certain())
}

// interRules are the rules of settings for the context between phases.
type interRules struct{ *checker }

// cascadeInter returns the cascade's block, nil when there is none.
func (k interRules) cascadeInter() *interBlock {
	if s := k.cascade.AutoContext.inter(); s != nil {
		return &interBlock{InterContext: s, at: k.root.keys("auto_context", "inter_phase")}
	}
	return nil
}

// phaseInter returns the block of a phase that has a context.
func (k interRules) phaseInter(p located) *interBlock {
	return &interBlock{InterContext: p.Context.inter(), at: p.at.key("context"), below: k.cascadeInter()}
}

// checkInterPhase checks the settings that phases inherit whose context has the mode auto.
func (k interRules) checkInterPhase() {
	b := k.cascadeInter()
	if b == nil {
		return
	}
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
	for _, key := range []string{"strategy", "selector_model"} {
		if b.at.has(key) && b.at.key("selection").has(key) {
			b.at.keyError(key, CodeMisplacedField, fmt.Sprintf("%s has %q and %q, which mean the same", describe(b.at), key, "selection."+key), "keep one of the two")
		}
	}
}

// interWithoutEffect warns of settings for a selection that no phase makes. What cards are made
// with is also for phases whose model searches them.
func (k interRules) interWithoutEffect(at place) {
	const hint = `write "context": {"mode": "auto"} in the phases that are to get what matters of earlier ones, or remove it`
	if !k.tools.offered[searchTool] {
		k.root.key("auto_context").noEffect("inter_phase", `"inter_phase" is for phases whose context has "mode": "auto", and there is none`, hint)
		return
	}
	for _, key := range []string{"enabled", "strategy", "selector_model", "anchors", "selection"} {
		if at.has(key) {
			at.noEffect(key, fmt.Sprintf(`%s is for phases whose context has "mode": "auto", and there is none`, describe(at.key(key))), hint)
		}
	}
}

// checkSelects checks what a phase says about the messages that are selected for it.
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
			b.strategies = []SelectionStrategy{b.merged().Selection.Strategy}
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
	for _, key := range []string{"anchors", "selection"} {
		if b.at.has(key) {
			b.at.keyError(key, CodeMisplacedField, fmt.Sprintf(`%s goes with "mode": "auto", which is missing`, describe(b.at.key(key))), `add "mode": "auto" or remove this`)
		}
	}
}

// checkNothingSelected refuses a selection for a phase that runs a tool.
func (k interRules) checkNothingSelected(p located) {
	at := p.at.key("context")
	for _, key := range []string{"mode", "anchors", "selection"} {
		if !at.has(key) || key == "mode" && !p.Context.auto() {
			continue
		}
		what := fmt.Sprintf("%q", key)
		if key == "mode" {
			what = `"mode": "auto"`
		}
		at.keyError(key, CodeMisplacedField, fmt.Sprintf("%s belongs to the context of a phase that asks a model; %s runs a tool", what, p.title()), "remove it")
	}
}

func (k interRules) checkInterBlock(b *interBlock) {
	checkModel(b.at.key("selection"), "selector_model")
	if b.Anchors != nil {
		k.checkFromPhases(b.at.keys("anchors", "from_phases"), b.Anchors.FromPhases)
	}
	b.checkWeights()
	b.modelWithoutEffect(b.at.key("selection"))
	b.thresholdWithoutEffect()
}

// checkFromPhases resolves the phases that anchors are taken from.
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

// checkWeights refuses weights by which no message can be found: recency only raises what the other
// two find.
func (b *interBlock) checkWeights() {
	const keyword, callout = "keyword_weight", "callout_weight"
	at, s := b.at.key("selection"), b.merged().Selection
	if s.KeywordWeight > 0 || s.CalloutWeight > 0 || !at.has(keyword) && !at.has(callout) || !at.intact(keyword, callout) {
		return
	}
	var below []place
	if b.below != nil {
		below = append(below, b.below.at.key("selection"))
		if !below[0].intact(keyword, callout) {
			return
		}
	}
	key := keyword
	if !at.has(key) {
		key = callout
	}
	at.key(key).error(CodeConflicting,
		fmt.Sprintf("%s: %q is 0%s and %q is 0%s: nothing could be chosen by words, which is what every strategy falls back to",
			describe(at), keyword, origin(keyword, at, below...), callout, origin(callout, at, below...)),
		`set one of them above 0; "recency_weight" only raises what they find`)
}

// without reports whether there are phases that the block is for and none of them has such a
// strategy.
func (b *interBlock) without(used func(SelectionStrategy) bool) bool {
	return len(b.strategies) > 0 && !slices.ContainsFunc(b.strategies, used)
}

// modelWithoutEffect warns of a model that is never asked. It may be written in two places of the
// cascade's block.
func (b *interBlock) modelWithoutEffect(at place) {
	if at.has("selector_model") && at.intact("selector_model") && b.without(SelectionStrategy.AsksModel) {
		at.noEffect("selector_model", `"selector_model" is only used with the strategies "llm" and "hybrid"`, `set "strategy" to one of them or remove it`)
	}
}

// thresholdWithoutEffect warns of a threshold for a similarity that decides nothing.
func (b *interBlock) thresholdWithoutEffect() {
	at := b.at.key("selection")
	if at.has("similarity_threshold") && at.intact("similarity_threshold") && b.without(func(s SelectionStrategy) bool { return s == StrategySemantic }) {
		at.noEffect("similarity_threshold", `"similarity_threshold" is only used with the strategy "semantic"`, `set "strategy" to "semantic" or remove it`)
	}
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
		if p.OnError != nil && p.OnError.Inline == nil && p.OnError.Phase == name {
			return true
		}
		for _, target := range p.Routing {
			if target == name {
				return true
			}
		}
		return slices.ContainsFunc(p.Handoffs, func(h Handoff) bool { return h.Target == name })
	})
}

// checkAnchorsBrought warns of anchors of a phase that "from" brings in, and of an input that is
// kept out.
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

var contextPointer = regexp.MustCompile(`^/phases/\d+(/on_error)*/context$`)

// interKeyHome says where a key of the settings for the context between phases belongs that is
// written elsewhere; "" for any other key.
func interKeyHome(pointer, key string) string {
	belongs := func(where string) string { return fmt.Sprintf("%q belongs %s", key, where) }
	switch key {
	case "inter_phase":
		return belongs(`in the cascade's "auto_context"; a phase has "context"`)
	case "inter_context":
		return `a phase has "context": {"mode": "auto", "anchors": {...}, "selection": {...}}; for all phases write "auto_context": {"inter_phase": {...}}`
	case "card_model", "cards":
		return belongs(`in the cascade's "auto_context": {"inter_phase": {...}}`)
	}
	inBlock := contextPointer.MatchString(pointer) || pointer == "/auto_context/inter_phase"
	elsewhere := ""
	if !inBlock {
		elsewhere = `, in a phase's "context" or for all phases in "auto_context": {"inter_phase": {...}}`
	}
	switch key {
	case "anchors", "selection":
		return belongs(`in a phase's "context", or for all phases in "auto_context": {"inter_phase": {...}}`)
	case "from_phases":
		return belongs(`in "anchors"` + elsewhere)
	case "selector_model", "recency_weight", "keyword_weight", "callout_weight", "similarity_threshold", "max_messages":
		return belongs(`in "selection"` + elsewhere)
	}
	// These words mean something in other blocks, too.
	switch {
	case !inBlock:
		return ""
	case key == "window" || key == "include":
		return belongs(`in "anchors"`)
	case key == "strategy" || key == "max_tokens":
		return belongs(`in "selection"`)
	}
	return ""
}
