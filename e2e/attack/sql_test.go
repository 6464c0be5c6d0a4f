//go:build unix

package attack

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// listener counts the connections that somebody makes to it.
type listener struct {
	net.Listener
	called atomic.Int64
}

func listening(t *testing.T) *listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out := &listener{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			out.called.Add(1)
			_ = c.Close() // whoever called has been counted
		}
	}()
	return out
}

// doors are statements that lead out of ClickHouse, or change something: with {secret} a file that nobody may read, {made} one
// that nobody may make, {engine} the folder of the engine and {server} the address of a listener.
var doors = []string{
	"SELECT file('{secret}')", "SELECT file('{engine}/endpoint.json')", "SELECT file('/etc/passwd')", "SELECT file('/proc/self/environ')", "SELECT FILE('{secret}')", "SELECT /* x */ file /* y */ ('{secret}')",
	"SELECT `file`('{secret}')", "SELECT \"file\"('{secret}')", "SELECT arrayMap(f -> file(f), ['{secret}'])", "SELECT arrayMap(file, ['{secret}'])", "SELECT '{secret}' AS p, file(p)", "SELECT * APPLY(file) FROM (SELECT '{secret}' AS p)",
	"WITH file('{secret}') AS x SELECT x", "SELECT 1 WHERE file('{secret}') != ''", "SELECT 1 ORDER BY file('{secret}')", "SELECT 1 LIMIT length(file('{secret}'))", "SELECT (SELECT file('{secret}'))", "EXPLAIN SELECT file('{secret}')",
	"DESCRIBE TABLE (SELECT file('{secret}'))", "SELECT * FROM file('{secret}', 'LineAsString')", "SELECT * FROM file('{secret}', 'LineAsString', 'a String')", "SELECT * FROM `{secret}`", "SELECT * FROM fileCluster('x', '{secret}', 'LineAsString')",
	"SELECT * FROM view(SELECT file('{secret}'))", "SELECT * FROM merge(REGEXP('.*'), 'x') UNION ALL SELECT file('{secret}')", "SELECT * FROM url('http://{server}/', 'LineAsString', 'a String')", "SELECT * FROM url('file://{secret}', 'LineAsString', 'a String')",
	"SELECT * FROM s3('http://{server}/b/k', 'LineAsString')", "SELECT * FROM gcs('http://{server}/b/k', 'LineAsString')", "SELECT * FROM hdfs('hdfs://{server}/x', 'TSV', 'a String')", "SELECT * FROM remote('{server}', 'system.one')",
	"SELECT * FROM remoteSecure('{server}', 'system.one')", "SELECT * FROM cluster('default', 'system.one')", "SELECT * FROM mysql('{server}', 'd', 't', 'u', 'p')", "SELECT * FROM postgresql('{server}', 'd', 't', 'u', 'p')",
	"SELECT * FROM mongodb('{server}', 'd', 't', 'u', 'p', 'a String')", "SELECT * FROM redis('{server}', 'k', 'k String, v String')", "SELECT * FROM sqlite('{secret}', 't')", "SELECT * FROM executable('id', 'LineAsString', 'a String')",
	"SELECT * FROM odbc('DSN=x', 'd', 't')", "SELECT * FROM jdbc('x', 'd', 't')", "SELECT * FROM deltaLake('http://{server}/x')", "SELECT * FROM iceberg('http://{server}/x')", "SELECT * FROM azureBlobStorage('http://{server}/', 'c', 'b')",
	"SELECT 1 INTO OUTFILE '{made}'", "SELECT 1 INTO OUTFILE '{made}' TRUNCATE FORMAT CSV", "INSERT INTO FUNCTION file('{made}', 'LineAsString', 'a String') VALUES ('x')", "INSERT INTO FUNCTION url('http://{server}/', 'LineAsString', 'a String') VALUES ('x')",
	"INSERT INTO TABLE FUNCTION file('{made}', 'CSV', 'a String') SELECT 'x'", "CREATE TABLE f (a String) ENGINE = File(LineAsString, '{made}')", "CREATE TABLE u (a String) ENGINE = URL('http://{server}/', LineAsString)",
	"CREATE TABLE e (a String) ENGINE = Executable('id', TSV)", "CREATE DATABASE f ENGINE = Filesystem('/')", "CREATE DATABASE m ENGINE = MySQL('{server}', 'd', 'u', 'p')",
	"CREATE DICTIONARY d (k UInt64, a String) PRIMARY KEY k SOURCE(FILE(path '{secret}' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)", "CREATE DICTIONARY d (k UInt64, a String) PRIMARY KEY k SOURCE(EXECUTABLE(command 'id' format 'TSV')) LAYOUT(FLAT()) LIFETIME(0)",
	"CREATE FUNCTION f AS x -> x", "CREATE NAMED COLLECTION c AS a = 1", "CREATE USER u", "ALTER USER default IDENTIFIED BY 'x'", "GRANT ALL ON *.* TO default", "CREATE TABLE x (a String) ENGINE = Memory", "CREATE TEMPORARY TABLE x (a String)", "CREATE VIEW v AS SELECT 1",
	"BACKUP DATABASE system TO File('{made}')", "BACKUP TABLE logs TO Disk('default', 'x')", "RESTORE DATABASE d FROM File('{secret}')", "ATTACH TABLE x FROM '{secret}' (a String) ENGINE = File(TSV)", "SYSTEM STOP LISTEN TCP", "SYSTEM START LISTEN HTTP",
	"SYSTEM STOP MERGES", "SYSTEM SHUTDOWN", "SYSTEM KILL", "SYSTEM RELOAD CONFIG", "SYSTEM DROP MARK CACHE", "SYSTEM FLUSH LOGS", "KILL QUERY WHERE 1 SYNC", "SET readonly = 0", "SET max_memory_usage = 0", "USE system", "DROP TABLE logs", "TRUNCATE TABLE logs",
	"DELETE FROM logs WHERE 1", "ALTER TABLE logs DELETE WHERE 1", "ALTER TABLE logs ADD COLUMN x String", "OPTIMIZE TABLE logs FINAL", "RENAME TABLE logs TO x", "INSERT INTO logs (session_id) VALUES ('x')", "DETACH TABLE logs", "EXCHANGE TABLES logs AND logs",
	"SELECT 1 SETTINGS readonly = 0", "SELECT * FROM (SELECT 1 SETTINGS readonly = 0)", "SELECT 1; SELECT file('{secret}')", "SELECT 1; DROP TABLE logs", "-- x\nDROP TABLE logs", "/* SELECT */ DROP TABLE logs", "EXPLAIN AST DROP TABLE logs; DROP TABLE logs",
	"BEGIN TRANSACTION", "EXECUTE AS default SELECT 1", "CHECK TABLE logs; DROP TABLE logs", "(SELECT file('{secret}'))", "FROM file('{secret}', 'LineAsString') SELECT *", "SELECT * FROM (FROM file('{secret}', 'LineAsString'))", "PARALLEL WITH SELECT file('{secret}')",
	"SELECT 1 FORMAT CSV INTO OUTFILE '{made}'", "SELECT getSetting('x') , file('{secret}')", "SELECT dictGet('d', 'a', 1)", "SELECT catboostEvaluate('{secret}', 1)", "SELECT hostName(), file('{secret}')",
}

