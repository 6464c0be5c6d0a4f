package term

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHang(t *testing.T) {
	t.Parallel()
	const long = "Try: write {{ input.service | default('...') }} in the file, or more"
	require.Equal(t, "Try: write {{ input.service |\n     default('...') }} in the\n     file, or more", hang(long, 5, 30))
	require.Equal(t, long, hang(long, 5, 0), "no terminal")
	require.Equal(t, long, hang(long, 5, len(long)))
	require.Equal(t, long, hang(long, 5, 24), "too narrow to be worth it")
	require.Equal(t, "Error: one two three four\n       five six\n  source  line that is far longer\n  ^", hang("Error: one two three four five six\n  source  line that is far longer\n  ^", 7, 28))
	require.Equal(t, "a\n  "+strings.Repeat("x", 50)+"\n  b", hang("a "+strings.Repeat("x", 50)+" b", 2, 40), "a word that is longer has a line of its own")
	require.Equal(t, "Completed in 5.0s: 3 phases,\n  in 3  cached 0", hang("Completed in 5.0s: 3 phases,  in 3  cached 0", 2, 30))
	var pipe strings.Builder
	require.Equal(t, long, Hang(&pipe, long, 5))
}
