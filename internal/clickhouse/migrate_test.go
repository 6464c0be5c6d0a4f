package clickhouse_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestStatements holds the DDL for one server and for a cluster, of which there is none here to run it on.
func TestStatements(t *testing.T) {
	t.Parallel()
	for name, cluster := range map[string]string{"ddl_server": "", "ddl_cluster": "main"} {
		statements, err := clickhouse.Statements("logs", cluster)
		require.NoError(t, err)
		requireGolden(t, name, strings.Join(statements, ";\n\n")+"\n")
	}
}

func TestManyMigrateOneDatabase(t *testing.T) {
	t.Parallel()
	for version := range uint32(5) {
		t.Run(fmt.Sprintf("from version %d", version), func(t *testing.T) {
			t.Parallel()
			manyMigrate(t, version)
		})
	}
}

// manyMigrate opens a database of a version several times at once.
func manyMigrate(t *testing.T, version uint32) {
	o := clickhousetest.Options(t)
	if version > 0 {
		clickhouse.MakeVersion(t, clickhousetest.Open(t), o.Database, version)
	}
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
	require.Equal(t, "1 | unified_logs\n2 | views\n3 | sent_messages\n4 | selections\n5 | cards\n6 | retries\n7 | resumed\n",
		strings.TrimPrefix(result(t, db, "SELECT version, name FROM schema_migrations FINAL ORDER BY version"), "version | name\n"))
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
	require.NoError(t, conn.Exec(t.Context(), "TRUNCATE TABLE schema_migrations"), "so that the test's cleanup can open it")
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