// bombsOfSQL ask for more than there is.
var bombsOfSQL = []string{
	"SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1", "SELECT sum(a.number * b.number) FROM numbers(10000000) a, numbers(10000000) b", "SELECT repeat('x', 1000000000)", "SELECT groupArray(number) FROM numbers(10000000000)",
	"SELECT sleep(3) FROM numbers(1000) SETTINGS max_block_size = 1", "SELECT " + strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000), "SELECT arrayJoin(range(1000000000))", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count() FROM r",
	"SELECT uniqExact(number) FROM numbers(100000000000)", "SELECT * FROM numbers(100000000000) ORDER BY cityHash64(number)", "SELECT throwIf(1)", "SELECT x FROM nothing", "", ";", "SELECT", "\x00", "SELECT " + strings.Repeat("1,", 200_000) + "1",
}

// stage is what the attempts with SQL share: an engine, and a listener that nobody may call.
type stage struct {
	*lab.World
	server *listener
	made   string
}

func staged(t *testing.T, bin string) *stage {
	t.Helper()
	s := &stage{World: lab.NewWithEngine(t, bin), server: listening(t)}
	s.made = filepath.Join(s.Base, "made")
	s.File("c.json", `{"cascade_id": "c", "phases": [{"name": "p", "instructions": "x"}]}`)
	s.File("c.script.json", `{"default": [{"text": "text-of-another-session-71ce"}]}`)
	if o := s.Run("run", "c.json", "--offline", "-q", "--session", "other"); o.Code != exitOK {
		t.Fatalf("the engine's first run: %s", o.Err)
	}
	s.Secret(s.Engine().Password)
	return s
}

func (s *stage) fill(statement string) string {
	return strings.NewReplacer("{secret}", filepath.Join(s.Outside, "secret.txt"), "{made}", s.made, "{engine}", s.EngineDir(), "{server}", s.server.Addr().String()).Replace(statement)
}

// untouched demands that a statement has reached nothing.
func (s *stage) untouched(o *lab.Outcome) error {
	if n := s.server.called.Load(); n > 0 {
		return errorf("ClickHouse called another server %d times", n)
	}
	if _, err := os.Stat(s.made); err == nil {
		return errorf("a file was made")
	}
	return s.Held(o)
}

// sqlOfPeople is about windlass sql without --write: it reads, and what it reads are tables.
func sqlOfPeople() group {
	return group{
		name:   "sql",
		mutant: sqlMutant,
		attempts: func(t *testing.T, bin string) []attempt {
			s := staged(t, bin)
			var out []attempt
			for i, door := range doors {
				out = append(out, attempt{numbered(i, door), func(*lab.World) error {
					o := s.Run("sql", "--", s.fill(door))
					if err := s.untouched(o); err != nil {
						return err
					}
					return fails(nil, o)
				}})
			}
			for i, bomb := range bombsOfSQL[10:] {
				out = append(out, attempt{numbered(i, "no statement: "+bomb), func(*lab.World) error {
					if strings.ContainsRune(bomb, 0) || len(bomb) > 100_000 {
						return s.untouched(s.Input(bomb, "sql", "-"))
					}
					return s.untouched(s.Run("sql", "--", bomb))
				}})
			}
			return append(out, attempt{"afterwards the record is there", func(*lab.World) error { return nil }})
		},
	}
}

