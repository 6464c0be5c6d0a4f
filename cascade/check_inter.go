package cascade

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/cascade/settings"
)

type interRules struct{ *checker }

func (k interRules) cascadePlace() place { return k.root.Keys("auto_context", "inter_phase") }

func (k interRules) phaseInter(p located) *settings.InterBlock {
	return &settings.InterBlock{
		InterContext: p.Context.inter(), Layered: settings.Layered{At: p.at.Key("context"), Below: k.cascadePlace()}, Merged: k.cascade.EffectiveInter(p.Phase),
	}
}

// checkInterPhase checks the settings that phases with the mode auto inherit.
func (k interRules) checkInterPhase() {
	s := k.cascade.AutoContext.Inter()
	if s == nil {
		return
	}
	b := &settings.InterBlock{InterContext: s, Layered: settings.Layered{At: k.cascadePlace(), Below: k.cascadePlace()}, Merged: settings.MergeInter(s)}
	certain := b.Certain()
	for _, p := range k.phases {
		at := p.at.Key("context")
		certain = certain && p.at.Intact("context") && at.Intact("mode") && !at.Meant("mode")
		if p.Context.auto() && p.asksModel() {
			certain = certain && k.phaseInter(p).Certain()
			b.Strategies = append(b.Strategies, k.cascade.EffectiveInter(p.Phase).Selection.Strategy)
		}
	}
	if !certain {
		b.Strategies = nil
	}
	settings.CheckModel(b.At, "selector_model")
	settings.CheckModel(b.At, "card_model")
	b.CheckWrittenTwice()
	k.checkInterBlock(b)
	b.ModelWithoutEffect(b.At)
	if certain && len(b.Strategies) == 0 {
		k.interWithoutEffect(b.At)
	}
}

// interWithoutEffect warns of settings for a selection that no phase makes.
func (k interRules) interWithoutEffect(at place) {
	const hint = `write "context": {"mode": "auto"} in the phases that are to get what matters of earlier ones, or remove it`
	if !k.tools.offered[searchTool] && len(at.Written("card_model", "cards")) == 0 {
		k.root.Key("auto_context").NoEffect("inter_phase", `"inter_phase" is for phases whose context has "mode": "auto", and there is none`, hint)
		return
	}
	for _, key := range at.Written("enabled", "strategy", "selector_model", "anchors", "selection") {
		at.NoEffect(key, fmt.Sprintf(`%s is for phases whose context has "mode": "auto", and there is none`, describe(at.Key(key))), hint)
	}
}

func (k interRules) checkSelects(p located) {
	switch {
	case p.Context == nil:
		return
	case !p.asksModel():
		k.checkNothingSelected(p)
		return
	}
	b := k.phaseInter(p)
	if p.Context.auto() {
		if b.Certain() {
			b.Strategies = []SelectionStrategy{b.Merged.Selection.Strategy}
		}
		k.checkCandidates(p)
		k.checkAnchorsBrought(p)
	} else {
		b.CheckMode()
	}
	k.checkInterBlock(b)
}

// checkNothingSelected refuses a selection for a phase that runs a tool.
func (k interRules) checkNothingSelected(p located) {
	at := p.at.Key("context")
	for _, key := range at.Written("mode", "anchors", "selection") {
		what := fmt.Sprintf("%q", key)
		if key == "mode" {
			what = `"mode": "auto"`
		}
		if key != "mode" || p.Context.auto() {
			at.KeyError(key, CodeMisplacedField, fmt.Sprintf("%s belongs to the context of a phase that asks a model; %s runs a tool", what, p.title()), "remove it")
		}
	}
}

func (k interRules) checkInterBlock(b *settings.InterBlock) {
	settings.CheckModel(b.At.Key("selection"), "selector_model")
	if b.Anchors != nil {
		k.checkFromPhases(b.At.Keys("anchors", "from_phases"), b.Anchors.FromPhases)
	}
	b.CheckWeights()
	b.ModelWithoutEffect(b.At.Key("selection"))
	k.checkThreshold(b)
	b.Unused(b.At.Key("selection"), "similarity_threshold", func(s SelectionStrategy) bool { return s == StrategySemantic },
		`"similarity_threshold" is only used with the strategy "semantic"`, `set "strategy" to "semantic" or remove it`)
}

// checkThreshold warns of a threshold that may be meant as in older files. One that names its $schema
// is none of them.
func (k interRules) checkThreshold(b *settings.InterBlock) {
	at := b.At.Key("selection")
	if at.Has("similarity_threshold") && at.Intact("similarity_threshold") && b.Merged.Selection.Strategy == StrategySemantic && !k.root.Has("$schema") {
		at.KeyWarn("similarity_threshold", CodeOlderForm, `"similarity_threshold" is a share of the most similar message; in older files it was a similarity by itself`,
			`check the value; a file with a "$schema" is not told this`)
	}
}

func (k interRules) checkFromPhases(list place, names []string) {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		at := list.Index(i)
		referenceRules(k).checkSource(at, name, describe(list))
		if seen[name] && list.Intact(strconv.Itoa(i)) {
			at.Warn(CodeNoEffect, fmt.Sprintf("%s lists %q twice", describe(list), name), "remove one of the two")
		}
		seen[name] = true
	}
}

// checkCandidates warns of a selection that has nothing to select from.
func (k interRules) checkCandidates(p located) {
	at := p.at.Key("context")
	brought := slices.ContainsFunc(p.Context.From, func(s Source) bool {
		return s.Phase == FromAll && s.Condition == "" && s.TakesOver()
	})
	switch {
	case brought:
		at.NoEffect("mode", fmt.Sprintf(`the context of %s brings in "all", which leaves nothing to select`, p.title()), `name fewer phases in "from", or remove the mode`)
	case k.runsFirst(p):
		at.NoEffect("mode", p.title()+" is the first to run, so there is nothing to select from", "remove it")
	}
}

// runsFirst reports whether nothing runs before a phase.
func (k interRules) runsFirst(p located) bool {
	if k.cascade.IsGraph() {
		return len(p.After) == 0 && !p.inline && !k.ledTo(p.Name)
	}
	return p.Phase == k.phases[0].Phase && !k.ledTo(p.Name)
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
	at := p.at.Key("context")
	list := at.Keys("anchors", "from_phases")
	for i, name := range p.Context.Anchors.FromPhases {
		if slices.ContainsFunc(p.Context.From, func(s Source) bool { return s.Phase == name && s.Condition == "" && s.TakesOver() }) {
			list.Index(i).Warn(CodeNoEffect, fmt.Sprintf(`%q has no anchors: "from" of %s brings it in`, name, p.title()), "remove one of the two")
		}
	}
	if in := p.Context.IncludeInput; in != nil && !*in {
		if i := slices.Index(p.Context.Anchors.Include, AnchorInput); i >= 0 {
			at.Keys("anchors", "include").Index(i).Warn(CodeNoEffect, `the input is no anchor with "include_input": false`, "remove one of the two")
		}
	}
}
