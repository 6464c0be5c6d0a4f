package record_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// What came in saves in every call of the visit that was answered: the first time at full price,
// then at that of the cache.
func TestBetweenPhases(t *testing.T) {
	t.Parallel()
	selection := func(key string, everything int64) *echo.Entry {
		return echo.NewEntry(echo.MustKey(key), echo.InterSelection{
			Selected: echo.Selected{Strategy: echo.StrategyHeuristic, Scores: []echo.Score{{ID: "h", Tokens: 60, Chosen: true}, {ID: "i", Tokens: 70}}},
			Anchors:  []echo.Anchor{}, AnchorTokens: 40, Everything: everything,
		})
	}
	call := func(key string, failed bool) []*echo.Entry {
		k := echo.MustKey(key)
		answer := &echo.Entry{NodeType: echo.NodeModelCall, Key: k.ModelKey()}
		if failed {
			answer.Error = &echo.Failure{Kind: "server"}
		}
		return []*echo.Entry{{NodeType: echo.NodeSelection, Key: k.ModelKey().Parent().Step(echo.StepContext), Selection: &echo.Selection{}}, answer}
	}
	start := func(phase string, price *echo.Price) *echo.Entry {
		return echo.NewEntry(echo.MustKey(phase+"/start"), echo.PhaseStart{Visit: 1, Context: &echo.PhaseContext{Dialect: "native", Policy: []byte("{}"), Price: price}})
	}
	entries := []*echo.Entry{start("a", &echo.Price{Input: 10, Cached: 1}), selection("a/select", 5000), selection("a/select", 1100)}
	for i, key := range []string{"a/attempt1/turn1/model", "a/attempt1/turn2/model", "a/attempt1/turn3/model"} {
		entries = append(entries, call(key, i == 1)...)
	}
	usd := 1000 * (10.0 + 1) / 1e6
	want := record.Between{Selections: 1, Calls: 2, FullTokens: 2200, SentTokens: 200, SavedTokens: 2000, SavedUSD: &usd}
	require.Equal(t, want, record.BetweenPhases(entries), "the newest selection of a visit counts")

	entries = append(entries, start("b", nil), selection("b/select", 150))
	require.Equal(t, want, record.BetweenPhases(entries), "nothing was asked in b")
	entries = append(entries, call("b/attempt1/turn1/model", false)...)
	want.Selections, want.Calls, want.Unpriced = 2, 3, 1
	want.FullTokens, want.SentTokens, want.SavedTokens = 2350, 300, 2050
	require.Equal(t, want, record.BetweenPhases(entries))
	require.Equal(t, record.Between{SavedUSD: new(float64)}, record.BetweenPhases(nil), "the sum of none is known")
}
