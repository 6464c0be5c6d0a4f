package engine

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
	text, err := os.ReadFile("../docs/" + name)
	require.NoError(t, err)
	return strings.Join(strings.Fields(string(text)), " ")
}

// The pages name the engine's own tools and say the figures that the code has.
func TestDocumentedFigures(t *testing.T) {
	t.Parallel()
	tools, models := page(t, "tools.md"), page(t, "models.md")
	for _, name := range OwnTools() {
		require.Regexp(t, "[|,] `"+name+"`", tools)
	}
	require.Equal(t, []any{4000, 20_000, 5, 5}, []any{recallDefault, recallMost, eagerResults, eagerShare})
	require.Contains(t, tools, "(4,000 unless it says otherwise, 20,000 at most)")
	require.Contains(t, tools, "at least 5 masked results, and more than a fifth of them")
	require.Equal(t, []any{16, 8192, 5.0}, []any{smallestAnswer, thinkingRoom, cacheLife.Minutes()})
	require.Contains(t, models, "an answer of 16 tokens")
	require.Contains(t, models, "8,192 tokens more")
	require.Contains(t, models, "more than five minutes")
}

// The line that the page shows above a recalled stretch is the one that recall writes.
func TestDocumentedRecall(t *testing.T) {
	t.Parallel()
	call := echo.ToolCall{ID: "c", Name: "read_file"}
	o := original{message: echo.NewToolResult(call, echo.Text(strings.Repeat("x", 5400)), false), phase: &echo.PhaseRecord{Name: "research"}, turn: 3}
	text, failed := o.page(0, recallDefault)
	require.False(t, failed)
	line, _, _ := strings.Cut(text, "\n")
	line = strings.Replace(line, string(o.message.Hash()), "59426a19ea5c8545", 1)
	require.Contains(t, page(t, "tools.md"), line)
	require.Regexp(t, regexp.MustCompile("`\\[Masked, 5400 characters: recall\\(\"59426a19ea5c8545\"\\)\\]`"), page(t, "tools.md"))
}
