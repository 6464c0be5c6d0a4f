package cascade

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade/settings"
)

type phaseRules struct{ *checker }

// checkPhaseNames refuses names that are taken, and the words of context.from.
func (k phaseRules) checkPhaseNames() {
	first := map[string]located{}
	for _, p := range k.phases {
		if p.Name == "" {
			continue
		}
		if slices.Contains([]string{FromAll, FromFirst, FromPrevious, settings.FromPrev}, p.Name) {
			p.at.Key("name").Error(CodeInvalidName, fmt.Sprintf("a phase cannot be called %q: the word has a meaning in context.from", p.Name), "choose another name")
		}
		if before, ok := first[p.Name]; ok {
			p.at.Key("name").Error(CodeDuplicatePhase,
				fmt.Sprintf("two phases are called %q; the first is at %s", p.Name, before.at.Key("name")), "give each phase a name of its own")
			continue
		}
		first[p.Name] = p
	}
}

// checkKind holds a phase to exactly one of instructions, tool and wait.
func (k phaseRules) checkKind(p located) {
	hasTask, hasTool := p.at.Has("instructions"), p.at.Has("tool")
	if p.at.Has("wait") || p.at.Meant("wait") {
		for _, key := range p.at.Written("instructions", "tool") {
			p.at.KeyError(key, CodePhaseKind, fmt.Sprintf("%s has both %q and %q", p.title(), "wait", key), "a phase that waits does nothing else; split it into two phases")
		}
		return
	}
	switch {
	case hasTask && hasTool:
		p.at.KeyError("tool", CodePhaseKind, p.title()+" has both \"instructions\" and \"tool\"",
			"a phase either asks a model or runs a tool; split it into two phases")
	case !hasTask && !hasTool && !p.at.Meant("instructions") && !p.at.Meant("tool"):
		p.at.Error(CodePhaseKind, p.title()+" has neither \"instructions\" nor \"tool\"",
			"give it instructions for a model, or a tool to run")
	case hasTask && p.at.Key("instructions").Blank():
		p.at.Key("instructions").Error(CodePhaseKind, "the instructions of "+p.title()+" are empty", "say what the model is to do")
	case hasTool && p.at.Key("tool").Blank():
		p.at.Key("tool").Error(CodePhaseKind, "the tool of "+p.title()+" has no name", "name a tool")
	}
}

// The fields that only one kind of phase has.
var (
	modelFields = []string{
		"model", "fallback_models", "temperature", "max_output_tokens", "model_options", "tackle", "tools", "use_native_tools", "rules", "intra_context",
		"output_schema", "decision_points", "audibles",
	}
	toolFields = []string{"inputs", "routing", "retry", "timeout"}
)

func (k phaseRules) checkMisplaced(p located) {
	hasTask, hasTool := p.at.Has("instructions"), p.at.Has("tool")
	if p.at.Has("wait") {
		for _, key := range p.at.Written(slices.Concat(modelFields, []string{"inputs", "retry", "timeout"})...) {
			p.at.KeyError(key, CodeMisplacedField, fmt.Sprintf("%q belongs to a phase that asks a model or runs a tool; %s waits", key, p.title()), "remove it")
		}
		return
	}
	if hasTask == hasTool {
		return
	}
	foreign, kind, belongs := toolFields, "asks a model", "runs a tool"
	if hasTool {
		foreign, kind, belongs = modelFields, "runs a tool", "asks a model"
	}
	for _, key := range p.at.Written(foreign...) {
		if key == "rules" && p.at.Key("rules").Has("approve") {
			peopleRules(k).checkMisplacedRules(p)
			continue
		}
		p.at.KeyError(key, CodeMisplacedField, fmt.Sprintf("%q belongs to a phase that %s; %s %s", key, belongs, p.title(), kind), "remove it")
	}
	if p.at.Has("tackle") && p.at.Has("tools") {
		p.at.KeyError("tools", CodeMisplacedField, fmt.Sprintf("%s has both \"tackle\" and \"tools\", which mean the same", p.title()), "keep one of the two")
	}
}

func (k phaseRules) checkRules(p located) {
	rules, r := p.at.Key("rules"), p.Rules
	if !rules.Has("loop_until") {
		for _, key := range rules.Written("loop_until_silent", "loop_until_prompt", "check") {
			rules.KeyError(key, CodeMisplacedField, fmt.Sprintf("%q of %s goes with \"loop_until\", which is missing", key, p.title()), "add loop_until or remove this")
		}
	}
	if r.Check == CheckEveryTurn && k.cascade.MaxTurns(p.Phase) == 1 && rules.Has("loop_until") {
		rules.NoEffect("check", fmt.Sprintf("%s has one turn, which ends its attempt", p.title()), "set max_turns to 2 or more, or remove it")
	}
	checked := rules.Has("loop_until") || p.at.Has("output_schema")
	if r.MaxAttempts > 1 && !checked {
		rules.NoEffect("max_attempts", fmt.Sprintf("%s has %d attempts but nothing that an attempt could fail", p.title(), r.MaxAttempts), "add loop_until or output_schema")
	}
	if rules.Has("on_exhausted") && rules.Intact("on_exhausted") && !checked {
		rules.NoEffect("on_exhausted", fmt.Sprintf("%s has nothing that an attempt could fail", p.title()), "add loop_until or output_schema")
	}
	if rules.Has("retry_instructions") && !checked && !p.Wards.Retries() && !p.at.Has("decision_points") {
		rules.NoEffect("retry_instructions", fmt.Sprintf("%s is retried only after an empty answer: it has neither loop_until nor output_schema", p.title()), "add one of them")
	}
	if r.AllowEmpty && p.at.Has("output_schema") {
		rules.NoEffect("allow_empty", p.title()+" has an output_schema, which no empty answer matches", "remove one of the two")
	}
	if rules.Has("turn_prompt") && k.cascade.MaxTurns(p.Phase) == 1 {
		rules.NoEffect("turn_prompt", fmt.Sprintf("%s has one turn, so its turn_prompt is never used", p.title()), "set max_turns to 2 or more")
	}
}

func (k phaseRules) checkLoopUntil(p located) {
	at := p.at.Keys("rules", "loop_until")
	if p.Rules.LoopUntil == "" {
		if at.Blank() {
			at.Error(CodeUnknownValidator, "loop_until of "+p.title()+" names no validator", "name one or remove the key")
		}
		return
	}
	validatorRules(k).checkValidatorRef(at, p.Rules.LoopUntil)
}
