package windlass_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/echo"
)

// A program that keeps nothing has banks that remember by themselves, for as long as it is open.
func TestMemoryOfAProgram(t *testing.T) {
	t.Parallel()
	c, err := windlass.Load("talk.json", []byte(`{"cascade_id": "talk", "model": "m", "memory": {"name": "talks", "remember": "messages"},
		"phases": [{"name": "talk", "instructions": "{{ input.say }}"}]}`))
	require.NoError(t, err)
	searcher := windlass.ModelFunc(func(_ context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role() != echo.RoleTool {
			return windlass.CallTool("talks", map[string]string{"query": last.Text()})
		}
		return windlass.Reply("What I know of it: " + last.Text()), nil
	})
	for _, o := range []windlass.Options{windlass.InMemory(), {Home: t.TempDir(), Dir: t.TempDir(), NoClickHouse: true}} {
		w := open(t, o)
		var said []string
		for _, say := range []string{"The harbour master has the name Ann.", "What is the name of the harbour master?"} {
			run, err := w.Start(t.Context(), c, windlass.Input{"say": say}, windlass.WithProvider(searcher))
			require.NoError(t, err)
			res, err := run.Result(t.Context())
			require.NoError(t, err)
			said = append(said, res.Output.(string))
		}
		require.Equal(t, "What I know of it: Nothing is remembered yet.", said[0])
		require.Contains(t, said[1], "\n> The harbour master has the name Ann.")
		require.Contains(t, said[1], ": answer of a model, session ")
	}
}
