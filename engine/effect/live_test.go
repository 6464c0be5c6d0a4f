package effect

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// committing is a sink that says when the record begins to be made durable.
type committing struct {
	sink
	once      sync.Once
	committed chan struct{}
}

func (c *committing) Commit() { c.once.Do(func() { close(c.committed) }) }

// waiting is a tool that runs until the record begins to be made durable.
type waiting struct {
	echoing
	until chan struct{}
}

func (w *waiting) Call(ctx context.Context, _ ToolRequest) (ToolResult, error) {
	select {
	case <-w.until:
		return ToolResult{Parts: echo.Text("done")}, nil
	case <-ctx.Done():
		return ToolResult{}, ctx.Err()
	}
}

// The answer that asked for an idempotent tool is made durable while the tool runs, unless that
// ends at once.
func TestSyncOverlapsAnIdempotentTool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &committing{committed: make(chan struct{})}
		world := &waiting{until: disk.committed}
		live := NewLive(world, world, Writer{Log: echo.NewLog("s", nil, disk)}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 10*quickTool)
		defer cancel()
		m, err := live.Tool(ctx, echo.MustKey(tool1), ToolSpec{Name: "t", Idempotent: true}, ToolRequest{Name: "t"})
		require.NoError(t, err, "nothing was made durable while the tool ran")
		require.Equal(t, "done", m.Text())
	})
}

// A request for embeddings is answered without a message.
func TestEntryOfACallWithoutMessages(t *testing.T) {
	t.Parallel()
	e := CallEntry(echo.CardsKey().Numbered(echo.StepEmbed, 1), &ModelRequest{Model: "m"}, &ModelResponse{Usage: echo.Usage{In: 5}}, nil, 0)
	require.Nil(t, e.Message)
	require.Empty(t, e.RequestHash)
	require.Equal(t, echo.Usage{In: 5}, *e.Usage)
}
