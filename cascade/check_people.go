package cascade

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade/people"
	"github.com/windlass-run/windlass/cascade/wording"
)

// peopleRules are those of what waits for people, and for signals.
type peopleRules struct{ *checker }

func (k peopleRules) checkPhase(p located) {
	if p.HumanInput != nil {
		p.HumanInput.Check(p.at.Key("human_input"))
	}
	people.CheckTool(p.at, p.title(), p.Tool)
	k.checkApprove(p)
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
