package live

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// windowed returns entries of a phase whose model has a window of 1,000 tokens, and then one of 500.
func windowed(t *testing.T) (before, after []*echo.Entry) {
	t.Helper()
	call := func(key string, in, cached int64) *echo.Entry {
		usd := 0.01
		return &echo.Entry{
			NodeType: echo.NodeModelCall, Phase: "collect", Attempt: 1, Turn: 1, Key: echo.MustKey(key), Model: "big",
			Usage: &echo.Usage{In: in, Cached: cached, Out: 5}, CostUSD: &usd,
		}
	}
	failed := call("collect/attempt1/turn1/model2", 999, 0)
	failed.Error = &echo.Failure{Kind: "server", Message: "on fire"}
	before = []*echo.Entry{
		{NodeType: echo.NodePhaseStart, Phase: "collect", Data: json.RawMessage(`{"visit":1,"context":{"dialect":"native","policy":{},"window":1000}}`)},
		call("collect/attempt1/turn1/model", 100, 0),
		call("collect/attempt1/turn2/model", 250, 150),
		call("collect/attempt1/turn2/compact1/model", 650, 100), // no request of the conversation
	}
	return before, []*echo.Entry{
		failed,
		{
			NodeType: echo.NodeWarning, Phase: "collect",
			Data: json.RawMessage(`{"message":"small is asked","fallback":{"from":"big","to":"small","kind":"server","context":{"dialect":"native","policy":{},"window":500}}}`),
		},
		call("collect/attempt1/turn3/model", 400, 0),
	}
}

// A phase shows how much of its model's window the last request took, of the model that is asked now,
// and how much of what was sent came from the cache.
func TestShareOfTheWindowAndCacheHits(t *testing.T) {
	t.Parallel()
	p := NewProgress("c", "s", []string{"collect"}, func() time.Time { return time.Unix(0, 0) })
	row := func() string {
		lines := p.Frame(Room{Width: 79, Height: 23}, false)
		return strings.Join(strings.Fields(lines[1]), " ") + " | " + strings.Join(strings.Fields(lines[2]), " ")
	}
	before, after := windowed(t)
	for _, e := range before {
		p.Entry(e)
	}
	const head = "phase turn in out cached window cost time | "
	require.Equal(t, head+"▸ collect 1 1,000 15 25.0 % 25.0 % $0.0300 0s", row())
	for _, e := range after[:2] {
		p.Entry(e)
	}
	require.Equal(t, "phase turn in out cached cost time | ▸ collect 1 1,999 20 12.5 % $0.0400 0s", row(), "nothing was sent to the other model yet")
	p.Entry(after[2])
	require.Equal(t, head+"▸ collect 1 2,399 25 10.4 % 80.0 % $0.0500 0s", row())
}

// A pipe gets the same at the end of a phase, also when the phase was begun before a resume.
func TestPlainShareOfTheWindow(t *testing.T) {
	t.Parallel()
	end := entryOf(t, echo.NodePhaseEnd, echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered})
	end.DurationMS = 1500
	before, _ := windowed(t)
	start := &echo.Entry{NodeType: echo.NodeRunStart, SessionID: "s", CascadeID: "c", Key: echo.MustKey("run/start")}
	var out bytes.Buffer
	v := NewPlain(&out)
	v.Resume(append([]*echo.Entry{start}, before...))
	require.NoError(t, v.Write(end))
	require.Equal(t, "c: session s is resumed after 5 entries, 3 model calls answered from its record\n"+
		"collect: completed (answered)  cached 25.0 %  window 25.0 %  1.5s\n", out.String())
}

// A view that is quiet says only what concerns money.
func TestQuiet(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := NewQuiet(&out)
	_, after := windowed(t)
	for _, e := range append(told(t), after...) {
		require.NoError(t, v.Write(e))
	}
	budget := entryOf(t, echo.NodeWarning, echo.Warning{Message: "max_usd counts what is known"})
	budget.Key = echo.MustKey("collect/attempt1/turn2/model/beside/warning")
	require.NoError(t, v.Write(budget))
	require.Equal(t, "Warning: collect: small is asked\nWarning: collect turn 2: max_usd counts what is known\n", out.String())
}
