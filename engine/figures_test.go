package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// TestIgnoredFiguresAreSaidOnce: a run names them with the first answer that has them, and a replay
// says the same.
func TestIgnoredFiguresAreSaidOnce(t *testing.T) {
	t.Parallel()
	boasting := func(text string) answerFunc {
		return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := say(text)(req)
			resp.Ignored = "the endpoint reports figures that cannot be true: cost 1e308"
			return resp, err
		}
	}
	b := setup(t, say("one"), boasting("two"), boasting("three"))
	_, err := b.run(`{"cascade_id": "x", "phases": [{"name": "a", "instructions": "x"}, {"name": "b", "instructions": "x"}, {"name": "c", "instructions": "x"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"the endpoint reports figures that cannot be true: cost 1e308"}, b.entries.warnings())
	require.Len(t, b.entries.of(echo.NodeWarning), 1)
}