// sqlOfModels is about the tool sql_query: a model reads its own session and nothing else.
func sqlOfModels() group {
	return group{
		name:   "sql_query",
		mutant: sqlQueryMutant,
		attempts: func(t *testing.T, bin string) []attempt {
			s := staged(t, bin)
			statements := append(append([]string{}, doors...), bombsOfSQL...)
			ask := sync.OnceValue(func() *lab.Outcome { return s.askAll(append(statements, prying...)) })
			var out []attempt
			for i, statement := range statements {
				out = append(out, attempt{numbered(i, statement), func(*lab.World) error {
					o := ask()
					if err := s.untouched(o); err != nil {
						return err
					}
					return resultAt(o, len(statements)+len(prying), i, true)
				}})
			}
			for i, statement := range prying {
				out = append(out, attempt{numbered(i, "prying: "+statement), func(*lab.World) error {
					return resultAt(ask(), len(statements)+len(prying), len(statements)+i, false)
				}})
			}
			return out
		},
	}
}

// prying are statements that may succeed, but must not show what is of others.
var prying = []string{
	"SELECT * FROM unified_logs", "SELECT DISTINCT session_id FROM unified_logs", "SELECT * FROM logs", "SELECT * FROM windlass_3.logs", "SELECT * FROM windlass_3.unified_logs", "SELECT * FROM system.tables", "SELECT * FROM system.query_log", "SELECT * FROM system.processes",
	"SELECT * FROM system.users", "SELECT * FROM system.settings", "SELECT * FROM system.build_options", "SELECT * FROM system.databases", "SELECT * FROM system.columns", "SELECT * FROM information_schema.tables", "SHOW DATABASES", "SHOW TABLES FROM windlass_3", "SHOW GRANTS",
	"SHOW CREATE TABLE windlass_3.logs", "DESCRIBE windlass_3.logs", "EXISTS windlass_3.logs", "SELECT currentUser(), currentDatabase(), hostName(), version(), uptime()", "SELECT * FROM merge('windlass_3', '.*')", "SELECT * FROM merge(REGEXP('.*'), '.*')", "SELECT count() FROM windlass_3.cards",
	"SELECT repeat('x', 2000000)", "SELECT repeat('x', 1000) FROM numbers(5000)", "SELECT " + strings.TrimSuffix(strings.Repeat("repeat('x', 2000), ", 500), ", "), "SELECT '\x1b]0;owned\x07'", "SELECT '\xff\xfe'",
}

// resultAt demands that the i-th result of n is a failure, or at least shows nothing of others, and is bounded.
func resultAt(o *lab.Outcome, n, i int, failed bool) error {
	if len(o.Tools) != n {
		return errorf("there are %d results of %d: %s", len(o.Tools), n, clip(o.Err))
	}
	r := o.Tools[i]
	switch {
	case failed && !r.Failed:
		return errorf("it was answered: %q", clip(r.Text))
	case strings.Contains(r.Text, "text-of-another-session-71ce") || strings.Contains(r.Text, "other\t") && !r.Failed:
		return errorf("it shows another session: %q", clip(r.Text))
	case len(r.Text) > 80<<10:
		return errorf("the result has %d bytes", len(r.Text))
	}
	return nil
}

// askAll has a model send statements, some to a turn, in a run of its own.
func (s *stage) askAll(statements []string) *lab.Outcome {
	const atOnce = 1 // results are recorded in the order in which they come
	var turns []any
	for len(statements) > 0 {
		n := min(atOnce, len(statements))
		var calls []any
		for _, statement := range statements[:n] {
			calls = append(calls, map[string]any{"tool": "sql_query", "arguments": map[string]any{"sql": strings.ReplaceAll(s.fill(statement), "{", `{{ "{" }}`)}})
		}
		turns, statements = append(turns, map[string]any{"calls": calls}), statements[n:]
	}
	turns = append(turns, map[string]any{"text": "done"})
	s.JSON("q.json", map[string]any{"cascade_id": "q", "phases": []any{map[string]any{"name": "p", "instructions": "x", "tackle": []string{"sql_query"}, "rules": map[string]any{"max_turns": len(turns) + 1}}}})
	s.JSON("q.script.json", map[string]any{"phases": map[string]any{"p": turns}})
	return s.Run("run", "q.json", "--offline", "-q", "--session", "q")
}

func numbered(i int, text string) string {
	if len(text) > 100 {
		text = text[:100]
	}
	return strings.ToValidUTF8(string(rune('a'+i/26))+string(rune('a'+i%26))+" "+text, "?")
}
