package clickhouse_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// door is one way out of the database that a statement may try. FILE stands for a file that exists,
// OUT for one that does not, and URL for a server that counts who comes.
type door struct {
	sql  string
	want string // part of the error, for a statement without Write
}

const (
	reaches = "reaches files, programs or other servers"
	unknown = "windlass does not know what it reaches"
	reads   = "is no statement that only reads"
)

// outwardDoors lead to files, programs and other servers. Nothing opens them on the embedded
// engine, with or without Write.
func outwardDoors() []door {
	return []door{
		// The scalar function that needs no grant, however its name is written.
		{"SELECT file('FILE')", reaches},
		{"SELECT file/* a comment */\n('FILE')", reaches},
		{"SELECT `file`('FILE')", reaches},
		{`SELECT "\x66ile"('FILE')`, reaches},
		{"SELECT “file”('FILE')", reaches},
		{"SELECT arrayMap(file, ['FILE'])", reaches},
		{"SELECT arrayMap((file), ['FILE'])", reaches},
		{"SELECT arrayMap(`file` AS f, ['FILE'])", reaches},
		{"SELECT arrayMap(“file”, ['FILE'])", reaches},
		{"SELECT arrayMap(x -> file(x), ['FILE'])", reaches},
		{"SELECT arrayFilter(x -> file(x) != '', ['FILE'])", reaches},
		{"SELECT * APPLY(file) FROM (SELECT 'FILE')", reaches},
		{"SELECT * APPLY file FROM (SELECT 'FILE')", reaches},
		{"SELECT * APPLY(x -> file(x)) FROM (SELECT 'FILE')", reaches},
		{"SELECT * APPLY(x -> “file”(x)) FROM (SELECT 'FILE')", reaches},
		{"SELECT COLUMNS('.*') APPLY(file) FROM (SELECT 'FILE')", reaches},
		{"SELECT * REPLACE (file('FILE') AS a) FROM (SELECT 'x' AS a)", reaches},
		{"WITH x -> file(x) AS f SELECT f('FILE')", reaches},
		{"WITH f AS (SELECT file('FILE') AS a) SELECT a FROM f", reaches},
		{"SELECT (SELECT file('FILE'))", reaches},
		{"SELECT 1 WHERE 'x' IN (SELECT file('FILE'))", reaches},
		{"SELECT 1 ORDER BY file('FILE')", reaches},
		{"SELECT 1 LIMIT length(file('FILE'))", reaches},
		{"SELECT count() OVER (PARTITION BY file('FILE'))", reaches},
		{"SELECT 1 UNION ALL (SELECT length(file('FILE')))", reaches},
		{"SELECT CASE WHEN file('FILE') = '' THEN 1 END", reaches},
		{"SELECT CAST(file('FILE') AS String), file('FILE')::String", reaches},
		{"SELECT sumIf(1, file('FILE') != '')", reaches},
		{"SELECT * FROM view(SELECT file('FILE'))", reaches},
		{"SELECT * FROM viewIfPermitted(SELECT file('FILE') AS a ELSE null('a String'))", reaches},
		{"SELECT * FROM (EXPLAIN SELECT file('FILE'))", reaches},
		{"SELECT * FROM (VALUES (file('FILE')))", reaches},
		{"SELECT $a$x$a$, file($b$FILE$b$)", reaches},
		{"EXPLAIN SELECT file('FILE')", reaches},
		{"DESCRIBE (SELECT file('FILE'))", reaches},
		{"SHOW TABLES WHERE file('FILE') != ''", reaches},
		{"SHOW COLUMNS FROM unified_logs WHERE file('FILE') != ''", reaches},
		{"SELECT 1 -- \n , file('FILE')", reaches},
		{"SELECT 1 /* /* */ */ , file('FILE')", reaches},
		{"SELECT * FROM (SELECT * FROM eval('SELECT file(''FILE'')') SETTINGS allow_experimental_eval_table_function = 1)", reaches},
		{"SELECT catboostEvaluate('FILE', 1)", reaches},
		{"SELECT aiGenerate('URL', 'x')", reaches},
		// Table functions.
		{"SELECT * FROM file('FILE', 'LineAsString')", reaches},
		{"SELECT * FROM `file`('FILE', 'LineAsString')", reaches},
		{"SELECT * FROM fileCluster('default', 'FILE', 'LineAsString')", reaches},
		{"SELECT * FROM filesystem('FILE')", reaches},
		{"SELECT * FROM url('URL', 'LineAsString')", reaches},
		{"SELECT * FROM urlCluster('default', 'URL', 'LineAsString')", reaches},
		{"SELECT * FROM s3('URL', 'LineAsString')", reaches},
		{"SELECT * FROM gcs('URL', 'LineAsString')", reaches},
		{"SELECT * FROM hdfs('hdfs://127.0.0.1:1/x', 'LineAsString')", reaches},
		{"SELECT * FROM azureBlobStorage('URL', 'c', 'b')", reaches},
		{"SELECT * FROM iceberg('URL')", reaches},
		{"SELECT * FROM icebergLocal('FILE')", reaches},
		{"SELECT * FROM deltaLakeLocal('FILE')", reaches},
		{"SELECT * FROM remote('127.0.0.1:1', system.one)", reaches},
		{"SELECT * FROM remoteSecure('127.0.0.1:1', system.one)", reaches},
		{"SELECT * FROM mysql('127.0.0.1:1', 'd', 't', 'u', 'p')", reaches},
		{"SELECT * FROM postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')", reaches},
		{"SELECT * FROM mongodb('127.0.0.1:1', 'd', 't', 'u', 'p', 'a String')", reaches},
		{"SELECT * FROM redis('127.0.0.1:1', 'a', 'a String')", reaches},
		{"SELECT * FROM sqlite('FILE', 't')", reaches},
		{"SELECT * FROM odbc('DSN=x', 't')", reaches},
		{"SELECT * FROM jdbc('x', 't')", reaches},
		{"SELECT * FROM executable('x.sh', 'TSV', 'a String')", reaches},
		{"SELECT * FROM python('x')", reaches},
		{"SELECT * FROM dictionary('x')", reaches},
		{"DESCRIBE TABLE url('URL', 'LineAsString')", reaches},
		{"DESCRIBE file('FILE', 'LineAsString')", reaches},
		{"SELECT * FROM (SELECT * FROM url('URL', 'LineAsString') SETTINGS readonly = 0)", reaches},
		{"SELECT 1 INTO OUTFILE 'OUT'", "use standard output"},
		{"SELECT 1 INTO OUTFILE 'OUT' TRUNCATE FORMAT CSV", "use standard output"},
	}
}

