package clickhouse_test

import (
	"context"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// honest are statements that read and look, to somebody in a hurry, like some that do not. All run
// without Write.
func honest() []string {
	return []string{
		"SELECT file, count() FROM (SELECT 'a' AS file, 1 AS url) GROUP BY file ORDER BY file",
		"SELECT max(file), count(file) FROM (SELECT 'a' AS file)", "SELECT lower(file), (file, 1), [file] FROM (SELECT 'a' AS file)",
		"SELECT t.file, t.url FROM (SELECT 'file(1)' AS file, 'url(''x'')' AS url) AS t WHERE file IN ('a') OR NOT (file = 'b')",
		"SELECT 'file(''/etc/passwd'')' AS text -- file('/etc/passwd')",
		"SELECT arrayMap(x -> lower(x), ['A']), arrayMap(lower, ['A']), arraySort(groupArray((number, toString(number)))) FROM numbers(3)",
		"SELECT * APPLY(toString) FROM (SELECT 1 AS a)", "SELECT * APPLY(x -> x + 1) APPLY sum FROM (SELECT 1 AS a)",
		"SELECT COLUMNS('a') EXCEPT (b) REPLACE (2 AS a) FROM (SELECT 1 AS a, 2 AS b)",
		"SELECT sumIf(a, a > 1), quantileExactIf(0.5)(a, 1), uniqExactOrNull(a), count(DISTINCT a), quantiles(0.5, 0.9)(a) FROM (SELECT 1 AS a)",
		"SELECT count() FILTER (WHERE a > 0), sum(a) OVER (PARTITION BY a ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), " +
			"row_number() OVER w FROM (SELECT 1 AS a) GROUP BY a WINDOW w AS (ORDER BY a)",
		"WITH t AS (SELECT 1 AS a), 2 AS b, x -> x + b AS f SELECT f(a) FROM t",
		"WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT sum(n) FROM t",
		"WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT sum(n) FROM t",
		"SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(id, name) WHERE (id, name) IN ((1, 'a'), (2, 'b'))",
		"SELECT * FROM values('a Int8', 1, 2)", "SELECT * FROM numbers(2)", "SELECT * FROM generateSeries(1, 3)",
		"SELECT * FROM (SELECT 1 AS a) AS x INNER JOIN (SELECT 1 AS a) AS y USING (a)",
		"SELECT * FROM (SELECT 1 AS a) AS x LEFT JOIN (SELECT 1 AS b) AS y ON (x.a = y.b) AND (y.b > 0)",
		"SELECT a FROM (SELECT [1, 2] AS xs) ARRAY JOIN (xs) AS a WHERE EXISTS (SELECT 1) ORDER BY (a) DESC LIMIT (1) OFFSET (0)",
		"SELECT (SELECT 1), 1 IN (SELECT 1), 1 = ANY (SELECT 1), 2 >= ALL (SELECT 1), 1 NOT IN (2), (1) BETWEEN (0) AND (2)",
		"SELECT CASE WHEN (1 = 1) THEN (2) ELSE (3) END, if(1, 2, 3), CAST('1' AS UInt8), '1'::Int8, INTERVAL 1 DAY, EXTRACT(YEAR FROM now())",
		"SELECT substring('abc' FROM 1 FOR 2), trim(BOTH 'a' FROM 'aba'), position('b' IN 'abc'), 'a' LIKE ('a'), 'a' ILIKE ('A'), 'a' || ('b')",
		"SELECT 5 DIV (2), 5 MOD (2), -(1), [1, 2][(1)], (1, 2).1, map('a', 1)['a'], 1 IS NOT NULL, 'a' REGEXP ('a')",
		"SELECT a, sum(1) FROM (SELECT 1 AS a) GROUP BY GROUPING SETS ((a), ()) HAVING (a >= 0) ORDER BY a WITH FILL FROM (0) TO (2) STEP (1)",
		"SELECT a, grouping(a) FROM (SELECT 1 AS a) GROUP BY ROLLUP(a)", "SELECT DISTINCT ON (a) a FROM (SELECT 1 AS a) QUALIFY (a > 0)",
		"(SELECT 1) UNION ALL (SELECT 2)", "SELECT 1 UNION DISTINCT SELECT 2", "SELECT 1 INTERSECT (SELECT 1)", "SELECT 1 EXCEPT (SELECT 2)",
		"FROM numbers(2) SELECT number", "SELECT ‘unicode quotes’ AS “a b”",
		"SELECT 1 SETTINGS max_threads = 1", "SELECT 1 SETTINGS join_use_nulls = 1, session_timezone = 'UTC'",
		"SELECT * FROM (SELECT 1 SETTINGS max_block_size = 1)", "SELECT SETTINGS FROM (SELECT 1 AS SETTINGS) WHERE SETTINGS = 1",
		"SELECT dictGetOrNull FROM (SELECT 1 AS dictGetOrNull)",
		"SELECT name FROM system.tables LIMIT 1", "SELECT name FROM system.columns LIMIT 1", "SELECT count() FROM system.functions",
		"SELECT count() FROM system.parts", "SELECT query FROM system.processes LIMIT 1", "SELECT name FROM system.settings LIMIT 1",
		"SELECT table_name FROM information_schema.tables LIMIT 1", "SELECT version(), currentDatabase(), hostName(), uptime()",
		"SELECT * FROM merge(currentDatabase(), '^schema_migrations$') LIMIT 1",
		"SHOW TABLES", "SHOW TABLES LIKE '%logs' LIMIT 1", "SHOW TABLES WHERE name IN ('logs') AND (1 = 1)", "SHOW DATABASES",
		"SHOW CREATE TABLE unified_logs", "SHOW COLUMNS FROM unified_logs", "SHOW PROCESSLIST", "SHOW SETTINGS LIKE 'max_threads'",
		"SHOW GRANTS", "SHOW FUNCTIONS LIKE 'sum'", "DESCRIBE TABLE unified_logs", "DESC unified_logs", "DESCRIBE (SELECT 1)",
		"EXISTS TABLE unified_logs", "EXISTS unified_logs", "CHECK TABLE schema_migrations",
		"EXPLAIN SELECT 1", "EXPLAIN AST SELECT 1", "EXPLAIN SYNTAX SELECT 1", "EXPLAIN PIPELINE header = 1 SELECT 1",
		"EXPLAIN ESTIMATE SELECT count() FROM unified_logs", "SELECT 1 FORMAT JSON",
	}
}

// TestHonestStatementsThatRead run on the embedded engine, on a server, and as a user of a server
// that may only read.
func TestHonestStatementsThatRead(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	databases := map[string]*clickhouse.DB{"own": db}
	open := func(kind string, o clickhouse.Options) {
		opened, err := clickhouse.Open(t.Context(), o)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, opened.Close()) })
		databases[kind] = opened
	}
	open("server", clickhouse.Options{DSN: clickhousetest.DSN(t, db)})
	if db.Endpoint() != nil {
		open("server's read-only user", clickhouse.Options{DSN: readonlyDSN(t, db)})
	}
	for kind, db := range databases {
		for _, sql := range honest() {
			t.Run(kind+"/"+sql, func(t *testing.T) {
				t.Parallel()
				_, err := ask(t.Context(), db, sql, clickhouse.QueryOptions{})
				require.NoError(t, err)
			})
		}
	}
}

