package windlass_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// A run is in ClickHouse, and can be asked about on a machine that does not have its journal.
func TestClickHouse(t *testing.T) {
	t.Parallel()
	dsn := clickhousetest.DSN(t, clickhousetest.Open(t))
	o := windlass.Options{Home: t.TempDir(), Dir: t.TempDir(), DSN: dsn}
	w := open(t, o)
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider(), windlass.WithSessionID("one"))
	require.NoError(t, err)
	res, err := run.Result(t.Context())
	require.NoError(t, err)
	require.NoError(t, res.Undelivered)
	run, err = w.Start(t.Context(), incident(t), checkout, tools(), provider(), windlass.WithSessionID("two"), windlass.WithoutClickHouse())
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
	rows, err := w.Deliver(t.Context(), "two")
	require.NoError(t, err)
	require.NotZero(t, rows)
	shipped, err := w.Ship(t.Context(), true, "two")
	require.NoError(t, err)
	require.Len(t, shipped, 1)
	require.Equal(t, rows, shipped[0].Delivered, "everything once more")
	testQueries(t, w)

	o.Home = t.TempDir()
	other := open(t, o)
	list, err := other.Sessions(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.False(t, list[0].Here)
	record, err := other.Record(t.Context(), "one")
	require.NoError(t, err)
	require.Len(t, record.Calls(), 3)
	whole, rebuilt, err := other.Rebuild(t.Context(), "on")
	require.NoError(t, err)
	require.Equal(t, "one", whole)
	require.True(t, rebuilt)
	_, rebuilt, err = other.Rebuild(t.Context(), "one")
	require.NoError(t, err)
	require.False(t, rebuilt)
	v, err := other.Verify(t.Context(), "one", tools())
	require.NoError(t, err)
	require.True(t, v.Holds, v.Difference)
}

// testQueries asks a database with the sessions one and two.
func testQueries(t *testing.T, w *windlass.Windlass) {
	t.Helper()
	found, err := w.Query(t.Context(), "SELECT session_id, status FROM sessions ORDER BY session_id")
	require.NoError(t, err)
	require.Equal(t, "session_id", found.Columns[0].Name)
	var got []string
	for row, err := range found.All() {
		require.NoError(t, err)
		got = append(got, row[0].String()+" "+row[1].String())
	}
	require.Equal(t, []string{"one completed", "two completed"}, got)
	require.NoError(t, found.Close())

	found, err = w.Query(t.Context(), "SELECT number FROM system.numbers")
	require.NoError(t, err)
	for row, err := range found.All() {
		require.NoError(t, err)
		require.Equal(t, "0", row[0].String())
		break // which ends the query
	}
	for row, err := range found.All() {
		require.Fail(t, "rows after a loop over them was left", "%v %v", row, err)
	}
	found, err = w.Query(t.Context(), "SELECT throwIf(number = 100000) FROM numbers(1000000) SETTINGS max_block_size = 1000")
	if err == nil {
		for _, err = range found.All() {
		}
	}
	require.Equal(t, windlass.Failed, windlass.KindOf(err))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	found, err = w.Query(ctx, "SELECT number FROM system.numbers")
	require.NoError(t, err)
	for _, err = range found.All() {
		cancel()
	}
	requireInterrupted(t, err)
	_, err = w.Query(ctx, "SELECT 1")
	requireInterrupted(t, err)
	for sql, kind := range map[string]windlass.Kind{
		"SELECT 1; SELECT 2":      windlass.InvalidRequest,
		"DROP TABLE unified_logs": windlass.Failed,
		"SELECT nothing":          windlass.Failed,
	} {
		_, err = w.Query(t.Context(), sql)
		require.Equal(t, kind, windlass.KindOf(err), sql)
	}
	costs, err := w.Costs(t.Context(), windlass.BySession)
	require.NoError(t, err)
	require.Len(t, costs, 2)
	require.EqualValues(t, 3, costs[0].Calls)
	_, err = w.Costs(t.Context(), "weather")
	require.EqualError(t, err, `costs cannot be summed up by "weather"`)
	require.Equal(t, windlass.InvalidRequest, windlass.KindOf(err))
}

// The embedded engine is a process of this program, which calls ServeEngine.
func TestEmbeddedClickHouse(t *testing.T) {
	t.Parallel()
	clickhousetest.Open(t) // it is fetched once for all tests
	_, cache := clickhousetest.Home(t)
	home := t.TempDir()
	w := open(t, windlass.Options{Home: home, Dir: t.TempDir(), Cache: cache})
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider())
	require.NoError(t, err)
	res, err := run.Result(t.Context())
	require.NoError(t, err)
	require.NoError(t, res.Undelivered)
	require.FileExists(t, filepath.Join(home, "clickhouse", "endpoint.json"))
}
