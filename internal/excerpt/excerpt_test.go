package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", Of("short\n"))
	lines := strings.Repeat("y\n", 1000) + "[timed out]"
	require.Equal(t, "y\ny\ny\ny\ny\n[... 981 lines left out ...]\n"+strings.Repeat("y\n", 14)+"[timed out]", Of(lines))
	long := Of(strings.Repeat("ä", 5000) + "[timed out]")
	require.LessOrEqual(t, len(long), mostBytes+8)
	require.True(t, utf8.ValidString(long))
	require.True(t, strings.HasPrefix(long, "ää") && strings.HasSuffix(long, "ä[timed out]"), long)
}
