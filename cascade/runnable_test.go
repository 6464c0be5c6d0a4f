package cascade

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func messages(t *testing.T, text string, known Known) (out []string) {
	t.Helper()
	_, found, _ := Parse("x.json", []byte(text), known)
	for _, d := range found {
		out = append(out, string(d.Code)+": "+d.Message)
	}
	return out
}

// TestSelectorModelOfABlockThatAsksIt: what a block says of itself is not without effect because a
// phase says otherwise.
func TestSelectorModelOfABlockThatAsksIt(t *testing.T) {
	t.Parallel()
	const phases = `"phases": [{"name": "a", "instructions": "x"},
		{"name": "b", "instructions": "x", "context": {"mode": "auto", "selection": {"strategy": "heuristic"}}}]}`
	require.Empty(t, messages(t, `{"cascade_id": "x", "auto_context": {"inter_phase": {"strategy": "hybrid", "selector_model": "m"}}, `+phases, testKnown()))
	require.Empty(t, messages(t, `{"cascade_id": "x", "auto_context": {"inter_phase": {"selection": {"strategy": "llm", "selector_model": "m"}}}, `+phases, testKnown()))
	require.Equal(t, []string{`no_effect: "selector_model" is only used with the strategies "llm" and "hybrid"`},
		messages(t, `{"cascade_id": "x", "auto_context": {"inter_phase": {"selector_model": "m"}}, `+phases, testKnown()))
}

func TestCheckOfRules(t *testing.T) {
	t.Parallel()
	of := func(rules string) []string {
		return messages(t, `{"cascade_id": "x", "phases": [{"name": "a", "instructions": "x", "rules": {`+rules+`}}]}`, testKnown())
	}
	require.Empty(t, of(`"loop_until": "non_empty", "check": "every_turn", "max_turns": 2`))
	require.Empty(t, of(`"loop_until": "non_empty", "check": "attempt"`))
	require.Equal(t, []string{`misplaced_field: "check" of phase "a" goes with "loop_until", which is missing`}, of(`"check": "attempt"`))
	require.Equal(t, []string{`no_effect: phase "a" has one turn, which ends its attempt`}, of(`"loop_until": "non_empty", "check": "every_turn"`))
	require.Equal(t, []string{`invalid_value: "rules.check" of phase "a": expected one of "attempt", "every_turn", got "turn"`}, of(`"loop_until": "non_empty", "check": "turn"`))
}

// TestRecordedCascadesAreRead: a session of before goes on, whatever its cascade would be told now.
func TestRecordedCascadesAreRead(t *testing.T) {
	t.Parallel()
	const text = `{"cascade_id": "x", "tools": [{"tool_id": "t", "type": "shell", "inputs_schema": {"a": "text"}, "command": "echo {{ b }}"}],
		"phases": [{"name": "a", "instructions": "{{ foo }} {{ outputs.b }} {{ state.x }}", "context": {"from": ["a", "b"]}, "tackle": ["write_file"]},
		{"name": "b", "tool": "recall", "inputs": {"x": 1}}]}`
	require.Len(t, messages(t, text, testKnown()), 9)
	known := testKnown()
	known.Recorded = true
	require.Empty(t, messages(t, text, known))
}

// TestStateThatCanBeSet: by a model, by a phase that sets a name of its own, or by the run itself.
func TestStateThatCanBeSet(t *testing.T) {
	t.Parallel()
	known := testKnown()
	known.Tools = append(known.Tools, setStateTool)
	of := func(phases string) []string {
		return messages(t, `{"cascade_id": "x", "phases": [`+phases+`{"name": "z", "instructions": "{{ state.plan }} {{ state.output_z }}"}]}`, known)
	}
	const wrong = `unknown_variable: "instructions" of phase "z" uses "state.plan", which nothing can set`
	require.Equal(t, []string{wrong}, of(""))
	require.Empty(t, of(`{"name": "a", "instructions": "x", "tackle": ["set_state"]},`))
	require.Empty(t, of(`{"name": "a", "tool": "set_state", "inputs": {"key": "plan", "value": 1}},`))
	require.Empty(t, of(`{"name": "a", "tool": "set_state", "inputs": {"key": "{{ input.key }}", "value": 1}},`))
	require.Equal(t, []string{wrong}, of(`{"name": "a", "tool": "set_state", "inputs": {"key": "plans", "value": 1}},`))
}

// TestStateOfContinuityIsKnown: a scratchpad and a state block can be there where a phase has them.
func TestStateOfContinuityIsKnown(t *testing.T) {
	t.Parallel()
	of := func(all, own string) []string {
		return messages(t, `{"cascade_id": "x"`+all+`, "phases": [{"name": "a", "instructions": "x"`+own+`},
			{"name": "z", "continuity": {"scratchpad": false, "state_block": false}, "instructions": "{{ state.scratchpad }} {{ state.state_block }}"}]}`, testKnown())
	}
	wrong := func(name string) string {
		return `unknown_variable: "instructions" of phase "z" uses "state.` + name + `", which nothing can set`
	}
	require.Equal(t, []string{wrong("scratchpad"), wrong("state_block")}, of("", ""))
	require.Empty(t, of(`, "continuity": {"scratchpad": true, "state_block": true}`, ""))
	require.Empty(t, of("", `, "continuity": {"scratchpad": true, "state_block": true}`))
	require.Equal(t, []string{wrong("state_block")}, of("", `, "continuity": {"scratchpad": true}`))
}
