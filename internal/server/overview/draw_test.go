package overview

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/figures"
)

func usd(v float64) *float64 { return &v }

// TestSpark: a run whose cost is not known parts the line, and what nothing is known of has none.
func TestSpark(t *testing.T) {
	t.Parallel()
	require.Nil(t, newSpark(nil))
	require.Nil(t, newSpark([]figures.Spent{{}, {}}))
	s := newSpark([]figures.Spent{{USD: usd(1)}, {USD: usd(2)}, {}, {USD: usd(0)}})
	require.Equal(t, []string{"4.0,14.0 41.3,4.0", "116.0,24.0"}, s.Lines)
	require.Equal(t, "Cost of the newest 4 runs: the newest $0.00, the most expensive $2.00", s.Says)
	require.Equal(t, []string{"24.0"}, []string{newSpark([]figures.Spent{{USD: usd(0)}}).YText()})
}

// TestChart: days without calls have their place, long times are cut at their beginning, and nothing is drawn of no days.
func TestChart(t *testing.T) {
	t.Parallel()
	require.Nil(t, newChart(nil))
	c := newChart([]clickhouse.CostRow{
		{Day: "2026-02-28", Usage: clickhouse.Usage{Calls: 2, CostUSD: usd(1)}},
		{Day: "2026-03-02", Usage: clickhouse.Usage{Calls: 1, UnknownCostCalls: 1, Pretend: clickhouse.Pretend{PretendUSD: usd(2)}}},
		{Day: "2026-03-03", Usage: clickhouse.Usage{EmbeddingCalls: 1, CostUSD: usd(0.0001)}},
	})
	require.Len(t, c.Columns, 4)
	require.Equal(t, []int{70, 0, 0, 1}, []int{c.Columns[0].H, c.Columns[1].H, c.Columns[2].H, c.Columns[3].H})
	require.Equal(t, 140, c.Columns[2].PH)
	require.Equal(t, "2026-03-02: $0.00 + unknown, pretend $2.00, 1 call", c.Columns[2].Title)
	require.Equal(t, []string{"2026-02-28", "", "", "2026-03-03"}, []string{c.Columns[0].Label, c.Columns[1].Label, c.Columns[2].Label, c.Columns[3].Label})
	first := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	long := newChart([]clickhouse.CostRow{{Day: first.Format(time.DateOnly)}, {Day: first.AddDate(0, 0, 399).Format(time.DateOnly)}})
	require.Len(t, long.Columns, mostDays)
	require.Equal(t, 400-mostDays, long.Left)
}
