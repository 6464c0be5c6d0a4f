package lookup

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	require.NoError(t, err)
	return strings.Join(strings.Fields(string(text)), " ")
}

// The line that the page shows above a recalled stretch is the one that recall writes.
func TestDocumentedRecall(t *testing.T) {
	t.Parallel()
	require.Equal(t, []any{4000, 20_000}, []any{recallDefault, recallMost})
	require.Contains(t, page(t, "tools.md"), "(4,000 by default, 20,000 at most)")
	call := echo.ToolCall{ID: "c", Name: "read_file"}
	o := original{message: echo.NewToolResult(call, echo.Text(strings.Repeat("x", 5400)), false), phase: &echo.PhaseRecord{Name: "research"}, turn: 3}
	o.told = o.message
	text, failed := o.page(0, recallDefault)
	require.False(t, failed)
	line, _, _ := strings.Cut(text, "\n")
	line = strings.Replace(line, string(o.message.Hash()), "59426a19ea5c8545", 1)
	require.Contains(t, page(t, "tools.md"), line)
	require.Regexp(t, regexp.MustCompile("`\\[Masked, 5400 characters: recall\\(\"59426a19ea5c8545\"\\)\\]`"), page(t, "tools.md"))
}