// TestHonestStatementsThatWrite run with Write, in this order.
func TestHonestStatementsThatWrite(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	for _, sql := range []string{
		"CREATE TABLE notes (a Int8, url String, INDEX i (a) TYPE minmax GRANULARITY 1) ENGINE = MergeTree PARTITION BY (a) ORDER BY (a) SETTINGS index_granularity = 1024",
		"INSERT INTO notes VALUES (1, 'file(''x'')'), (1 + 1, lower('B'))", "INSERT INTO notes (a, url) SELECT number, 'x' FROM numbers(3)",
		"INSERT INTO notes (a) WITH 9 AS n SELECT n", "INSERT INTO notes FORMAT CSV 4,\"file('x')\"", `INSERT INTO notes FORMAT JSONEachRow {"a": 5, "url": "file('x')"}`,
		"ALTER TABLE notes ADD COLUMN b String DEFAULT toString(a)", "ALTER TABLE notes UPDATE url = 'y' WHERE a IN (SELECT 1)",
		"ALTER TABLE notes DELETE WHERE a = 9", "ALTER TABLE notes MODIFY COMMENT 'mine'", "OPTIMIZE TABLE notes FINAL", "DELETE FROM notes WHERE a = 5",
		"CREATE VIEW v AS SELECT a, count() AS n FROM notes GROUP BY a", "CREATE OR REPLACE VIEW v AS SELECT a FROM notes",
		"CREATE MATERIALIZED VIEW m ENGINE = SummingMergeTree ORDER BY a AS SELECT a, count() AS n FROM notes GROUP BY a",
		"CREATE TABLE copy ENGINE = Memory AS SELECT * FROM notes", "CREATE TABLE other AS notes", "CREATE TEMPORARY TABLE x (a Int8)",
		"SYSTEM STOP MERGES notes", "SYSTEM START MERGES notes", "SYSTEM DROP MARK CACHE", "SYSTEM FLUSH LOGS", "SYSTEM SYNC FILE CACHE",
		"RENAME TABLE copy TO copied", "TRUNCATE TABLE copied", "DROP TABLE copied SYNC", "DETACH TABLE other", "ATTACH TABLE other",
		"SELECT file FROM (SELECT 1 AS file)", "SELECT count() FROM notes SETTINGS max_rows_to_read = 1000", "SET max_threads = 1",
		"DROP VIEW v", "CREATE DATABASE IF NOT EXISTS " + db.Database() + " ENGINE = Atomic",
		"CREATE DATABASE " + db.Database() + "_old", "DROP DATABASE " + db.Database() + "_old",
	} {
		_, err := ask(t.Context(), db, sql, clickhouse.QueryOptions{Write: true})
		require.NoError(t, err, sql)
	}
	require.Equal(t, "file('x')", scalar(t, db, "SELECT url FROM notes WHERE a = 4"), "data are not statements")
}

