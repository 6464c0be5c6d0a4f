package wording_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

func TestPlacesAreDescribed(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile([]byte(`{}`))
	require.NoError(t, err)
	file := source.Parse("x.json", []byte(`{"phases": [{"name": "a"}, {}], "tools": [{"tool_id": "t"}]}`))
	root := document.Open(t.Context(), file, s, wording.Words{Title: wording.Cascade}, &document.Diagnostics{}).Root()
	for pointer, want := range map[string]string{
		"":                            "the cascade",
		"/budget/max_usd":             `"budget.max_usd"`,
		"/phases/0":                   `phase "a"`,
		"/phases/1":                   "phase 2",
		"/phases/0/on_error/rules":    `"on_error.rules" of phase "a"`,
		"/tools/0/command":            `"command" of tool "t"`,
		"/validators/fair/model":      `"model" of validator "fair"`,
		"/phases/0/wards/pre/0":       `"wards.pre.0" of phase "a"`,
		"/phases/0/for_each/items":    `"for_each.items" of phase "a"`,
		"/phases/0/sub_cascades/0/as": `"sub_cascades.0.as" of phase "a"`,
	} {
		require.Equal(t, want, root.Below(pointer).Describe())
	}
}

func TestHomesOfKeys(t *testing.T) {
	t.Parallel()
	w := wording.Words{Rules: []string{"loop_until"}}
	root := document.Place{}
	require.Equal(t, `"loop_until" belongs in the phase's "rules"`, w.Home(root, "loop_until", false))
	require.Equal(t, `"window" belongs in the phase's "intra_context", or for all phases in "auto_context": {"intra_phase": {...}}`, w.Home(root, "window", false))
	require.Equal(t, `"wards" belongs in a phase`, w.Home(root, "wards", false))
	require.Equal(t, `"max_parallel" belongs in the cascade, for phases with "after", in "for_each" or in "soundings"`, w.Home(root, "max_parallel", false))
	require.Equal(t, `"soundings" belongs in a phase, or in the cascade for whole runs`, w.Home(root, "soundings", false))
	require.Equal(t, `"reforge" belongs in "soundings"`, w.Home(root, "reforge", false))
	require.Equal(t, `"mutations" belongs in "soundings"`, w.Home(root, "mutations", false))
	require.Equal(t, `"honing_prompt" belongs in "reforge" of "soundings"`, w.Home(root, "honing_prompt", false))
	require.Empty(t, w.Home(root, "colour", false))
	require.Empty(t, w.Home(root, "mode", false), "many things have one")
}
