package clickhouse_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestStatements holds the DDL for one server and for a cluster, of which there is none here to run
// it on.
func TestStatements(t *testing.T) {
	t.Parallel()
	for name, cluster := range map[string]string{"ddl_server": "", "ddl_cluster": "main"} {
		statements, err := clickhouse.Statements("logs", cluster)
		require.NoError(t, err)
		requireGolden(t, name, strings.Join(statements, ";\n\n")+"\n")
	}
}

// TestManyMakeOneDatabase opens a database that does not exist several times at once, and once
// more.
func TestManyMakeOneDatabase(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	errs := make([]error, 6)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			db, err := clickhouse.Open(t.Context(), o)
			if errs[i] = err; err == nil {
				errs[i] = db.Close()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	db, err := clickhouse.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.Equal(t, "version\n11\n", result(t, db, "SELECT version FROM schema_migrations FINAL"))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()))
	require.Equal(t, strconv.Itoa(len(stories())), scalar(t, db, "SELECT count() FROM logs"))
}

// TestHalfMadeDatabase: a process was killed before its schema was whole. The next one completes
// it.
func TestHalfMadeDatabase(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	statements, err := clickhouse.Statements(o.Database, "")
	require.NoError(t, err)
	conn := clickhouse.Conn(clickhousetest.Open(t))
	for _, s := range statements[:len(statements)/2] {
		require.NoError(t, conn.Exec(t.Context(), s))
	}
	db, err := clickhouse.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()))
	require.Equal(t, "2", scalar(t, db, "SELECT count() FROM sessions"))
}

// TestOldSchemaIsRefused opens a database of a windlass before schema version 8, which stays as it
// is.
func TestOldSchemaIsRefused(t *testing.T) {
	t.Parallel()
	through := clickhousetest.Open(t)
	conn := clickhouse.Conn(through)
	o := clickhousetest.Options(t)
	for _, s := range []string{
		"CREATE DATABASE DB",
		"CREATE TABLE DB.schema_migrations (version UInt32, name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3)) " +
			"ENGINE = ReplacingMergeTree ORDER BY version",
		"CREATE TABLE DB.unified_logs (session_id String, seq UInt64, at DateTime64(6, 'UTC'), node_type LowCardinality(String), " +
			"key String, span_from Array(Int64)) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(at) ORDER BY (session_id, seq)",
		"CREATE VIEW DB.logs AS SELECT * FROM DB.unified_logs FINAL",
		"INSERT INTO DB.schema_migrations (version, name) VALUES (1, 'unified_logs'), (7, 'resumed')",
		"INSERT INTO DB.unified_logs (session_id, seq, at, node_type, key) VALUES ('old', 1, '2026-01-01 00:00:00', 'run_start', 'run/start')",
	} {
		require.NoError(t, conn.Exec(t.Context(), strings.ReplaceAll(s, "DB", o.Database)))
	}
	look := func() string {
		return result(t, through, "SELECT name, create_table_query, total_rows, metadata_modification_time FROM system.tables WHERE database = '"+o.Database+"' ORDER BY name") +
			result(t, through, "SELECT * FROM "+o.Database+".unified_logs") + result(t, through, "SELECT * FROM "+o.Database+".schema_migrations ORDER BY version")
	}
	before := look()
	dsn := strings.Replace(clickhousetest.DSN(t, through), "/"+through.Database(), "/"+o.Database, 1)
	for _, o := range []clickhouse.Options{o, {DSN: dsn}} {
		_, err := clickhouse.Open(t.Context(), o)
		var old *clickhouse.OldSchemaError
		require.ErrorAs(t, err, &old)
		require.Equal(t, uint32(7), old.Have)
		require.EqualError(t, err, `the ClickHouse database "`+old.Database+`" has schema version 7, which this windlass does not read; `+
			"it was left as it is. The last windlass that reads it was built from commit "+echo.LastOldBuild+". Name another database in the "+
			`DSN, such as "windlass_3": it is created when it does not exist`)
	}
	require.Equal(t, before, look())
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	db, err := clickhouse.Open(t.Context(), o)
	require.NoError(t, err)
	conn := clickhouse.Conn(db)
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO schema_migrations (version, name) VALUES (99, 'future')"))
	_, err = clickhouse.Open(t.Context(), o)
	require.ErrorContains(t, err, `the ClickHouse database "`+o.Database+`" has schema version 99, but this windlass knows only up to `)
	require.ErrorContains(t, err, ": use a newer windlass, or another database")
	var newer *clickhouse.NewerSchemaError
	require.ErrorAs(t, err, &newer)
	require.NoError(t, db.Close())
}

func TestDSNErrors(t *testing.T) {
	t.Parallel()
	addr := closedPort(t)
	for dsn, want := range map[string]string{
		"clickhouse://user:geheim@" + addr + "/db":             "ClickHouse at " + addr + ": no answer: ",
		"clickhouse://user:gehei%zzm@host/db":                  "the ClickHouse DSN is not a URL (its text is hidden because it may hold a password)",
		"http://user:geheim@host/db":                           `the ClickHouse DSN has the scheme "http": expected clickhouse://`,
		"clickhouse://user:geheim@host/da-ta":                  `the database name "da-ta" is not letters, digits and underscores`,
		"clickhouse://user:geheim@host/db?cluster=a'b":         `the cluster name "a'b" is not letters, digits and underscores`,
		"clickhouse://user:geheim@host/db?dial_timeout=geheim": "read the ClickHouse DSN: ",
	} {
		_, err := clickhouse.Open(t.Context(), clickhouse.Options{DSN: dsn})
		require.ErrorContains(t, err, want)
		if !strings.Contains(dsn, "dial_timeout") {
			require.NotContains(t, err.Error(), "gehei")
		}
	}
	require.Equal(t, "clickhouse://user:xxxxx@host:9000/db?password=xxxxx", clickhouse.HideDSN("clickhouse://user:geheim@host:9000/db?password=x"))
	require.NotContains(t, clickhouse.HideDSN("user:geheim@host"), "geheim")
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	dsn := clickhousetest.DSN(t, db)
	wrong := strings.Replace(dsn, "windlass:", "windlass:geheim", 1)
	_, err := clickhouse.Open(t.Context(), clickhouse.Options{DSN: wrong})
	require.ErrorContains(t, err, `user "windlass": wrong name or password`)
	require.NotContains(t, err.Error(), "geheim")
	require.Equal(t, "1", scalar(t, db, "SELECT 1"), "the engine goes on")
}
