package memory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestSeen(t *testing.T) {
	t.Parallel()
	start := Seen{Start: 3}
	require.Equal(t, uint64(3), start.Of("/memories/a"))
	require.Equal(t, start, start.With(nil))
	one := start.With([]echo.MemorySeen{{Path: "/memories/a", At: 5}, {Path: "/memories/b", At: 2}})
	require.Equal(t, uint64(5), one.Of("/memories/a"))
	require.Equal(t, uint64(3), one.Of("/memories/b"), "nothing is seen as of before the start")
	two := one.With([]echo.MemorySeen{{Path: "/memories/a", At: 4}, {Path: "/memories/c", At: 9}})
	require.Equal(t, uint64(5), two.Of("/memories/a"), "calls of one turn are added in any order")
	require.Equal(t, uint64(9), two.Of("/memories/c"))
	require.Equal(t, uint64(3), one.Of("/memories/c"), "what is made is not changed")
	require.Nil(t, start.Paths)
}
