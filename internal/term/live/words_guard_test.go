package live

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

func guardEntry(t *testing.T, ev echo.Guard) *echo.Entry {
	t.Helper()
	data, err := json.Marshal(ev)
	require.NoError(t, err)
	return &echo.Entry{NodeType: echo.NodeGuard, Phase: "read", Attempt: 1, Turn: 7, Data: data}
}

func TestGuardLine(t *testing.T) {
	t.Parallel()
	for want, ev := range map[string]echo.Guard{
		"context at 82.8 % of its limit (105,984 of 128,000 tokens)": {Event: echo.GuardWarning, Tokens: 105_984, Limit: 128_000},
		"making room in the context (120,000 of 128,000 tokens)":     {Event: echo.GuardActing, Tokens: 120_000, Limit: 128_000},
		"made room in the context, 120,000 -> 71,000 tokens: older messages were summed up by model": {
			Event: echo.GuardComplete, Tokens: 71_000, Before: 120_000, Limit: 128_000, Detail: "older messages were\nsummed up by model",
		},
		"": {Event: "something_newer"},
	} {
		require.Equal(t, want, guardLine(guardEntry(t, ev)))
	}
	require.Empty(t, guardLine(&echo.Entry{Data: json.RawMessage(`[]`)}))
}

// Both views show what the guard does, once, and what its model calls are for.
func TestGuardIsShown(t *testing.T) {
	t.Parallel()
	start := &echo.Entry{NodeType: echo.NodePhaseStart, Phase: "read"}
	warning := guardEntry(t, echo.Guard{Event: echo.GuardWarning, Tokens: 90, Limit: 100})
	summary := &echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("read/attempt1/turn7/compact1/model"), Phase: "read", Attempt: 1, Turn: 7, Model: "cheap", CostUSD: new(0.0)}

	var out bytes.Buffer
	plain := NewPlain(&out)
	for _, e := range []*echo.Entry{start, warning, summary} {
		require.NoError(t, plain.Write(e))
	}
	require.Equal(t, "read turn 7: context at 90.0 % of its limit (90 of 100 tokens)\n"+
		"read turn 7: summing up older messages: model cheap  in 0  cached 0  out 0  $0.00  0ms\n", out.String())

	now := time.Now()
	p := NewProgress("c", "s", []string{"read", "report"}, func() time.Time { return now })
	p.Entry(start)
	p.Entry(warning)
	p.Event(engine.Event{Kind: engine.EventModelCall, Model: "cheap", Site: effect.Site{Phase: "read", Attempt: 1, Turn: 7, Purpose: echo.PurposeSummary}})
	frame := strings.Join(p.Frame(Room{Width: 80, Height: 20}, false), "\n")
	require.Contains(t, frame, "\n        0s  summing up older messages with cheap\n      context at 90.0 % of its limit (90 of 100 tokens)\n")
	require.Len(t, p.Frame(Room{Width: 80, Height: 6}, false), 6)
	for _, line := range p.Frame(Room{Width: 30}, false) {
		require.LessOrEqual(t, len([]rune(line)), 30)
	}
	p.Entry(&echo.Entry{NodeType: echo.NodePhaseEnd, Phase: "read", Data: json.RawMessage(`{"status":"completed"}`)})
	require.NotContains(t, strings.Join(p.Frame(Room{Width: 80}, false), "\n"), "context at")
}
