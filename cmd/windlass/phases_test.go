package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The phases of run --json have what each visit took, also those of a graph and what handles their errors.
func TestPhasesOfAGraph(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("c.json", `{"cascade_id": "c", "phases": [
		{"name": "a", "instructions": "A."}, {"name": "bad", "instructions": "B.", "rules": {"loop_until": "min_words:9", "max_attempts": 2}, "on_error": "mend"},
		{"name": "mend", "instructions": "M."}, {"name": "end", "after": ["a", "bad"], "instructions": "E.", "for_each": {"items": ["x", "y", "z"]}}]}`)
	l.file("c.script.json", `{"phases": {"a": [{"text": "a"}], "bad": [{"text": "b"}, {"text": "b"}], "mend": [{"text": "m"}], "end": [{"text": "e"}, {"text": "e"}, {"text": "e"}]}}`)
	p := l.run(exitOK, "run", "c.json", "--offline", "--no-clickhouse", "--json")
	var out struct {
		Calls  int `json:"model_calls"`
		Phases []struct {
			Phase string `json:"phase"`
			Calls int    `json:"model_calls"`
			Usage struct {
				In int `json:"in"`
			} `json:"usage"`
		} `json:"phases"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &out), p.out.String())
	calls := map[string]int{}
	for _, phase := range out.Phases {
		calls[phase.Phase] += phase.Calls
		require.Positive(t, phase.Usage.In, phase.Phase)
	}
	require.Equal(t, map[string]int{"a": 1, "bad": 2, "mend": 1, "end": 3}, calls)
	require.Equal(t, 7, out.Calls)
}
