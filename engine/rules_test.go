package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckRules(t *testing.T) {
	t.Parallel()
	for rules := OldestRules; rules <= Rules; rules++ {
		require.NoError(t, CheckRules(rules))
	}
	require.EqualError(t, CheckRules(Rules+1), "the session was begun under rules 4 of the engine, and this windlass replays rules 1 to 3: a newer windlass began the session: use that one")
	require.EqualError(t, CheckRules(OldestRules-1), "the session was begun under rules 0 of the engine, and this windlass replays rules 1 to 3: use the windlass that began the session, or begin it again")
}
