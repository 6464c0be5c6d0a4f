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
	require.Equal(t, []string{"m1", "m2", "small", "judge", "own", "other judge"}, modelsInUse(c, cascade.SwitchedOff{}, r, &config.Config{}))
}
