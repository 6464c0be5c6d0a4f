package cascade

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/people"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/engine/waiting"
)

// peopleRules are those of what waits for people, and for signals.
type peopleRules struct{ *checker }

func (k peopleRules) checkPhase(p located) {
	if p.HumanInput != nil {
		p.HumanInput.Check(p.at.Key("human_input"))
		if !k.known.Recorded {
			p.HumanInput.CheckIDs(p.at.Key("human_input"))
		}
	}
	if p.Wait != nil {
		p.Wait.Check(p.at.Key("wait"))
		if !k.known.Recorded {
			p.Wait.CheckNames(p.at.Key("wait"))
		}
		if !k.cascade.IsGraph() {
			p.Wait.CheckRouting(p.at, p.title(), p.Routing)
		}
	}
	if p.DecisionPoints != nil {
		p.DecisionPoints.Check(p.at, people.Around{Title: p.title(), IsGraph: k.cascade.IsGraph(), IsPhase: func(name string) bool { return k.names.named[name] }, Target: referenceRules(k).checkTarget})
	}
	if p.Audibles != nil {
		p.Audibles.Check(p.at.Key("audibles"))
		people.CheckAudibles(p.at, p.title(), p.Audibles.On(), p.parts())
		if k.cascade.Soundings.Active() && p.Audibles.On() && p.at.Intact("audibles") {
			people.RefuseAudibles(p.at, p.title()+" of a cascade with soundings has audibles", "soundings", "remove one of the two")
		}
	}
	people.CheckTool(p.at, p.title(), p.Tool)
	k.checkApprove(p)
	k.checkLabels(p)
}

// checkLabels warns of labels of routing that a tool which waits for signals, or sends one, never has.
func (k peopleRules) checkLabels(p located) {
	routing := p.at.Key("routing")
	labels := p.labelsOfSignals()
	if len(labels) == 0 || !p.at.Intact("routing", "tool", "inputs", "wait") {
		return
	}
	for _, label := range slices.Sorted(maps.Keys(p.Routing)) {
		if !slices.Contains(labels, label) && label != "default" && label != "error" {
			routing.NoEffect(label, fmt.Sprintf("%s never has the label %q", p.title(), label), fmt.Sprintf("its labels are %s, and error for a failure", strings.Join(labels, ", ")))
		}
	}
}

// labelsOfSignals returns the labels of a phase whose tool waits for a signal, or sends one; none for another phase.
func (p located) labelsOfSignals() []string {
	switch p.Tool {
	case waiting.ToolFire:
		return []string{waiting.RouteSent}
	case waiting.ToolAwait:
		labels := []string{waiting.RouteFired}
		if _, ends := p.Inputs["timeout"]; ends {
			labels = append(labels, waiting.RouteTimeout)
		}
		return labels
	}
	return nil
}

// parts returns the keys by which a phase runs in several parts.
func (p located) parts() (keys []string) {
	if p.ForEach != nil {
		keys = append(keys, "for_each")
	}
	if p.Soundings.Active() {
		keys = append(keys, "soundings")
	}
	return keys
}

// checkCascade checks the audibles of the cascade.
func (k peopleRules) checkCascade() {
	a := k.cascade.Audibles
	if a == nil {
		return
	}
	at := k.root.Key("audibles")
	a.Check(at)
	if k.cascade.Soundings.Active() && a.On() && at.Sound() && k.root.Intact("soundings") {
		people.RefuseAudibles(k.root, "the cascade has audibles", "soundings", "remove one of the two")
		return
	}
	takes := func(p located) bool { return k.cascade.AudiblesOf(p.Phase) != nil }
	if a.On() && at.Sound() && !slices.ContainsFunc(k.phases, takes) {
		at.Warn(CodeNoEffect, "no phase of the cascade takes audibles: they are for phases that ask a model, without soundings and for_each", "remove it")
	}
}

// checkApprove holds the patterns of approve against the tools of the phase.
func (k peopleRules) checkApprove(p located) {
	if k.known.Recorded {
		return
	}
	tools, known := k.toolsOf(p)
	people.CheckApprove(p.at.Key("rules"), p.title(), p.Rules.Approve, people.Tools{Names: tools, Answered: IsEngineTool, Unsure: !known})
}

// toolsOf returns the tools of a phase as they are called, and whether these are all of them.
func (k peopleRules) toolsOf(p located) (names []string, known bool) {
	listed := slices.Clone(p.Tackle)
	if p.Tool != "" {
		listed = []string{p.Tool}
	}
	known = !k.blind() && p.at.Intact("tackle", "tools", "tool")
	for _, name := range listed {
		r := k.cascade.Reaches[name]
		switch {
		case k.tools.has(name):
		case r != nil:
			name = r.ToolName()
		case wording.Lacks(name) == "":
			known = false
		default:
			continue // which is not offered
		}
		names = append(names, name)
	}
	return names, known
}

// checkJudge refuses a validator whose calls wait for approval: nobody is asked before a check.
func (k peopleRules) checkJudge(at place, name string) {
	if t := k.tools.declared(name); t != nil && t.Approve {
		at.Error(CodeInvalidValidator, fmt.Sprintf("the tool %q is no validator: its calls wait for approval", name), `remove "approve" of the tool, or declare another tool for the check`)
	}
}

// checkMisplacedRules refuses of the rules of a phase that runs a tool what belongs to a model.
func (k peopleRules) checkMisplacedRules(p located) {
	rules := p.at.Key("rules")
	for _, key := range rules.Written(wording.KeysOf[Rules]()...) {
		if key != "approve" {
			rules.KeyError(key, CodeMisplacedField, fmt.Sprintf(`%q belongs to a phase that asks a model; %s runs a tool`, key, p.title()), "remove it")
		}
	}
}

// ofHuman lists the templates of human_input.
func (t templates) ofHuman(p located) []templateAt {
	h := p.HumanInput
	if h == nil {
		return nil
	}
	at := p.at.Key("human_input")
	return []templateAt{
		{TemplateText, t.in(at.Key("prompt")), "", h.Prompt, sight{subs: -1, own: true}},
		{TemplateText, t.in(at.Key("condition")), "", h.Condition, sight{subs: -1, own: true}},
	}
}
