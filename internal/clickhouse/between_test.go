package clickhouse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
)

// TestSelectionsBetweenPhasesHaveColumns: what came into a phase has its sizes in columns of the log
// and of the selections, and its savings are those that the record comes to.
func TestSelectionsBetweenPhasesHaveColumns(t *testing.T) {
	t.Parallel()
	db := fill(t)
	for _, table := range []string{"logs WHERE node_type = 'context_inter'", "context_selections WHERE selection_type = 'inter_phase'"} {
		require.Equal(t, "full_history_size | context_size | tokens_saved | message_count | masked_count | sent | full\n3000 | 1000 | 2000 | 5 | 3 | 0.01 | 0.03\n",
			result(t, db, "SELECT full_history_size, context_size, tokens_saved, message_count, masked_count, round(sent_usd, 9) AS sent, round(full_usd, 9) AS full FROM "+table))
	}
	var s1 []*echo.Entry
	for _, e := range stories() {
		if e.SessionID == "s1" {
			s1 = append(s1, e)
		}
	}
	want := record.BetweenPhases(s1)
	var rows []struct {
		Selections uint64   `ch:"selections"`
		Full       int64    `ch:"selection_full_tokens"`
		Sent       int64    `ch:"selection_sent_tokens"`
		Saved      int64    `ch:"selection_saved_tokens"`
		USD        *float64 `ch:"selection_saved_usd"`
	}
	for _, view := range []string{"savings_by_session WHERE session_id = 's1'", "savings_by_phase WHERE phase_name = 'fix'", "savings_by_model WHERE model = 'gpt-5'"} {
		rows = nil
		require.NoError(t, clickhouse.Conn(db).Select(t.Context(), &rows,
			"SELECT selections, selection_full_tokens, selection_sent_tokens, selection_saved_tokens, selection_saved_usd FROM "+view))
		require.Len(t, rows, 1, view)
		require.Equal(t, record.Between{
			Selections: int(rows[0].Selections), Calls: 2, FullTokens: rows[0].Full, SentTokens: rows[0].Sent, SavedTokens: rows[0].Saved, SavedUSD: want.SavedUSD,
		}, want, view)
		require.InDelta(t, *want.SavedUSD, *rows[0].USD, 1e-12, view)
	}
}
