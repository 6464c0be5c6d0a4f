package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// TestDatabaseOfBefore: a person who finds no sessions after an upgrade is told where they are,
// until there are new ones.
func TestDatabaseOfBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t, "") // with an engine of its own
	for _, sql := range []string{
		"CREATE DATABASE windlass",
		"CREATE TABLE windlass.schema_migrations (version UInt32, name String, applied_at DateTime64(3)) ENGINE = MergeTree ORDER BY version",
		"CREATE TABLE windlass.unified_logs (session_id String, seq UInt64) ENGINE = MergeTree ORDER BY seq",
		"INSERT INTO windlass.schema_migrations VALUES (7, 'before', now64(3))",
		"INSERT INTO windlass.unified_logs VALUES ('a', 1), ('a', 2)",
	} {
		l.run(exitOK, "sql", "--write", sql)
	}
	const where = `the ClickHouse database "windlass" has sessions (2 entries) with schema version 7, which this windlass does not read; it was left as it is. ` +
		"The last windlass that reads it was built from commit " + echo.LastOldBuild + ": use that build for them\n"
	count := []string{"sql", "SELECT count() FROM unified_logs"}
	require.Equal(t, "Note: "+where, l.run(exitOK, count...).err.String())
	require.Equal(t, "Note: "+where+"No model calls yet. Make some: windlass run FILE\n", l.run(exitOK, "cost").err.String())
	require.Equal(t, "Note: "+where, l.run(exitOK, "cost", "--json").err.String())
	require.Equal(t, "Note: "+where+"No sessions yet. Make one: windlass run FILE\n", l.run(exitOK, "sessions", "list").err.String())
	require.Equal(t, "Warning: "+where, l.run(exitOK, "doctor").err.String())
	require.Contains(t, l.run(exitOK, "doctor", "--json").out.String(), `"old_database": {`)

	l.file("ask.json", recorded["ask.json"])
	l.run(exitOK, "run", "ask.json", "--model", "plain", "--no-clickhouse")
	require.Contains(t, l.run(exitOK, "cost").err.String(), "\nNo model calls in ClickHouse. 1 session of this machine ran with --no-clickhouse: windlass show SESSION")
	require.NotContains(t, l.run(exitOK, "run", "ask.json", "--model", "plain").err.String(), "schema version")
	for _, command := range [][]string{count, {"cost"}, {"sessions", "list"}, {"doctor"}} {
		require.NotContains(t, l.run(exitOK, command...).err.String(), "schema version", command)
	}
}
