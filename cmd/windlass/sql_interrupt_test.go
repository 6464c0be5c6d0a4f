//go:build unix

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestSQLInterrupt ends a query that takes long with Ctrl-C: at once, with nothing printed as if it
// were whole, and the query does not go on in ClickHouse.
func TestSQLInterrupt(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	l := newLab(t, clickhousetest.DSN(t, db))
	const query = "SELECT sleepEachRow(0.05) AS slept FROM numbers(36000) SETTINGS max_block_size = 1"
	running := func() bool {
		rows, err := queryRows(db, "SELECT query_id FROM system.processes WHERE current_database = currentDatabase() AND query LIKE 'SELECT sleepEachRow%'")
		require.NoError(t, err)
		return len(rows) > 0
	}
	for _, format := range []string{"--json", "--csv", "--write"} {
		p := l.start("sql", format, query)
		until(t, "the query runs", running)
		require.NoError(t, p.Process.Signal(os.Interrupt))
		require.Equal(t, exitInterrupted, p.wait(), p.err.String())
		require.Equal(t, "Error: interrupted\n", p.err.String())
		require.NotContains(t, p.out.String(), "\n]", "JSON that is not whole must not look whole")
		until(t, "the query has ended", func() bool { return !running() })
	}
}
