package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/core"
)

func TestCheckRules(t *testing.T) {
	t.Parallel()
	for rules := core.OldestRules; rules <= core.Rules; rules++ {
		require.NoError(t, core.CheckRules(rules))
	}
	require.EqualError(t, core.CheckRules(core.Rules+1), "the session was begun under rules 8 of the engine, and this windlass replays rules 1 to 7: a newer windlass began the session: use that one")
	require.EqualError(t, core.CheckRules(core.OldestRules-1), "the session was begun under rules 0 of the engine, and this windlass replays rules 1 to 7: use the windlass that began the session, or begin it again")
}