// TestHonestModels asks as models do.
func TestHonestModels(t *testing.T) {
	t.Parallel()
	_, r := newReader(t)
	for _, sql := range []string{
		"SELECT count() FROM unified_logs", "SELECT * FROM logs ORDER BY seq LIMIT 3", "SHOW TABLES", "DESCRIBE TABLE unified_logs",
		"SELECT node_type, countIf(failed), max(seq) FROM logs GROUP BY node_type HAVING (max(seq) > 0) ORDER BY 1",
		"SELECT arrayMap(x -> lower(x), groupArray(content_text)) FROM logs", "SELECT JSONExtractString(data_json, 'a') FROM logs",
		"WITH t AS (SELECT seq FROM logs) SELECT quantile(0.5)(seq) FROM t WHERE seq IN (SELECT seq FROM logs)",
		"SELECT * FROM (VALUES (1), (2)) AS t(a)", "EXPLAIN SELECT 1", "SELECT now(), version()",
	} {
		_, _, err := r.Query(t.Context(), sql)
		require.NoError(t, err, sql)
	}
}

// TestUnknownFunctions are refused to models and, on the embedded engine, to statements that only
// read.
func TestUnknownFunctions(t *testing.T) {
	t.Parallel()
	db, r := newReader(t)
	for _, sql := range []string{
		"SELECT 1 AS brandNew, brandNew('x')", "WITH (x -> x) AS y, 1 AS brandNew SELECT brandNew('x')",
		"WITH arrayMap(x -> x, [1]) AS brandNew SELECT brandNew('x')", "SELECT brandNew('x')", "SELECT `brandNew`('x')", "SELECT * FROM brandNew('x')", "SELECT * APPLY(brandNew) FROM (SELECT 1)",
		"SELECT * APPLY(x -> brandNew(x)) FROM (SELECT 1)", "SHOW TABLES WHERE brandNew('x') = ''", "SELECT brandNewIf('x')",
	} {
		_, err := ask(t.Context(), db, sql, clickhouse.QueryOptions{})
		var refused *clickhouse.RefusedError
		require.ErrorAs(t, err, &refused, sql)
		require.True(t, refused.Liftable)
		_, _, err = r.Query(t.Context(), sql)
		require.ErrorAs(t, err, &refused, sql)
		require.False(t, refused.Liftable)
		_, err = ask(t.Context(), db, sql, clickhouse.QueryOptions{Write: true})
		require.Error(t, err)
		require.NotErrorAs(t, err, &refused, "the server says that there is none")
	}
}

