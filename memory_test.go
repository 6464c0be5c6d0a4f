package windlass_test

import (
	"context"
	"strings"
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

// A program takes messages out of what later requests have, and puts them back: also out of what banks have remembered of them.
func TestContextOfAProgram(t *testing.T) {
	t.Parallel()
	c, err := windlass.Load("talk.json", []byte(`{"cascade_id": "talk", "model": "m", "memory": {"name": "talks", "remember": "winners"},
		"phases": [{"name": "talk", "instructions": "{{ input.say }}"}, {"name": "close", "instructions": "Close.", "context": {"from": ["talk"]}}]}`))
	require.NoError(t, err)
	answerer := windlass.ModelFunc(func(_ context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Text() == "search" {
			return windlass.CallTool("talks", map[string]string{"query": "harbour master"})
		}
		if last.Role() == echo.RoleTool {
			return windlass.Reply(last.Text()), nil
		}
		return windlass.Reply("The harbour master has the name Ann."), nil
	})
	w := open(t, windlass.InMemory())
	run := func(say, id string) string {
		t.Helper()
		r, err := w.Start(t.Context(), c, windlass.Input{"say": say}, windlass.WithProvider(answerer), windlass.WithSessionID(id))
		require.NoError(t, err)
		_, err = r.Result(t.Context())
		require.NoError(t, err)
		record, err := w.Record(t.Context(), id)
		require.NoError(t, err)
		var told strings.Builder
		for e := range record.Replay(t.Context(), 0) {
			if e.NodeType == echo.NodeToolCall {
				told.WriteString(e.Message.Text())
			}
		}
		return told.String()
	}
	run("Who is it?", "first")
	record, err := w.Record(t.Context(), "first")
	require.NoError(t, err)
	groups, err := record.Groups(false)
	require.NoError(t, err)
	require.Len(t, groups, 2)
	require.Equal(t, "Who is it?", groups[0].Words)
	for _, wrong := range []struct {
		change windlass.ContextChange
		want   string
	}{
		{windlass.ContextChange{Action: "hide"}, `"hide" is nothing that can be done to messages: it is undo, drop, remove, restore or rebuild`},
		{windlass.ContextChange{Action: echo.ViewDrop}, "nothing to drop: name a group or a message"},
		{windlass.ContextChange{Action: echo.ViewDrop, Groups: []int{3}}, "session first has no group 3: its groups are 1 to 2"},
	} {
		_, err := record.ChangeContext(t.Context(), wrong.change)
		require.EqualError(t, err, wrong.want)
		require.Equal(t, windlass.InvalidRequest, windlass.KindOf(err))
	}
	done, err := record.ChangeContext(t.Context(), windlass.ContextChange{Action: echo.ViewDrop, Groups: []int{1, 2}, By: "ann"})
	require.NoError(t, err)
	require.Len(t, done.Messages, 4)
	require.NotContains(t, run("search", "second"), "Ann")
	_, err = record.ChangeContext(t.Context(), windlass.ContextChange{Action: echo.ViewRestore, By: "ann"})
	require.NoError(t, err)
	require.Contains(t, run("search", "third"), "Ann")
}
