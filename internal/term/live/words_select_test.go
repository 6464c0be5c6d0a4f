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

// selectionEntry is what came into a phase of earlier ones: two anchors and one of 41 candidates.
func selectionEntry(t *testing.T) *echo.Entry {
	t.Helper()
	data, err := json.Marshal(echo.InterSelection{
		Selected: echo.Selected{
			Asked: echo.StrategyHybrid, Strategy: echo.StrategyPrefilter, Candidates: 41, Used: 1522, Chosen: []echo.Hash{"0123456789abcdef"},
			Scores: []echo.Score{{ID: "0123456789abcdef", Tokens: 1500, Chosen: true}, {ID: "fedcba9876543210", Tokens: 29_000}},
		},
		Anchors: make([]echo.Anchor, 2), AnchorTokens: 500, Everything: 31_000,
	})
	require.NoError(t, err)
	return &echo.Entry{NodeType: echo.NodeInter, Phase: "research", Data: data}
}

const selectionText = "context by prefilter: 2 anchors, 1 of 41 candidates; 2,000 of 31,000 tokens"

func TestSelectionLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, selectionText, selectionLine(selectionEntry(t)))
	for _, data := range []string{`[]`, `{}`, ``} {
		require.Empty(t, selectionLine(&echo.Entry{Data: json.RawMessage(data)}))
	}
}

// Both views show what came into a phase of earlier ones, the live one as long as the phase runs.
func TestSelectionIsShown(t *testing.T) {
	t.Parallel()
	start := &echo.Entry{NodeType: echo.NodePhaseStart, Phase: "research"}
	var out bytes.Buffer
	plain := NewPlain(&out)
	for _, e := range []*echo.Entry{start, selectionEntry(t), {NodeType: echo.NodeInter, Phase: "research", Data: json.RawMessage(`{}`)}} {
		require.NoError(t, plain.Write(e))
	}
	require.Equal(t, "research: "+selectionText+"\n", out.String())

	now := time.Now()
	p := NewProgress("c", "s", []string{"research", "report"}, func() time.Time { return now })
	shown := func() string { return strings.Join(p.Frame(Room{Width: 100, Height: 20}, false), "\n") }
	p.Entry(start)
	require.NotContains(t, shown(), "context by")
	p.Entry(selectionEntry(t))
	p.Event(engine.Event{Kind: engine.EventModelCall, Model: "cheap", Site: effect.Site{Phase: "research", Attempt: 1, Turn: 1}})
	require.Contains(t, shown(), "\n        0s  asking cheap\n      "+selectionText+"\n")
	p.Entry(&echo.Entry{NodeType: echo.NodePhaseEnd, Phase: "research", Data: json.RawMessage(`{"status":"completed"}`)})
	p.Entry(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: "report"})
	require.NotContains(t, shown(), "context by")
}