// changeDoors change or reach something by a statement of another kind. closed is said of them with
// Write.
func changeDoors() []struct{ sql, closed string } {
	return []struct{ sql, closed string }{
		{"INSERT INTO FUNCTION file('OUT', 'LineAsString', 'a String') SELECT 'x'", reaches},
		{"INSERT INTO FUNCTION file('OUT', 'LineAsString', 'a String') VALUES ('x')", reaches},
		{"INSERT INTO FUNCTION url('URL', 'LineAsString', 'a String') SELECT 'x'", reaches},
		{"INSERT INTO FUNCTION s3('URL', 'LineAsString', 'a String') SELECT 'x'", reaches},
		{"INSERT INTO FUNCTION remote('127.0.0.1:1', 'd', 't') SELECT 1", reaches},
		{"WITH 'x' AS a INSERT INTO FUNCTION file('OUT', 'LineAsString', 'a String') SELECT a", reaches},
		{"INSERT INTO notes SELECT file('FILE')", reaches},
		{"INSERT INTO notes VALUES (file('FILE'))", reaches},
		{"INSERT INTO notes VALUES ('a'), (“file”('FILE'))", reaches},
		{`INSERT INTO notes VALUES ("fi\x6ce"('FILE'))`, "names with a backslash"},
		{"INSERT INTO notes VALUES (arrayMap(file, ['FILE'])[1])", reaches},
		{"INSERT INTO notes FROM INFILE 'FILE' FORMAT LineAsString", "use standard output and standard input"},
		{"INSERT INTO notes SELECT * FROM format(Protobuf, 'x') SETTINGS format_schema = 'FILE:M'", reaches},
		{"CREATE TABLE t (a String) ENGINE = File(LineAsString, 'OUT')", reaches},
		{"CREATE TABLE t (a String) ENGINE = URL('URL', 'LineAsString')", reaches},
		{"CREATE TABLE t (a String) ENGINE = S3('URL', 'LineAsString')", reaches},
		{"CREATE TABLE t (a String) ENGINE = Kafka SETTINGS kafka_broker_list = '127.0.0.1:1', kafka_topic_list = 't', kafka_group_name = 'g', kafka_format = 'TSV'", reaches},
		{"CREATE TABLE t (a String) ENGINE = FileLog('FILE', 'LineAsString')", reaches},
		{"CREATE TABLE t (a String) ENGINE = Executable('x.sh', 'TSV')", reaches},
		{"CREATE TABLE t (a String) ENGINE = SQLite('FILE', 't')", reaches},
		{"CREATE TABLE t (a String) ENGINE = EmbeddedRocksDB(0, 'OUT') PRIMARY KEY a", reaches},
		{"CREATE TABLE t (a String) ENGINE = Distributed('c', 'd', 't')", reaches},
		{"CREATE TABLE t (a String) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = local, path = 'OUT/')", reaches},
		{"CREATE TABLE t (a String) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = s3, endpoint = 'URL')", reaches},
		{"CREATE TABLE t (a String, b String DEFAULT file(a)) ENGINE = Memory", reaches},
		{"CREATE TABLE t (a String, b String ALIAS file(a)) ENGINE = Memory", reaches},
		{"CREATE TABLE t AS file('FILE', 'LineAsString')", reaches},
		{"CREATE TABLE t ENGINE = Memory AS SELECT file('FILE') AS a", reaches},
		{"CREATE VIEW v AS SELECT file('FILE')", reaches},
		{"CREATE OR REPLACE VIEW v AS SELECT * FROM url('URL', 'LineAsString')", reaches},
		{"CREATE MATERIALIZED VIEW v ENGINE = Memory AS SELECT file(a) FROM notes", reaches},
		{"CREATE DATABASE d ENGINE = Filesystem('FILE')", reaches},
		{"CREATE DATABASE d ENGINE = SQLite('FILE')", reaches},
		{"CREATE DATABASE d ENGINE = MySQL('127.0.0.1:1', 'd', 'u', 'p')", reaches},
		{"CREATE DICTIONARY d (a String) PRIMARY KEY a SOURCE(FILE(path 'FILE' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)", reaches},
		{"CREATE OR REPLACE DICTIONARY d (a String) PRIMARY KEY a SOURCE(HTTP(url 'URL' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)", reaches},
		{"CREATE FUNCTION f AS x -> file(x)", reaches},
		{"CREATE OR REPLACE FUNCTION f AS x -> x", reaches},
		{"CREATE NAMED COLLECTION c AS url = 'URL'", reaches},
		{"ATTACH TABLE t FROM 'FILE' (a String) ENGINE = Log", reaches},
		{"ALTER TABLE notes UPDATE a = file('FILE') WHERE 1", reaches},
		{"ALTER TABLE notes DELETE WHERE a IN (SELECT file('FILE'))", reaches},
		{"ALTER TABLE notes ADD COLUMN b String DEFAULT file(a)", reaches},
		{"BACKUP TABLE notes TO File('OUT')", reaches},
		{"RESTORE TABLE notes FROM File('FILE')", reaches},
		{"EXECUTE AS default SELECT 1", reaches},
		{"SYSTEM STOP LISTEN TCP", "the engine is run by windlass"},
		{"SYSTEM SHUTDOWN", "the engine is run by windlass"},
		{"SYSTEM KILL", "the engine is run by windlass"},
		{"SYSTEM RELOAD CONFIG", "the engine is run by windlass"},
		{"SYSTEM RELOAD USERS", "the engine is run by windlass"},
		{"SYSTEM ENABLE FAILPOINT x", "the engine is run by windlass"},
		{"CREATE TABLE a (b Int8) ENGINE = Memory PARALLEL WITH BACKUP TABLE notes TO File('OUT')", reaches},
		{"SELECT 1 PARALLEL WITH DROP TABLE notes", "more than one statement"},
	}
}

