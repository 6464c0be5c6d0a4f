package cascade

import (
	"fmt"
	"slices"
	"strings"
)

type phaseRules struct{ *checker }

// checkPhaseNames refuses names that are taken, and the words of context.from.
func (k phaseRules) checkPhaseNames() {
	first := map[string]located{}
	for _, p := range k.phases {
		if p.Name == "" {
			continue
		}
		if slices.Contains([]string{FromAll, FromFirst, FromPrevious, fromPrev}, p.Name) {
			p.at.key("name").error(CodeInvalidName, fmt.Sprintf("a phase cannot be called %q: the word has a meaning in context.from", p.Name), "choose another name")
		}
		if before, ok := first[p.Name]; ok {
			p.at.key("name").error(CodeDuplicatePhase,
				fmt.Sprintf("two phases are called %q; the first is at %s", p.Name, before.at.key("name")), "give each phase a name of its own")
			continue
		}
		first[p.Name] = p
	}
}

// checkKind holds a phase to exactly one of instructions and tool.
func (k phaseRules) checkKind(p located) {
	hasTask, hasTool := p.at.has("instructions"), p.at.has("tool")
	switch {
	case hasTask && hasTool:
		p.at.keyError("tool", CodePhaseKind, p.title()+" has both \"instructions\" and \"tool\"",
			"a phase either asks a model or runs a tool; split it into two phases")
	case !hasTask && !hasTool && !p.at.meant("instructions") && !p.at.meant("tool"):
		p.at.error(CodePhaseKind, p.title()+" has neither \"instructions\" nor \"tool\"",
			"give it instructions for a model, or a tool to run")
	case hasTask && blank(p.at.key("instructions")):
		p.at.key("instructions").error(CodePhaseKind, "the instructions of "+p.title()+" are empty", "say what the model is to do")
	case hasTool && blank(p.at.key("tool")):
		p.at.key("tool").error(CodePhaseKind, "the tool of "+p.title()+" has no name", "name a tool")
	}
}

func blank(at place) bool {
	n := at.node()
	return n != nil && at.doc.edits[at.pointer] == 0 && strings.TrimSpace(n.Text) == ""
}

// The fields that only one kind of phase has.
var (
	modelFields = []string{
		"model", "fallback_models", "temperature", "max_output_tokens", "model_options", "tackle", "tools", "use_native_tools", "rules", "intra_context",
		"output_schema",
	}
	toolFields = []string{"inputs", "routing", "retry", "timeout"}
)

func (k phaseRules) checkMisplaced(p located) {
	hasTask, hasTool := p.at.has("instructions"), p.at.has("tool")
	if hasTask == hasTool {
		return
	}
	foreign, kind, belongs := toolFields, "asks a model", "runs a tool"
	if hasTool {
		foreign, kind, belongs = modelFields, "runs a tool", "asks a model"
	}
	for _, key := range p.at.written(foreign...) {
		p.at.keyError(key, CodeMisplacedField, fmt.Sprintf("%q belongs to a phase that %s; %s %s", key, belongs, p.title(), kind), "remove it")
	}
	if p.at.has("tackle") && p.at.has("tools") {
		p.at.keyError("tools", CodeMisplacedField, fmt.Sprintf("%s has both \"tackle\" and \"tools\", which mean the same", p.title()), "keep one of the two")
	}
}

func (k phaseRules) checkRules(p located) {
	rules, r := p.at.key("rules"), p.Rules
	if !rules.has("loop_until") {
		for _, key := range rules.written("loop_until_silent", "loop_until_prompt", "check") {
			rules.keyError(key, CodeMisplacedField, fmt.Sprintf("%q of %s goes with \"loop_until\", which is missing", key, p.title()), "add loop_until or remove this")
		}
	}
	if r.Check == CheckEveryTurn && p.MaxTurns() == 1 && rules.has("loop_until") {
		rules.noEffect("check", fmt.Sprintf("%s has one turn, which ends its attempt", p.title()), "set max_turns to 2 or more, or remove it")
	}
	checked := rules.has("loop_until") || p.at.has("output_schema")
	if r.MaxAttempts > 1 && !checked {
		rules.noEffect("max_attempts", fmt.Sprintf("%s has %d attempts but nothing that an attempt could fail", p.title(), r.MaxAttempts), "add loop_until or output_schema")
	}
	if rules.has("retry_instructions") && !checked {
		rules.noEffect("retry_instructions", fmt.Sprintf("%s is retried only after an empty answer: it has neither loop_until nor output_schema", p.title()), "add one of them")
	}
	if r.AllowEmpty && p.at.has("output_schema") {
		rules.noEffect("allow_empty", p.title()+" has an output_schema, which no empty answer matches", "remove one of the two")
	}
	if rules.has("turn_prompt") && p.MaxTurns() == 1 {
		rules.noEffect("turn_prompt", fmt.Sprintf("%s has one turn, so its turn_prompt is never used", p.title()), "set max_turns to 2 or more")
	}
}

func (k phaseRules) checkLoopUntil(p located) {
	at := p.at.keys("rules", "loop_until")
	if p.Rules.LoopUntil == "" {
		if blank(at) {
			at.error(CodeUnknownValidator, "loop_until of "+p.title()+" names no validator", "name one or remove the key")
		}
		return
	}
	validatorRules(k).checkValidatorRef(at, p.Rules.LoopUntil)
}
