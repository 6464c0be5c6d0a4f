package excerpt

import (
	"fmt"
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

func TestLast(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short\n", Verdict("short\n"))
	require.Empty(t, Verdict(""))
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d\n", i+1)
		}
		return b.String()
	}
	require.Equal(t, lines(100), Verdict(lines(100)))
	got := strings.Split(Verdict(lines(1300)+"[exit status 1]"), "\n")
	require.Len(t, got, 100)
	require.Equal(t, []string{"[... 1202 lines left out ...]", "line 1203", "[exit status 1]"}, []string{got[0], got[1], got[99]})

	// What was shortened already keeps its number of lines.
	twice := strings.Split(End(Verdict(lines(1300)+"[exit status 1]")), "\n")
	require.Len(t, twice, 20)
	require.Equal(t, []string{"[... 1282 lines left out ...]", "line 1283", "[exit status 1]"}, []string{twice[0], twice[1], twice[19]})
	require.Equal(t, strings.Join(twice, "\n"), Of(strings.Join(twice, "\n")), "an error has it as it is")

	// Whole lines as far as they fit, and the end of one that does not.
	require.Equal(t, "[... 2 lines left out ...]\nthe end", Last(strings.Repeat("x", 60)+"\nand\nthe end", 2, 60))
	require.Equal(t, "[... 1 line left out ...]\nand\nthe end", Last(strings.Repeat("x", 60)+"\nand\nthe end", 20, 60))
	long := Last("a\n"+strings.Repeat("ä", 5000)+"!", 20, 160)
	require.LessOrEqual(t, len(long), 160)
	require.True(t, utf8.ValidString(long))
	require.True(t, strings.HasPrefix(long, "[... 1 line left out ...]\n…ä") && strings.HasSuffix(long, "ä!"), long)
	require.Equal(t, "…xxxxxx", Last(strings.Repeat("x", 60), 20, len("[... 1 line left out ...]")+9))
}