// world is what the doors lead to.
type world struct {
	replace *strings.Replacer
	out     string
	calls   func() int
}

const secretText = "the owner's secret"

// newWorld makes one below base: the path must not have the statement in it, as the folder of a
// subtest has.
func newWorld(t *testing.T, base string) *world {
	t.Helper()
	dir, err := os.MkdirTemp(base, "")
	require.NoError(t, err)
	file, out := filepath.Join(dir, "secret.txt"), filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(file, []byte(secretText), 0o600))
	asked := make(chan struct{}, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		_, _ = w.Write([]byte(secretText))
	}))
	t.Cleanup(server.Close)
	return &world{
		replace: strings.NewReplacer("FILE", file, "OUT", out, "URL", server.URL),
		out:     out, calls: func() int { return len(asked) },
	}
}

// fill puts the places into a statement. The names of functions and engines stay: they are not in
// quotes.
func (w *world) fill(sql string) string {
	for _, place := range []string{"FILE", "OUT", "URL"} {
		for _, quote := range []string{"'", "''", "$b$"} {
			sql = strings.ReplaceAll(sql, quote+place, quote+w.replace.Replace(place))
		}
	}
	return sql
}

// untouched fails the test when anything went in or out.
func (w *world) untouched(t *testing.T, result string) {
	t.Helper()
	require.NotContains(t, result, secretText)
	require.Zero(t, w.calls(), "nobody was asked")
	_, err := os.Stat(w.out)
	require.ErrorIs(t, err, os.ErrNotExist, "nothing was written")
}

