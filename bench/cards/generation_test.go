package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) { os.Exit(clickhousetest.Main(m)) }

// TestARunMakesItsCards holds the measured run to what it is said to be: cards of all its messages are made, embedded and
// delivered, or none is.
func TestARunMakesItsCards(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	db, err := clickhouse.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	c, err := newCourse(o, db, 0)
	require.NoError(t, err)
	c.home = t.TempDir()
	calm, err := newCalm(t.Context(), db, o)
	require.NoError(t, err)

	without, err := c.run(t.Context(), "without", false, nil)
	require.NoError(t, err)
	require.Zero(t, without.calls)
	require.Positive(t, without.answer)
	require.Greater(t, without.delivered, without.answer)
	made, err := cardsOf(db).Cards(t.Context(), "without")
	require.NoError(t, err)
	require.Empty(t, made)

	_, err = c.run(t.Context(), "with", true, contextcards.NewHashed(0))
	require.NoError(t, err)
	made, err = cardsOf(db).Cards(t.Context(), "with")
	require.NoError(t, err)
	require.Len(t, made, 2*runTurns, "the task, 49 calls with their results, the answer")
	results := 0
	for _, card := range made {
		require.Len(t, card.Embedding, 256, "%s %q by %s", card.Role, card.Summary, card.EmbeddingModel)
		if card.Role == echo.RoleTool {
			results++
			require.Greater(t, card.Tokens, int64(resultSize/4))
		}
	}
	require.Equal(t, runTurns-1, results)

	require.NoError(t, calm.empty(t.Context()))
	made, err = cardsOf(db).Cards(t.Context(), "with")
	require.NoError(t, err)
	require.Empty(t, made)
	require.NoError(t, calm.end(t.Context()))
}

// timesOf makes times of so many rounds from the time of a run without cards.
func timesOf(rounds int, answer func(round int) float64) []took {
	out := make([]took, rounds)
	for i := range out {
		out[i] = took{answer: answer(i), delivered: 2 * answer(i), calls: 0.25}
	}
	return out
}

func TestWhatCardsMayAdd(t *testing.T) {
	t.Parallel()
	flat := func(ms float64) func(int) float64 { return func(int) float64 { return ms } }
	uneven := func(i int) float64 { return 100 + float64(i%21-10) } // by 10 % up and down
	g := &generation{
		variants: []variant{{name: withoutCards}, {name: again}, {name: "cards", cards: true}},
		times:    [][]took{timesOf(101, flat(100)), timesOf(101, flat(101)), timesOf(101, flat(101.9))},
	}
	var out strings.Builder
	require.True(t, g.report(&out), out.String())
	require.Contains(t, out.String(), "a run of 50 turns, the scripted model answers at once (medians of 101 rounds;")
	require.Contains(t, out.String(), "pass  a model that answers at once: the noise is 1.0 %, under 2\n"+
		"pass  a model that answers at once: cards add 1.9 % to the time of a run, under 2\n")
	require.Regexp(t, `cards +101\.9 +\+1\.9 \(\+1\.9 to \+1\.9\) +\+1\.9 to \+1\.9 +0\.25 +203\.8 +\+1\.9`, out.String())

	g.times[2] = timesOf(101, flat(102))
	g.delay = 20 * time.Millisecond
	out.Reset()
	require.False(t, g.report(&out))
	require.Contains(t, out.String(), "FAIL  a model that answers within 20ms: cards add 2.0 % to the time of a run, under 2\n")

	g.times[1], g.times[2] = timesOf(101, uneven), timesOf(101, flat(100))
	out.Reset()
	require.False(t, g.report(&out), "noise as large as the bar tells nothing")
	require.Contains(t, out.String(), "FAIL  a model that answers within 20ms: the noise is 2.0 %, under 2\n")
	a := g.added(1, took.untilAnswer)
	require.InDelta(t, 0, a.median, 1e-9)
	require.InDelta(t, -5, a.low, 1e-9)
	require.InDelta(t, 5, a.high, 1e-9)
	require.InDelta(t, -2, a.from, 1e-9)
	require.InDelta(t, 2, a.to, 1e-9)
}

func TestWrongCountsOfRounds(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"-runs", "-slow-runs", "-rounds"} {
		_, err := run(t.Context(), []string{flag, "0"})
		require.EqualError(t, err, "-cards must be more than -own and -sessions together, -sessions at least 2, everything else at least 1")
	}
}
