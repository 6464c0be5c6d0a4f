package engine

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/views"
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
	for _, name := range toolset.OwnTools() {
		require.Regexp(t, "[|,] `"+name+"`", tools)
	}
	require.Equal(t, []any{5, 5}, []any{views.EagerResults, views.EagerShare})
	require.Contains(t, tools, "at least 5 masked results, and more than a fifth of them")
	require.Equal(t, []any{16, 8192, 5.0}, []any{views.SmallestAnswer, effect.ThinkingRoom, views.CacheLife.Minutes()})
	require.Contains(t, models, "an answer of 16 tokens")
	require.Contains(t, models, "8,192 tokens more")
	require.Contains(t, models, "more than five minutes")
}

// The page shows the error of a session of newer rules as it is now.
func TestDocumentedRules(t *testing.T) {
	t.Parallel()
	require.Contains(t, page(t, "resume.md"), "session 01jz4k: "+core.CheckRules(core.Rules+1).Error())
}
