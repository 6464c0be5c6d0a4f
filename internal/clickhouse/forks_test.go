package clickhouse_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// forkOf is the session s1 once more, as a fork of it that has its entries up to one, and then went
// on in the same way.
func forkOf(id string, upto uint64) (fork []*echo.Entry) {
	for _, e := range stories() {
		if e.SessionID != "s1" {
			continue
		}
		mine := *e
		mine.SessionID = id
		if mine.NodeType == echo.NodeRunStart {
			mine.Data = fmt.Appendf(nil, `{"input":{},"work_dir":"","header":{"session_id":%q,"parent":"s1","parent_seq":%d}}`, id, upto)
		}
		fork = append(fork, &mine)
	}
	return fork
}

// TestCopiesAreNotCounted: wherever a fork begins, its views have its own calls alone, those of both
// sessions together have what each paid for, and what is copied is beside it.
func TestCopiesAreNotCounted(t *testing.T) {
	t.Parallel()
	for _, nulls := range []string{"", " SETTINGS join_use_nulls = 1"} {
		db := clickhousetest.Open(t)
		require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()))
		var own, copied uint64
		for upto := uint64(1); upto < uint64(len(forkOf("f", 1))); upto += 3 {
			id := fmt.Sprint("f", upto)
			entries := forkOf(id, upto)
			require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
			sums := record.Of(entries).Sums()
			between := record.BetweenPhases(entries)
			s, err := db.Session(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, "s1", s.ForkedFrom)
			require.EqualValues(t, sums.Totals.Calls, s.Calls)
			require.EqualValues(t, sums.Totals.Embeddings, s.EmbeddingCalls)
			require.EqualValues(t, sums.ToolCalls, s.ToolCalls)
			require.WithinDuration(t, sums.StartedAt, s.StartedAt, time.Microsecond, id)
			require.InDelta(t, float64(sums.Ran.Microseconds())/1000, s.RanMS, 1e-3, id)
			require.EqualValues(t, sums.Totals.Usage.In, s.TokensIn)
			require.EqualValues(t, sums.Copied.Totals.Requests(), s.CopiedCalls)
			require.EqualValues(t, sums.Copied.Totals.UnknownCosts, s.CopiedUnknown)
			own, copied = own+s.Calls+s.EmbeddingCalls, copied+s.CopiedCalls
			requireUSD(t, sums.Totals.KnownUSD(), s.CostUSD)
			requireUSD(t, sums.Copied.Totals.KnownUSD(), s.CopiedCostUSD)
			counts := fmt.Sprintf("calls\n%d\n", sums.Totals.Requests())
			require.Equal(t, counts, result(t, db, "SELECT count() AS calls FROM model_calls WHERE NOT copied AND session_id = '"+id+"'"+nulls))
			require.Equal(t, counts, result(t, db, "SELECT sum(calls + embedding_calls) AS calls FROM cost_by_session WHERE session_id = '"+id+"'"+nulls))
			var sent []struct {
				Full, Sent, Selected int64
				USD                  *float64 `ch:"USD"`
			}
			require.NoError(t, clickhouse.Conn(db).Select(t.Context(), &sent, "SELECT sum(full_tokens) AS Full, sum(sent_tokens) AS Sent, "+
				"sum(selection_saved_tokens) AS Selected, sumOrNull(selection_saved_usd) AS USD FROM savings_by_session WHERE session_id = '"+id+"'"+nulls))
			require.Equal(t, sums.Context, record.Sizes{Full: sent[0].Full, Sent: sent[0].Sent}, id)
			require.Equal(t, between.SavedTokens, sent[0].Selected, id)
			if sent[0].USD != nil {
				require.InDelta(t, *between.SavedUSD, *sent[0].USD, 1e-12, id)
			} else {
				require.Zero(t, *between.SavedUSD, "no call is left to save in")
			}
		}
		require.Positive(t, own)
		require.Positive(t, copied)
		require.Equal(t, "0", scalar(t, db, "SELECT count() FROM sessions WHERE forked_from = '' AND (copied_calls > 0 OR isNotNull(copied_cost_usd))"+nulls))
		for _, by := range clickhouse.CostBys() {
			require.Equal(t, scalar(t, db, "SELECT count() FROM model_calls WHERE NOT copied"+nulls), scalar(t, db, "SELECT sum(calls + embedding_calls) FROM cost_by_"+string(by)+nulls))
		}
	}
}

func requireUSD(t *testing.T, want, got *float64) {
	t.Helper()
	require.Equal(t, want == nil, got == nil)
	if want != nil {
		require.InDelta(t, *want, *got, 1e-12)
	}
}
