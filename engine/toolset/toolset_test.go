package toolset_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/toolset"
)

// A model is shown a cascade's contract as it is written, and of a declaration the names with what they
// mean: any value fits them.
func TestArgumentsOfACascade(t *testing.T) {
	t.Parallel()
	for inputs, want := range map[string]string{
		`{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1}}, "additionalProperties": false}`: `{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1}}, "additionalProperties": false}`,
		`{"required": ["n"], "properties": {"n": {"type": "integer"}}}`:                                                                `{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}`,
		`{"topic": "what it is about", "list": ""}`:                                                                                    `{"type": "object", "properties": {"topic": {"description": "what it is about"}, "list": {"description": ""}}}`,
		`null`: `{"type": "object", "properties": {}}`,
	} {
		var c cascade.Cascade
		require.NoError(t, json.Unmarshal([]byte(`{"cascade_id": "facts of a city", "description": "Finds facts.", "inputs_schema": `+inputs+`}`), &c))
		spec := toolset.CascadeSpec(&cascade.Reached{Cascade: &c})
		require.JSONEq(t, want, string(spec.Parameters))
		require.Equal(t, []string{"facts_of_a_city", "Finds facts."}, []string{spec.Name, spec.Description})
	}
}
