package engine

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// slowDisk is a durable sink whose syncs are only done when somebody waits for them.
type slowDisk struct {
	inMemory
	mu      sync.Mutex
	flushed int
	durable int
	waits   int
}

func (d *slowDisk) Write(e *echo.Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inMemory.Write(e)
}

func (d *slowDisk) Flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flushed = len(d.list)
}

func (d *slowDisk) Commit() { d.Flush() }

func (d *slowDisk) Wait(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waits++
	d.flushed, d.durable = len(d.list), len(d.list)
	return nil
}

// state returns how many entries there are, how many outlive the process, and how many outlive the
// machine.
func (d *slowDisk) state() (appended, flushed, durable int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.list), d.flushed, d.durable
}

// Everything recorded is durable before a request leaves and before a tool starts that cannot be
// run twice; the answer that asked for a tool is in the file before any tool starts.
func TestNothingLeavesBeforeTheRecordIsSafe(t *testing.T) {
	t.Parallel()
	disk := &slowDisk{}
	b := setup(t, call("write", `{}`, "read", `{}`), call("read", `{"n":2}`), say("done"))
	for i, answer := range b.model.answers {
		b.model.answers[i] = func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			appended, _, durable := disk.state()
			require.Equal(t, appended, durable, "request %d left before the record was durable", i)
			return answer(req)
		}
	}
	started := map[string]int{}
	var mu sync.Mutex
	tool := func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		_, flushed, durable := disk.state()
		answers := len(disk.answers())
		require.Equal(t, answers, disk.positionOf(echo.NodeModelCall, flushed), "the answer is not in the file")
		if req.Name == "write" {
			require.Equal(t, answers, disk.positionOf(echo.NodeModelCall, durable), "the answer is not durable")
		}
		mu.Lock()
		started[req.Name]++
		mu.Unlock()
		return effect.ToolResult{Parts: echo.Text("ok")}, nil
	}
	b.tools.add("write", `{"type":"object"}`, tool)
	b.tools.add("read", `{"type":"object"}`, tool)
	b.runner.Tools = idempotent{b.tools, "read"}

	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["write","read"]}]}`), c))
	_, err := b.runner.Run(context.Background(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, disk)})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"write": 1, "read": 2}, started)
	require.Equal(t, 4, disk.waits, "three requests and one tool that cannot be run twice wait for the disk")
}

func (d *slowDisk) answers() []*echo.Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.of(echo.NodeModelCall)
}

// positionOf counts the entries of a type among the first n.
func (d *slowDisk) positionOf(t echo.NodeType, n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	count := 0
	for _, e := range d.list[:n] {
		if e.NodeType == t {
			count++
		}
	}
	return count
}

// idempotent marks one tool of a set as harmless to repeat.
type idempotent struct {
	effect.Tools
	name string
}

func (i idempotent) Spec(name string) (effect.ToolSpec, bool) {
	s, ok := i.Tools.Spec(name)
	s.Idempotent = name == i.name
	return s, ok
}
