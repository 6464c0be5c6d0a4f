package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

func toolKey(n int) echo.Key {
	return echo.MustKey(fmt.Sprintf("collect/attempt1/turn1/tool%d", n))
}

// toolEvent is the start of a tool of the first turn.
func toolEvent(n int, name, arguments string) engine.Event {
	return engine.Event{Kind: engine.EventToolCall, Key: toolKey(n), Site: effect.Site{Phase: "collect", Attempt: 1, Turn: 1}, Tool: name, Arguments: arguments}
}

// Of twelve tools eight run and four wait; each has the time since it began, and those that have no
// line are counted.
func TestRunningTools(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	p := NewProgress("c", "s", []string{"collect"}, func() time.Time { return clock })
	p.Entry(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: "collect"})
	for i := 1; i <= 12; i++ {
		p.Event(toolEvent(i, "look", fmt.Sprintf(`{"path":"file%d"}`, i)))
	}
	tools := func(height int) (out []string) {
		for _, line := range p.Frame(Room{Width: 80, Height: height}, false) {
			if strings.Contains(line, "file") || strings.Contains(line, "more") {
				out = append(out, strings.Join(strings.Fields(line), " "))
			}
		}
		return out
	}
	clock = clock.Add(75 * time.Second)
	require.Equal(t, []string{"1m15s look file1", "1m15s look file2", "1m15s look file3", "1m15s look file4", "and 8 more"}, tools(15))
	require.Equal(t, []string{"and 12 more"}, tools(4))
	p.Entry(&echo.Entry{NodeType: echo.NodeToolCall, Phase: "collect", Key: toolKey(2)})
	p.Entry(&echo.Entry{NodeType: echo.NodeToolCall, Phase: "collect", Key: toolKey(9)})
	clock = clock.Add(2 * time.Second)
	require.Equal(t, []string{
		"1m17s look file1", "1m17s look file3", "1m17s look file4", "1m17s look file5", "1m17s look file6", "1m17s look file7",
		"1m17s look file8", "2s look file10", "waits look file11", "waits look file12",
	}, tools(0), "the ninth began when the second ended, the tenth when the ninth did")
	p.Entry(&echo.Entry{NodeType: echo.NodeToolCall, Phase: "collect", Key: toolKey(1)})
	require.Contains(t, tools(0), "0s look file11")
	p.Entry(&echo.Entry{NodeType: echo.NodePhaseEnd, Phase: "collect"})
	require.Empty(t, tools(0))
}

// What a tool was called with is shown from its start, in one line, without what controls a terminal.
func TestArgumentHint(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"limit": 3, "path": "a.go", "about": "x"}`:   "a.go",
		`{"limit": 3, "query": "two\n\u001b[2Jlines"}`: "two �[2Jlines",
		`{"limit": 3, "from": {"day": 1}}`:             `{"from":{"day":1},"limit":3}`,
		`{"path": "` + strings.Repeat("x", 500) + `"}`: strings.Repeat("x", 199) + "…",
		`{}`: "", `[1]`: "", `no JSON`: "",
	} {
		require.Equal(t, want, argumentHint(args))
	}
}
