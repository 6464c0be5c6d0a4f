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

// After a graph that failed the next command begins the phase that failed, not the last that ran; and --fork of a phase
// of a graph reuses what is not after it.
func TestForkOfAGraph(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("g.json", `{"cascade_id": "g", "max_parallel": 1, "phases": [
		{"name": "a", "instructions": "A."}, {"name": "bad", "instructions": "B.", "rules": {"loop_until": "min_words:3", "max_attempts": 1}},
		{"name": "late", "after": ["a"], "instructions": "L."}, {"name": "end", "after": ["late", "bad"], "instructions": "E."}]}`)
	l.file("g.script.json", `{"phases": {"a": [{"text": "a"}], "bad": [{"text": "b"}], "late": [{"text": "l"}], "end": [{"text": "e"}]}}`)
	failed := l.run(exitFailed, "run", "g.json", "--offline", "--no-clickhouse", "--session", "g1", "--progress", "plain").err.String()
	require.Contains(t, failed, "windlass resume last --fork bad")
	require.Contains(t, l.run(exitOK, "show", "g1").out.String(), "resume g1 --fork bad  begins the phase again, in a new session\n")
	l.file("better.json", `{"cascade_id": "g", "max_parallel": 1, "phases": [
		{"name": "a", "instructions": "A."}, {"name": "bad", "instructions": "B."},
		{"name": "late", "after": ["a"], "instructions": "L."}, {"name": "end", "after": ["late", "bad"], "instructions": "E."}]}`)
	var out struct {
		Calls  int `json:"model_calls"`
		Copied struct {
			Calls int `json:"model_calls"`
		} `json:"copied"`
		Output string `json:"output"`
	}
	p := l.run(exitOK, "resume", "g1", "--fork", "bad", "--cascade", "better.json", "--json", "--session", "g2")
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &out), p.out.String())
	require.Equal(t, []any{2, 2, "e"}, []any{out.Calls, out.Copied.Calls, out.Output})
	l.run(exitOK, "verify", "g2")
	again := l.run(exitOK, "resume", "g2", "--fork", "late", "--json", "--session", "g3")
	require.NoError(t, json.Unmarshal([]byte(again.out.String()), &out), again.out.String())
	require.Equal(t, []any{2, 2}, []any{out.Calls, out.Copied.Calls})
	require.Contains(t, l.run(exitUsage, "resume", "g2", "--fork", "lat").err.String(), "the nearest are late")
	l.file("h.json", `{"cascade_id": "h", "phases": [{"name": "a", "instructions": "A.", "on_error": "never"}, {"name": "never", "instructions": "N."}, {"name": "b", "after": ["a"], "instructions": "B."}]}`)
	l.file("h.script.json", `{"phases": {"a": [{"text": "a"}], "b": [{"text": "b"}]}}`)
	l.run(exitOK, "run", "h.json", "--offline", "--no-clickhouse", "--session", "h1")
	require.Contains(t, l.run(exitUsage, "resume", "h1", "--fork", "never").err.String(), `session h1 has no phase and no key "never"`)
}
