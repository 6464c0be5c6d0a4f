package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// A long answer is shown in part, and it is said so.
func TestCandidateLines(t *testing.T) {
	t.Parallel()
	lines := candidateLines(&echo.Choose{Candidates: []echo.Offered{
		{Label: "A", Text: "one\ntwo", Note: "model m, $0.0100"}, {Label: "B", Text: strings.Repeat("x", 5000)},
	}})
	require.Equal(t, []string{"", "A (model m, $0.0100)", "  one", "  two", "", "B"}, lines[:6])
	require.Len(t, lines, 8)
	require.Less(t, len(lines[6]), 4100)
	require.Regexp(t, `^  \[\d{4} of 5000 bytes; windlass answer ID --json has it whole\]$`, lines[7])
}
