package cascade

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/engine/waiting"
)

// peopleRules are those of what waits for people, and for signals.
type peopleRules struct{ *checker }

func (k peopleRules) checkPhase(p located) {
	if p.HumanInput != nil {
		p.HumanInput.Check(p.at.Key("human_input"))
	}
	if waiting.Asks(p.Tool) && p.at.Has("timeout") && p.at.Intact("timeout", "tool") {
		hint := "remove it"
		if own := waitTimeouts[p.Tool]; own != "" {
			hint = fmt.Sprintf("write it as an input of the tool, %q, in seconds", own)
		}
		p.at.NoEffect("timeout", fmt.Sprintf("%s waits with the tool %q, which this timeout does not end", p.title(), p.Tool), hint)
	}
	k.checkApprove(p)
}

// waitTimeouts are the arguments by which waits of tools end.
var waitTimeouts = map[string]string{waiting.ToolAwait: "timeout", waiting.ToolDecision: "timeout_seconds"}

// checkApprove finds patterns that no call waits for.
func (k peopleRules) checkApprove(p located) {
	rules := p.at.Key("rules")
	if k.known.Recorded || !rules.Has("approve") || !rules.Intact("approve") {
		return
	}
	if len(p.Rules.Approve) == 0 {
		rules.NoEffect("approve", fmt.Sprintf("%q of %s names no tool", "approve", p.title()), "name one or remove it")
		return
	}
	names, known := k.toolsOf(p)
	for i, pattern := range p.Rules.Approve {
		at := rules.Key("approve").Index(i)
		matches := func(name string) bool { return waiting.Needs([]string{pattern}, name) }
		switch {
		case !at.Sound():
		case slices.ContainsFunc(names, func(name string) bool { return matches(name) && !IsEngineTool(name) }):
		case slices.ContainsFunc(names, matches) || IsEngineTool(pattern):
			at.Warn(CodeNoEffect, fmt.Sprintf("%s has calls of %q wait for approval, which windlass answers itself: they never do", p.title(), pattern), "remove it")
		case known:
			at.Warn(CodeNoEffect, fmt.Sprintf("%s has calls of %q wait for approval, and has no tool of that name", p.title(), pattern),
				cmp.Or(meant(pattern, names), knownNames("its tools are ", names), "remove it"))
		}
	}
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
		case lacks(name) == "":
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