// TestGrantsOfTheEngineUsers logs in as the users that statements of others run as, without
// windlass before the engine: their grants alone hold. What no grant stands before is not here; the
// engine's process is confined for that.
func TestGrantsOfTheEngineUsers(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	e := db.Endpoint()
	require.NotNil(t, e, "the users are those of the embedded engine")
	base := t.TempDir()
	login := func(user, password string) driver.Conn {
		conn, err := driver.Open(&driver.Options{Addr: []string{e.Addr()}, Auth: driver.Auth{Username: user, Password: password}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() }) // the test ends either way
		return conn
	}
	name, password := embedded.ReadonlyUser(*e)
	reader, err := embedded.ClaimReader(t.TempDir(), *e)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Release()) })
	for user, conn := range map[string]driver.Conn{"readonly": login(name, password), "reader": login(reader.Name, reader.Password)} {
		for _, sql := range closedByGrants() {
			t.Run(user+"/"+sql, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, base)
				err := conn.Exec(context.WithoutCancel(t.Context()), w.fill(sql))
				w.untouched(t, "")
				require.Error(t, err)
				require.Regexp(t, "Not enough privileges|unable to open database file|Cannot modify|readonly mode|Requested cluster|is not set|is not supported", err.Error())
			})
		}
	}
	for _, table := range []string{"users", "grants", "named_collections", "certificates", "stack_trace", "symbols"} {
		require.ErrorContains(t, login(name, password).Exec(context.Background(), "SELECT * FROM system."+table), "Not enough privileges")
	}
}

// closedByGrants are statements that the engine itself refuses to users that may only read.
func closedByGrants() []string {
	statements := []string{
		"SYSTEM FLUSH LOGS", "SYSTEM STOP LISTEN TCP", "SYSTEM SHUTDOWN", "SYSTEM RELOAD CONFIG", "SYSTEM DROP MARK CACHE",
		"CREATE TABLE default.t (a Int8) ENGINE = Memory", "CREATE TEMPORARY TABLE t (a Int8)", "CREATE DATABASE d", "CREATE USER x",
		"CREATE FUNCTION f AS x -> x", "CREATE NAMED COLLECTION c AS a = 1", "GRANT SELECT ON *.* TO windlass_reader_1",
		"ALTER USER windlass_readonly SETTINGS readonly = 0", "SET readonly = 0", "SET readonly = 2",
		"SELECT 1 SETTINGS readonly = 0", "BACKUP DATABASE default TO File('OUT')", "SHOW USERS", "SHOW CREATE USER default", "SHOW ACCESS",
		"INSERT INTO FUNCTION file('OUT', 'LineAsString', 'a String') SELECT 'x'",
		"INSERT INTO FUNCTION url('URL', 'LineAsString', 'a String') SELECT 'x'",
	}
	for _, call := range []string{
		"file('FILE', 'LineAsString')", "filesystem('FILE')", "url('URL', 'LineAsString')", "s3('URL', 'LineAsString')",
		"executable('x.sh', 'TSV', 'a String')", "sqlite('FILE', 't')", "mysql('127.0.0.1:1', 'd', 't', 'u', 'p')",
		"postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')", "remote('127.0.0.1:1', 'system', 'one')", "dictionary('x')",
	} {
		statements = append(statements, "SELECT * FROM "+call, "SELECT * FROM (SELECT * FROM "+call+" SETTINGS readonly = 0)")
	}
	return statements
}

// TestOldEngine is told apart from other errors: an engine that an older windlass started has no
// read-only user.
func TestOldEngine(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	require.NotNil(t, db.Endpoint(), "a server has the user of the DSN only")
	_, err := clickhouse.WithPassword(t, db, "that of another engine").Query(t.Context(), "SELECT 1", clickhouse.QueryOptions{})
	var unavailable *clickhouse.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.ErrorContains(t, err, "was started by a windlass without a read-only user: it ends by itself a minute after its last use, "+
		"and the next command starts a new one")
}
