package record

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// A tally comes to what the fold of the same entries comes to, and to the sums of its parts.
func TestTallyIsWhatTheFoldSays(t *testing.T) {
	t.Parallel()
	phases := 0
	for seed := range uint64(40) {
		f, tally := New(), Tally{}
		var sent Sizes
		for _, e := range randomSession(t, seed) {
			f.Add(e)
			tally.Add(e)
			require.Equal(t, f.Sums(), tally.Sums())
			require.Equal(t, f.Entries(), tally.Sums().Entries)
			require.Equal(t, f.StartedAt(), tally.Sums().StartedAt)
			require.GreaterOrEqual(t, tally.Sums().Phases, len(f.Visits()))
			require.GreaterOrEqual(t, tally.Sums().Context.Full, sent.Full, "it only grows")
			sent = tally.Sums().Context
		}
		for _, v := range f.Visits() {
			require.Equal(t, v.Spent, tally.Visit(v.Key))
		}
		phases += tally.Sums().Phases
	}
	require.Positive(t, phases)
	require.Zero(t, (&Tally{}).Visit(echo.PhaseKey("p", 1)))
}

// Requests for embeddings are no calls, are paid for all the same, and belong to no phase. What a
// call was sent counts once the call is answered.
func TestTallyTellsRequestsApart(t *testing.T) {
	t.Parallel()
	var tally Tally
	seq := uint64(0)
	put := func(node echo.NodeType, key string, failed bool) {
		seq++
		usd := 0.25
		e := &echo.Entry{Seq: seq, NodeType: node, Key: echo.MustKey(key)}
		if node == echo.NodeModelCall {
			e.CostUSD, e.Usage = &usd, &echo.Usage{In: 10}
		}
		if node == echo.NodeSelection {
			e.Selection = &echo.Selection{FullHistorySize: 7, ContextSize: 5}
		}
		if failed {
			e.Error = &echo.Failure{Kind: "server"}
		}
		tally.Add(e)
	}
	put(echo.NodePhaseStart, "p/start", false)
	put(echo.NodeSelection, "p/attempt1/turn1/context", false)
	put(echo.NodeModelCall, "p/attempt1/turn1/model", true)
	require.Zero(t, tally.Sums().Context)
	put(echo.NodeModelCall, "p/attempt1/turn1/model", false)
	put(echo.NodeModelCall, "p/attempt1/turn1/validate/v/model", false)
	put(echo.NodeModelCall, "cards/call1", false)
	put(echo.NodeModelCall, "cards/embed1", true)
	s := tally.Sums()
	require.Equal(t, Sizes{Full: 7, Sent: 5}, s.Context)
	require.Equal(t, Totals{Calls: 4, Embeddings: 1, Failed: 2, Usage: echo.Usage{In: 50}, CostUSD: 1.25}, s.Totals)
	require.Equal(t, Totals{Calls: 1, Embeddings: 1, Failed: 1, Usage: echo.Usage{In: 20}, CostUSD: 0.5}, s.Background)
	require.Equal(t, 3, tally.Visit(echo.PhaseKey("p", 1)).Totals.Calls)
	require.Equal(t, 5, s.Totals.Requests())
	require.Zero(t, *Totals{}.KnownUSD(), "the sum of none is known")
	require.Nil(t, Totals{Embeddings: 1, UnknownCosts: 1}.KnownUSD())
}

// A run took the time in which it ran: not the night between its stop and its resume. A fork began
// when it was made, and what it has copied took none of its time.
func TestTallyOfTime(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	entry := func(seq uint64, node echo.NodeType, after time.Duration) *echo.Entry {
		return &echo.Entry{Seq: seq, NodeType: node, Key: echo.MustKey("run/start"), At: began.Add(after), Data: []byte(`{}`)}
	}
	entries := []*echo.Entry{
		entry(1, echo.NodeRunStart, 0), entry(2, echo.NodeRunEnd, 5*time.Second),
		entry(3, echo.NodeResume, 9*time.Hour), entry(4, echo.NodeRunEnd, 9*time.Hour+2*time.Second),
	}
	sums := Of(entries).Sums()
	require.Equal(t, began, sums.StartedAt)
	require.Equal(t, 7*time.Second, sums.Ran)
	require.Equal(t, began.Add(9*time.Hour+2*time.Second), sums.LastAt)

	entries[0].Data = []byte(`{"header":{"parent":"a","parent_seq":2}}`)
	sums = Of(entries).Sums()
	require.Equal(t, began.Add(9*time.Hour), sums.StartedAt)
	require.Equal(t, 2*time.Second, sums.Ran)
	sums = Of(entries[:2]).Sums()
	require.Equal(t, began, sums.StartedAt, "it has nothing of its own yet")
	require.Zero(t, sums.Ran)
}

// TestRoundUSD: what adding up leaves behind is no part of a sum, and what a token costs is.
func TestRoundUSD(t *testing.T) {
	t.Parallel()
	one, two := 0.1, 0.2
	for of, want := range map[float64]float64{
		one + two: 0.3, 2.7689999999999997: 2.769, 0: 0, 1e-12: 1e-12, 0.00000002: 0.00000002, -one - two: -0.3,
		12345.1 + two: 12345.3, 1e15: 1e15, 3e-13: 0,
	} {
		require.Equal(t, want, RoundUSD(of))
	}
	require.Equal(t, 0.3, *Totals{Calls: 2, CostUSD: one + two}.KnownUSD())
	require.True(t, math.IsInf(RoundUSD(math.Inf(1)), 1))
}
