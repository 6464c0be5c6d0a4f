package toolset

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/effect"
)

type sqlAlone struct{ effect.Tools }

func (sqlAlone) Spec(name string) (effect.ToolSpec, bool) {
	return effect.ToolSpec{Name: name, Description: "Asks."}, name == ToolSQL
}

// sql_query says what the view messages has, but in sessions that began before it did.
func TestToolsSayWhatMessagesHas(t *testing.T) {
	t.Parallel()
	p := &cascade.Phase{Name: "a", Instructions: "A.", Tackle: []string{ToolSQL}}
	c := &cascade.Cascade{Phases: []cascade.Phase{*p}}
	for _, messages := range []bool{false, true} {
		set, err := ToolsOf(p, c, sqlAlone{}, Told{Messages: messages})
		require.NoError(t, err)
		require.Equal(t, messages, strings.Contains(set.Specs[0].Description, "messages(id, group_id, role, kind, content, tool_name, tool_call_id, status, model, phase, tokens, at)"))
		require.True(t, strings.HasPrefix(set.Specs[0].Description, "Asks."))
	}
}
