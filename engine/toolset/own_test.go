package toolset

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The loader refuses cascades that have the name of a tool which the engine answers: it knows them all.
func TestOwnTools(t *testing.T) {
	t.Parallel()
	for _, name := range append(OwnTools(), ToolRouteTo) {
		require.True(t, IsOwnTool(name), name)
	}
	require.False(t, IsOwnTool("read_file"))
}
