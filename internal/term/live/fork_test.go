package live

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// What a fork has copied is drawn, and in no sum: the session that it comes from has paid for it.
func TestForkOnTerminal(t *testing.T) {
	t.Parallel()
	p := NewProgress("c", "s2", []string{"one"}, func() time.Time { return time.Unix(0, 0) })
	start := echo.NewEntry(echo.RunKey().Step(echo.StepStart), echo.RunStart{Header: []byte(`{"parent":"s1","parent_seq":3}`)})
	call := func(seq uint64) *echo.Entry {
		usd := 2.0
		return &echo.Entry{Seq: seq, NodeType: echo.NodeModelCall, Phase: "one", Key: echo.MustKey("one/attempt1/turn1/model"), CostUSD: &usd, Usage: &echo.Usage{In: 7}}
	}
	start.Seq = 1
	p.Entry(start)
	p.Entry(&echo.Entry{Seq: 2, NodeType: echo.NodePhaseStart, Phase: "one", Key: echo.MustKey("one/start")})
	p.Entry(call(3))
	require.Contains(t, strings.Join(p.Frame(Room{Width: 100}, false), "\n"), "in 0  cached 0  out 0  $0.00")
	p.Entry(call(4))
	require.Contains(t, strings.Join(p.Frame(Room{Width: 100}, false), "\n"), "in 7  cached 0 (0.0 %)  out 0  $2.00")
}
