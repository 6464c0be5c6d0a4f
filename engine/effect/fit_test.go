package effect_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/effect/effecttest"
)

// Of a selection in another wording of the same history the recorded one counts, with the hashes of
// now; of another history the one that is made now.
func TestAnsweredReadingsFitTheHistory(t *testing.T) {
	t.Parallel()
	key := echo.PhaseKey("p", 1).Step(echo.StepSelect)
	score := func(id echo.Hash, total float64) echo.Score { return echo.Score{ID: id, Total: total} }
	selection := func(anchor echo.Hash, scores ...echo.Score) echo.InterSelection {
		return echo.InterSelection{
			Selected: echo.Selected{Strategy: echo.StrategyHeuristic, Scores: scores}, Anchors: []echo.Anchor{{ID: anchor}},
		}
	}
	was := selection("a", score("b", 1), score("c", 2))
	require.Equal(t, selection("d", score("e", 1), score("f", 2)), answered(t, key, was, selection("d", score("e", 3), score("f", 4))))
	require.Equal(t, selection("d", score("e", 3)), answered(t, key, was, selection("d", score("e", 3))), "another number of candidates")

	key = key.Step(echo.StepCards)
	card := func(h echo.Hash, summary string) echo.Found {
		return echo.Found{Cards: []echo.FoundCard{{Hash: h, Summary: summary}}}
	}
	findings := func(found ...echo.Found) echo.Findings { return echo.Findings{Found: found} }
	known := findings(card("a", "was"))
	require.Equal(t, findings(card("b", "was")), answered(t, key, known, findings(card("b", "now"))))
	require.Equal(t, findings(card("b", "now"), card("c", "now")), answered(t, key, known, findings(card("b", "now"), card("c", "now"))))
	two := findings(echo.Found{Cards: append(card("b", "now").Cards, card("c", "now").Cards...)})
	require.Equal(t, two, answered(t, key, known, two), "another number of cards")
}

// answered takes a reading that another one is recorded of.
func answered[T echo.Payload](t *testing.T, key echo.Key, was, now T) T {
	t.Helper()
	a := effect.NewAnswered(effect.Writer{Log: echo.NewLog("s", nil, &effecttest.Disk{})}, []*echo.Entry{echo.NewEntry(key, was)})
	raw, err := a.Value(t.Context(), key, effect.Site{}, func() echo.Payload { return now })
	require.NoError(t, err)
	got, err := echo.Decode[T](raw)
	require.NoError(t, err)
	return got
}

// A reading that JSON cannot express is an error, and not a reading of nothing.
func TestReadingThatIsNoJSON(t *testing.T) {
	t.Parallel()
	log := echo.NewLog("s", nil, &effecttest.Disk{})
	key := echo.PhaseKey("p", 1).Step(echo.StepClock)
	for _, effects := range []effect.Effects{effect.NewAnswered(effect.Writer{Log: log}, nil), effect.NewLive(nil, nil, effect.Writer{Log: log}, nil)} {
		_, err := effects.Value(t.Context(), key, effect.Site{}, func() echo.Payload { return echo.Clock(math.NaN()) })
		var re *effect.RecordError
		require.ErrorAs(t, err, &re)
		require.ErrorContains(t, err, "encode value (clock) (p/clock): json: unsupported value: NaN")
	}
}
