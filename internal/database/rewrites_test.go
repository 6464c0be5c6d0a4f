package database

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// Rewrites that have won are those of the database; without one there are none.
func TestRewrites(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	db := get(t, p.Open())
	var entries []*echo.Entry
	for _, e := range []*echo.Entry{
		echo.NewEntry(echo.MustKey("draft/sounding1/candidate"), echo.Candidate{Factor: 2, Species: "s", Mutation: &echo.Mutation{Mode: "rewrite", Entry: "e", Text: "won before"}}),
		echo.NewEntry(echo.MustKey("draft/choice"), echo.Choice{Winner: 1, How: echo.ChoiceVotes, Standings: []echo.Standing{{Number: 1, State: echo.CandidateWon}}}),
	} {
		e.SessionID, e.Seq = "one", uint64(len(entries)+1)
		e.SetKeyFields()
		entries = append(entries, e)
	}
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	require.NoError(t, db.Close())
	require.Equal(t, []string{"won before"}, Rewrites{p}.Winners(t.Context(), "draft", "s", 5))
	require.Empty(t, Rewrites{p}.Winners(t.Context(), "draft", "other", 5))

	gone := NewPool(clickhouse.Options{})
	require.NoError(t, gone.Close())
	require.Empty(t, Rewrites{gone}.Winners(t.Context(), "draft", "s", 5))
}
