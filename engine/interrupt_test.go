package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Wherever an interrupt comes, the run ends as interrupted and says so in its last entry. One that
// comes when the last answer is recorded is too late: nothing is left to be done, and the run is
// whole.
func TestInterruptAtEveryEntry(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"look","tool":"t","retry":{"max_attempts":2},"on_error":"work"},
		{"name":"work","instructions":"Go.","tackle":["t"],"rules":{"max_attempts":2,"loop_until":"regex:good"},"on_error":"end"},
		{"name":"end","instructions":"{{ outputs.work }}","context":{"from":["all"]},"callouts":"last"}]}`
	start := func(t *testing.T, at int) (*Result, []*echo.Entry, error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b := setup(t, call("t", `{"a":1}`, "t", `{"a":2}`), say("bad"), say("good"), say("end"))
		b.tools.add("t", `{"type":"object"}`, func(ctx context.Context, _ effect.ToolRequest) (effect.ToolResult, error) {
			return effect.ToolResult{Parts: []echo.Part{{Type: echo.PartText, Text: "seen"}}}, ctx.Err()
		})
		seen := 0
		b.entries.fail = func(*echo.Entry) error {
			if seen++; seen == at {
				cancel()
			}
			return nil
		}
		res, err := b.runCtx(ctx, source, nil)
		return res, b.entries.list, err
	}
	res, whole, err := start(t, 0)
	require.NoError(t, err)
	require.Equal(t, echo.StatusCompleted, res.Status)
	paid := 0
	for i, e := range whole {
		if e.NodeType == echo.NodeModelCall {
			paid = i + 1
		}
	}
	for at := 1; at <= len(whole); at++ {
		t.Run(fmt.Sprintf("%d of %d %s", at, len(whole), whole[at-1].NodeType), func(t *testing.T) {
			t.Parallel()
			res, entries, err := start(t, at)
			last := entries[len(entries)-1]
			require.Equal(t, echo.NodeRunEnd, last.NodeType)
			if at >= paid {
				require.NoError(t, err)
				require.Equal(t, echo.StatusCompleted, res.Status)
				return
			}
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, echo.StatusInterrupted, res.Status)
			require.Equal(t, "interrupted", last.Error.Kind)
		})
	}
}
