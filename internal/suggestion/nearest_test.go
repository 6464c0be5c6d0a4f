package suggestion_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/suggestion"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"report/attempt1/turn1", "research/attempt1/turn1", "research/attempt1/turn2", "fix/attempt1/turn1"}
	require.Equal(t, []string{"research/attempt1/turn2", "research/attempt1/turn1"}, suggestion.Nearest("reserch/attempt1/turn2", known, 2))
	require.Equal(t, []string{"fix/attempt1/turn1"}, suggestion.Nearest("fix", known, 1))
	require.Len(t, suggestion.Nearest("", known, 9), 4)
	require.Empty(t, suggestion.Nearest("x", nil, 3))
}
