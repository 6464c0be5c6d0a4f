package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestDatabaseOfAnotherVersion is refused by every command that needs it. A run does without it and
// says so.
func TestDatabaseOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"7": "has schema version 7, which this windlass does not read; it was left as it is. The last windlass that reads it was built from " +
			"commit " + echo.LastOldBuild + ". Name another database in the DSN, such as \"windlass_3\": it is created when it does not exist",
		"99": "has schema version 99, but this windlass knows only up to 11: use a newer windlass, or another database",
	} {
		db := clickhousetest.Open(t)
		write := func(sql string) {
			rows, err := db.Query(t.Context(), sql, clickhouse.QueryOptions{Write: true})
			require.NoError(t, err)
			require.NoError(t, rows.Close())
		}
		write("TRUNCATE TABLE schema_migrations")
		write("INSERT INTO schema_migrations (version, name) VALUES (" + version + ", 'other')")
		l := newLab(t, clickhousetest.DSN(t, db))
		l.file("ask.json", recorded["ask.json"])
		want = `the ClickHouse database "` + db.Database() + `" ` + want + "\n"
		for _, command := range [][]string{{"sql", "SELECT 1"}, {"cost"}} {
			require.Equal(t, "Error: "+want, l.run(exitStorage, command...).err.String())
		}
		require.Contains(t, l.run(exitOK, "run", "ask.json", "--model", "plain").err.String(), ": "+want)
	}
}

// TestDatabaseWithViewsOfBefore gets its views again, and the commands read it.
func TestDatabaseWithViewsOfBefore(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	l := newLab(t, clickhousetest.DSN(t, db))
	l.file("ask.json", recorded["ask.json"])
	l.run(exitOK, "run", "ask.json", "--model", "plain")
	session := l.ask("SELECT session_id FROM logs LIMIT 1")[0]["session_id"].(string)
	for _, sql := range []string{
		"CREATE OR REPLACE VIEW cost_by_cascade AS SELECT cascade_id, count() AS calls FROM model_calls GROUP BY cascade_id",
		"CREATE OR REPLACE VIEW sessions AS SELECT DISTINCT session_id FROM unified_logs",
		"TRUNCATE TABLE schema_migrations",
		"INSERT INTO schema_migrations (version, name) VALUES (8, 'schema')",
	} {
		rows, err := db.Query(t.Context(), sql, clickhouse.QueryOptions{Write: true})
		require.NoError(t, err)
		require.NoError(t, rows.Close())
	}
	require.Contains(t, l.run(exitOK, "cost").out.String(), "1,200")
	require.Contains(t, l.run(exitOK, "sessions", "show", session).out.String(), "completed")
	require.Contains(t, l.run(exitOK, "sessions", "list").out.String(), "completed")
}