// ask runs a statement and returns all that it said, rows and errors.
func ask(ctx context.Context, db *clickhouse.DB, sql string, o clickhouse.QueryOptions) (string, error) {
	rows, err := db.Query(ctx, sql, o)
	if err != nil {
		return err.Error(), err
	}
	var said strings.Builder
	for rows.Next() {
		row, err := rows.Row()
		fmt.Fprint(&said, row, err)
	}
	err = rows.Close()
	fmt.Fprint(&said, err)
	return said.String(), err
}

// TestDoorsOfStatementsThatRead tries every door without Write: on the embedded engine, and on the
// same engine as a server, by a user that may do everything there.
func TestDoorsOfStatementsThatRead(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	db := clickhousetest.Open(t)
	server, err := clickhouse.Open(t.Context(), clickhouse.Options{DSN: clickhousetest.DSN(t, db)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	doors := outwardDoors()
	for _, d := range changeDoors() {
		doors = append(doors, door{sql: d.sql})
	}
	for _, sql := range []string{
		"SYSTEM STOP MERGES", "SYSTEM FLUSH LOGS", "SYSTEM DROP MARK CACHE", "KILL QUERY WHERE query_id = 'x'", "USE system",
		"SET max_threads = 1", "CREATE TABLE t (a Int8) ENGINE = Memory", "DROP TABLE unified_logs", "TRUNCATE TABLE unified_logs",
		"OPTIMIZE TABLE unified_logs FINAL", "RENAME TABLE unified_logs TO x", "DETACH TABLE unified_logs",
		"GRANT ALL ON *.* TO windlass_readonly", "CREATE USER x", "ALTER USER windlass_readonly SETTINGS readonly = 0",
		"INSERT INTO schema_migrations (version) VALUES (99)", "DELETE FROM unified_logs WHERE 1",
		"CREATE TEMPORARY TABLE x (a Int8)", "UNDROP TABLE unified_logs", "EXCHANGE TABLES a AND b",
	} {
		doors = append(doors, door{sql, reads})
	}
	for kind, db := range map[string]*clickhouse.DB{"embedded": db, "server": server} {
		for _, d := range doors {
			t.Run(kind+"/"+d.sql, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, base)
				said, err := ask(t.Context(), db, w.fill(d.sql), clickhouse.QueryOptions{})
				w.untouched(t, said)
				require.ErrorContains(t, err, d.want)
			})
		}
	}
}

// TestDoorsOfStatementsThatWrite tries them with Write on the embedded engine: a person may change
// its tables, and reach nothing else.
func TestDoorsOfStatementsThatWrite(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	db := clickhousetest.Open(t)
	write := clickhouse.QueryOptions{Write: true}
	_, err := ask(t.Context(), db, "CREATE TABLE notes (a String) ENGINE = MergeTree ORDER BY a", write)
	require.NoError(t, err)
	doors := outwardDoors()
	for _, d := range changeDoors() {
		doors = append(doors, door{d.sql, d.closed})
	}
	for _, d := range doors {
		t.Run(d.sql, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, base)
			said, err := ask(t.Context(), db, w.fill(d.sql), write)
			w.untouched(t, said)
			require.ErrorContains(t, err, d.want)
		})
	}
}

// TestDoorsOfModels tries them in sql_query, which has the least rights.
func TestDoorsOfModels(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	_, r := newReader(t)
	doors := outwardDoors()
	for _, d := range changeDoors() {
		doors = append(doors, door{sql: d.sql})
	}
	const fixed = "the limits of a query are fixed"
	for _, sql := range []string{
		"SELECT 1 SETTINGS max_result_rows = 0", "SELECT 1 SETTINGS readonly = 0",
		"SELECT * FROM (SELECT getSetting('max_result_rows') SETTINGS max_result_rows = 0)",
		"SELECT (SELECT getSetting('readonly') SETTINGS readonly = 0)",
		"WITH x AS (SELECT 1 SETTINGS `max_execution_time` = 1000) SELECT * FROM x",
		"SELECT 1 WHERE 1 IN (SELECT 1 SETTINGS “max_memory_usage” = 0)",
		"SELECT * FROM view(SELECT 1 SETTINGS max_threads = 64)",
		"SELECT 1 UNION ALL (SELECT 2 SETTINGS/**/max_threads = 64)",
		"(SELECT 1 SETTINGS max_threads = 64) UNION ALL SELECT 2",
		"EXPLAIN SELECT 1 SETTINGS max_threads = 64",
	} {
		doors = append(doors, door{sql, fixed})
	}
	for _, d := range doors {
		t.Run(d.sql, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, base)
			_, rows, err := r.Query(t.Context(), w.fill(d.sql))
			w.untouched(t, fmt.Sprint(rows, err))
			require.ErrorContains(t, err, d.want)
		})
	}
}
