package windlass_test

import (
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

	o.Home = t.TempDir()
	other := open(t, o)
	list, err := other.Sessions(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.False(t, list[0].Here)
	record, err := other.Record(t.Context(), "one")
	require.NoError(t, err)
	require.Len(t, record.Calls(), 3)
	v, err := other.Verify(t.Context(), "one", tools())
	require.NoError(t, err)
	require.True(t, v.Holds, v.Difference)
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
