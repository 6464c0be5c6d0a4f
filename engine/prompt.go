package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
)

// systemText is what the engine itself has to tell the model: tools that are described, what will be checked, the form
// of the answer. It is empty when there is nothing to tell.
func (v *visit) systemText() (string, error) {
	var parts []string
	if !v.native() && len(v.tools.specs) > 0 {
		parts = append(parts, promptedManual(v.tools.specs))
	}
	if v.phase.ChoosesRoute() {
		parts = append(parts, "Before your final answer, call route_to to choose which phase runs next. "+
			fmt.Sprintf("Without a call, %s runs.", v.phase.Handoffs[0].Target))
	}
	check, err := v.checkText()
	if err != nil {
		return "", err
	}
	if check != "" {
		parts = append(parts, check)
	}
	if len(v.phase.OutputSchema) > 0 {
		parts = append(parts, "Your final answer must be one JSON value that matches this JSON Schema, with nothing before or after it:\n"+
			compactJSON(string(v.phase.OutputSchema)))
	}
	return strings.Join(parts, "\n\n"), nil
}

// checkText tells the model what loop_until will check, unless the phase wants that kept silent.
func (v *visit) checkText() (string, error) {
	rules := v.phase.Rules
	if rules.LoopUntil == "" || rules.LoopUntilSilent {
		return "", nil
	}
	if rules.LoopUntilPrompt != "" {
		return v.text("loop_until_prompt", rules.LoopUntilPrompt)
	}
	what, err := v.describe(rules.LoopUntil)
	return "Your work will be checked: " + what + ".", err
}

// taskText is the phase's instructions, with the input below them when the phase wants it there.
func (v *visit) taskText() (string, error) {
	text, err := v.text("instructions", v.phase.Instructions)
	if err != nil || len(v.spec.Input) == 0 || !v.includesInput() {
		return text, err
	}
	input, err := json.MarshalIndent(v.spec.Input, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode input: %w", err)
	}
	return text + "\n\nInput:\n```json\n" + string(input) + "\n```", nil
}

// includesInput reports whether the input is added to the task. It is, unless the phase says no, leaves it out of its
// anchors, or its instructions use the input themselves: then it would be paid for twice.
func (v *visit) includesInput() bool {
	if c := v.phase.Context; c != nil && c.IncludeInput != nil {
		return *c.IncludeInput
	}
	if v.inter.Enabled && !slices.Contains(v.inter.Anchors.Include, cascade.AnchorInput) {
		return false
	}
	return !v.texts.uses(v.phase.Instructions, "input")
}
