package views

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/toolset"
)

// What a summary names are the tools of the phase that find something; rules before 6 name none.
func TestLookups(t *testing.T) {
	t.Parallel()
	p := cascade.Phase{Name: "a", Instructions: "A.", Tackle: []string{toolset.ToolSetState, lookup.ToolSearch}, Memory: &continuity.Memory{Name: "notes"}}
	c := &cascade.Cascade{Phases: []cascade.Phase{p}}
	for rules, want := range map[core.Ruleset][]string{5: nil, 6: {"search_context", "recall", "memory"}} {
		set, err := toolset.ToolsOf(&p, c, nil, toolset.Told{})
		require.NoError(t, err)
		v := &Views{Place: &core.Place{Def: &p, Rec: &core.Recorder{Rules: rules}}, asked: Asked{Cascade: c}, tools: &set}
		require.Equal(t, want, lookupsOf(v))
		v.tools = &toolset.Toolset{}
		require.Empty(t, lookupsOf(v), "nothing is offered")
	}
}
