package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
)

// A model that only a candidate or a judge asks has to be there before anything is paid, too.
func TestModelsOfSoundingsAreInUse(t *testing.T) {
	t.Parallel()
	c := cascadeOf(t, `{"cascade_id": "c", "soundings": {"models": ["m1", "m2"]}, "phases": [
		{"name": "a", "instructions": "x", "soundings": {"factor": 2, "evaluator_model": "judge", "mutation_mode": "rewrite", "rewrite_model": "small"}},
		{"name": "b", "tool": "list_files", "soundings": {"factor": 2, "evaluator_model": "other judge"}}]}`)
	r := &engine.Runner{DefaultModel: "own"}
	require.Equal(t, []string{"m1", "m2", "own", "small", "judge", "other judge"}, modelsInUse(c, cascade.SwitchedOff{}, r, &config.Config{}))
}

// Where nothing names a model of the run, a phase whose candidates have models needs none, and a judge that no model is
// named for does, before anything is paid.
func TestModelsOfSoundingsWithoutADefault(t *testing.T) {
	t.Parallel()
	used := func(source string) []string {
		return modelsInUse(cascadeOf(t, source), cascade.SwitchedOff{}, &engine.Runner{}, &config.Config{})
	}
	require.Equal(t, []string{"m1", "m2", "judge"}, used(`{"cascade_id": "c", "phases": [
		{"name": "a", "instructions": "x", "soundings": {"models": ["m1", "m2"], "evaluator_model": "judge"}}]}`))
	require.Equal(t, []string{"m1", "judge"}, used(`{"cascade_id": "c", "soundings": {"models": {"m1": {"factor": 2}}, "evaluator_model": "judge"}, "phases": [
		{"name": "a", "instructions": "x"}]}`))
	for _, s := range []string{
		`{"factor": 2}`, `{"factor": 2, "mode": "aggregate", "aggregator_instructions": "join"}`,
		`{"factor": 2, "evaluator_model": "judge", "mutation_mode": "rewrite"}`,
	} {
		require.Contains(t, used(`{"cascade_id": "c", "phases": [{"name": "a", "model": "own", "instructions": "x", "soundings": `+s+`}]}`), "", s)
	}
	require.Equal(t, []string{"own"}, used(`{"cascade_id": "c", "phases": [{"name": "a", "model": "own", "instructions": "x", "soundings": {"factor": 2, "mode": "aggregate"}}]}`))
}
