package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestCardsAreAsManyAsAskedFor(t *testing.T) {
	t.Parallel()
	s := size{cards: 1003, sessions: 11, own: 100, dimensions: 3}
	m := makeCards(s)
	require.Len(t, m.all, s.cards)
	bySession, hashes, last := map[string]int{}, map[echo.Hash]bool{}, 0
	for i, c := range m.all {
		bySession[c.SessionID]++
		hashes[c.Hash] = true
		require.Len(t, c.Embedding, s.dimensions)
		if c.SessionID == ownSession {
			last = i
			require.InDelta(t, c.Order*s.cards/s.own, i, 50, "the session's cards come evenly")
		}
	}
	require.Positive(t, last)
	require.Len(t, hashes, s.cards)
	require.Len(t, bySession, s.sessions)
	require.Equal(t, s.own, bySession[ownSession])
	items := 0
	for _, g := range m.groups {
		items += len(g.Items)
	}
	require.Equal(t, s.own, items)
}

func TestBars(t *testing.T) {
	t.Parallel()
	times := map[string][]float64{"whole cards: store": {50, 50, 50}}
	for _, kind := range []string{"words", "meaning"} {
		times[kind+": bare query"], times[kind+": store"], times[kind+": selection"] = []float64{10, 10, 10}, []float64{15, 15, 99}, []float64{14, 14, 14}
	}
	var out strings.Builder
	b := &bench{times: times}
	require.True(t, b.report(&out, size{own: 2000}), out.String())
	require.Contains(t, out.String(), "pass  heuristic: ClickHouse's part is 1.50 times the bare query, at most 1.5\n"+
		"pass  heuristic: with the selection 29.0 ms, under 30\n")
	require.Contains(t, out.String(), "words: store  15.0  15.0 to 99.0")
	times["words: selection"] = []float64{15, 15, 15}
	times["meaning: bare query"] = []float64{9, 9, 9}
	out.Reset()
	require.False(t, b.report(&out, size{own: 2000}))
	require.Contains(t, out.String(), "FAIL  heuristic: with the selection 30.0 ms, under 30\n")
	require.Contains(t, out.String(), "FAIL  semantic: ClickHouse's part is 1.67 times the bare query, at most 1.5\n")
	require.Contains(t, out.String(), "pass  semantic: with the selection 29.0 ms, under 30\n")
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	_, err := run(t.Context(), []string{"-cards", "10"})
	require.EqualError(t, err, "-cards must be more than -own and -sessions together, -sessions at least 2, everything else at least 1")
}
