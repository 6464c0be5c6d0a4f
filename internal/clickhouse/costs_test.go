package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// tagged is a run of one call that costs 0.1 dollars.
func tagged(session, cascade, model string, after time.Duration, tags ...string) []*echo.Entry {
	header, err := json.Marshal(map[string]any{"header": map[string]any{"cascade": map[string]any{"tags": tags}}})
	if err != nil {
		panic(err) // the data are the test's own
	}
	cost := 0.1
	s := &story{session: session}
	s.add(echo.Entry{NodeType: echo.NodeRunStart, Key: echo.MustKey("run/start"), Data: header})
	s.add(echo.Entry{
		NodeType: echo.NodeModelCall, Key: echo.MustKey("one/attempt1/turn1/model"), Model: model, Provider: "host", CostUSD: &cost,
		Usage: &echo.Usage{In: 10, Out: 1}, Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "yes"),
	})
	for _, e := range s.entries {
		e.CascadeID, e.At = cascade, e.At.Add(after)
	}
	return s.entries
}

// TestCostsOfThoseThatFit: every filter leaves out what it says, by every way to sum up, and what is
// not SQL is not taken for it.
func TestCostsOfThoseThatFit(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	for _, run := range [][]*echo.Entry{
		tagged("s-1", "x", "m1", 0, "nightly", "team=search", "team=search", ""),
		tagged("s-2", "x", "m2", 24*time.Hour, "team=sales"),
		tagged("s-3", "y", "m1", 48*time.Hour),
		tagged("s-4", "y", "m1", 72*time.Hour, "nightly", "o'clock ? 100%"),
	} {
		require.NoError(t, clickhousetest.Insert(t.Context(), db, run))
	}
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	for i, c := range []struct {
		of   clickhouse.Filter
		want string
	}{
		{clickhouse.Filter{}, "s-1 s-2 s-3 s-4"},
		{clickhouse.Filter{Since: day(2)}, "s-2 s-3 s-4"},
		{clickhouse.Filter{Since: day(4)}, "s-4"},
		{clickhouse.Filter{Cascade: "x"}, "s-1 s-2"},
		{clickhouse.Filter{Session: "s-3"}, "s-3"},
		{clickhouse.Filter{Tags: []string{"team"}}, "s-1 s-2"},
		{clickhouse.Filter{Tags: []string{"team=search"}}, "s-1"},
		{clickhouse.Filter{Tags: []string{"nightly"}, Cascade: "y"}, "s-4"},
		{clickhouse.Filter{Tags: []string{"nightly", "team"}}, "s-1"},
		{clickhouse.Filter{Tags: []string{"o'clock ? 100%"}}, "s-4"},
		{clickhouse.Filter{Tags: []string{"') OR 1=1 --"}, Cascade: "x"}, ""},
		{clickhouse.Filter{Session: "' OR ''='", Cascade: `\' OR 1=1 --`}, ""},
		{clickhouse.Filter{Tags: []string{"te"}}, ""},
	} {
		var calls uint64
		rows, err := db.Costs(t.Context(), clickhouse.BySession, c.of)
		require.NoError(t, err)
		var ids []string
		for _, r := range rows {
			ids = append(ids, r.SessionID)
			calls += r.Calls
		}
		require.Equal(t, c.want, strings.Join(ids, " "), "filter %d", i)
		for _, by := range clickhouse.CostBys() {
			rows, err := db.Costs(t.Context(), by, c.of)
			require.NoError(t, err)
			var sum uint64
			for _, r := range rows {
				sum += r.Calls
			}
			if by == clickhouse.ByTag {
				require.GreaterOrEqual(t, sum, calls, "filter %d", i)
				continue
			}
			require.Equal(t, calls, sum, "filter %d by %s", i, by)
		}
		total, err := db.CostTotal(t.Context(), c.of)
		require.NoError(t, err)
		require.Equal(t, calls, total.Calls)
	}
	_, err := db.Costs(t.Context(), "weather", clickhouse.Filter{})
	require.EqualError(t, err, `costs cannot be summed up by "weather"`)
}

// TestCostsByTag: a session with several tags counts for each, and once in the total.
func TestCostsByTag(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	for i, tags := range [][]string{{"a", "b"}, {"b"}, {"b"}, nil} {
		require.NoError(t, clickhousetest.Insert(t.Context(), db, tagged(fmt.Sprint("s", i), "x", "m", 0, tags...)))
	}
	rows, err := db.Costs(t.Context(), clickhouse.ByTag, clickhouse.Filter{})
	require.NoError(t, err)
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s:%d:%v", r.Tag, r.Calls, *r.CostUSD))
	}
	require.Equal(t, []string{"b:3:0.3", ":1:0.1", "a:1:0.1"}, got)
	total, err := db.CostTotal(t.Context(), clickhouse.Filter{})
	require.NoError(t, err)
	require.Equal(t, []any{uint64(4), uint64(1), uint64(4), 0.4}, []any{total.Sessions, total.Several, total.Calls, *total.CostUSD})
	require.Equal(t, "tag | calls | cost_usd\n | 1 | 0.1\na | 1 | 0.1\nb | 3 | 0.3\n", result(t, db, "SELECT tag, calls, cost_usd FROM cost_by_tag ORDER BY tag"))
	require.Equal(t, "tags\n[\"a\",\"b\"]\n", result(t, db, "SELECT tags FROM sessions WHERE session_id = 's0'"))
}
