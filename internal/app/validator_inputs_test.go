package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
)

// The instructions of a validator see what it judges as members of input, too; no run has to give them.
func TestInstructionsOfValidatorsSeeTheContent(t *testing.T) {
	t.Parallel()
	parse := func(schema, instructions string) []string {
		c, found, err := cascade.Parse("c.json", []byte(`{"cascade_id":"c","inputs_schema":`+schema+`,
			"validators":{"v":{"instructions":"`+instructions+`"}},
			"phases":[{"name":"p","instructions":"Go to {{ input.where }}.","rules":{"loop_until":"v"}}]}`), Known())
		require.NoError(t, err)
		said := []string{}
		for _, d := range found {
			said = append(said, d.Message)
		}
		for _, v := range c.CheckInput(map[string]any{"where": "home"}) {
			said = append(said, v.String())
		}
		return said
	}
	const all = "{{ input.content }} {{ input.original_input.where }} {{ input.has_images }} {{ input.image_count }} {{ content }} {{ has_images }} {{ image_count }} {{ input.where }}"
	for _, schema := range []string{
		`{"where":"a place"}`, `{"type":"object","properties":{"where":{"type":"string"}},"additionalProperties":false}`, `{"type":"object"}`,
	} {
		require.Empty(t, parse(schema, all), schema)
	}
	require.Equal(t, []string{
		`"instructions" of validator "v" uses "input.other", which "inputs_schema" does not name`,
		`missing input "other": used without default by "instructions" of validator "v"`,
	}, parse(`{"where":"a place"}`, "{{ input.other | default(1) }} {{ input.other }}"))
}
