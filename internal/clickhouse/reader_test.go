package clickhouse_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

func texts(session, text string, n int) []*echo.Entry {
	var entries []*echo.Entry
	for i := range n {
		entries = append(entries, &echo.Entry{
			SessionID: session, Seq: uint64(i + 1), At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), NodeType: echo.NodeMessage,
			Message: echo.NewText(echo.RoleUser, echo.KindTask, text),
		})
	}
	return entries
}

func newReader(t *testing.T) (*clickhouse.DB, *clickhouse.Reader) {
	t.Helper()
	db := clickhousetest.Open(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, texts("mine", "own text", 3)))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, texts("other", "hidden text", 2)))
	r, err := db.SessionReader(t.Context(), "mine")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	return db, r
}

func TestReaderSeesItsOwnSession(t *testing.T) {
	t.Parallel()
	db, r := newReader(t)
	columns, rows, err := r.Query(t.Context(), "SELECT session_id, count() AS n, any(content_text) AS text FROM unified_logs GROUP BY 1")
	require.NoError(t, err)
	require.Equal(t, []string{"session_id", "n", "text"}, columns)
	b, err := json.Marshal(rows)
	require.NoError(t, err)
	require.JSONEq(t, `[["mine", 3, "own text"]]`, string(b))

	require.NoError(t, clickhousetest.Insert(t.Context(), db, texts("mine", "own text", 5)))
	_, rows, err = r.Query(t.Context(), "SELECT count() FROM logs")
	require.NoError(t, err)
	b, err = json.Marshal(rows)
	require.NoError(t, err)
	require.Equal(t, "[[5]]", string(b), "rows that came later are seen, and none twice")
}

func TestReaderIsKeptFromEverythingElse(t *testing.T) {
	t.Parallel()
	db, r := newReader(t)
	own := db.Database()
	attacks := map[string]string{
		"SELECT * FROM " + own + ".unified_logs":                       "Not enough privileges",
		"SELECT * FROM merge('" + own + "', '.*')":                     "no tables satisfied",
		"SELECT * FROM mergeTreeIndex('" + own + "', 'unified_logs')":  "Not enough privileges",
		"SELECT * FROM loop('" + own + "', 'unified_logs')":            "Not enough privileges",
		"EXISTS TABLE " + own + ".unified_logs":                        "Not enough privileges",
		"SELECT file FROM (SELECT '/etc/passwd' AS file)":              "cannot be used here",
		"SELECT hasColumnInTable('h', 'u', 'p', 'd', 't', 'c')":        "cannot be used here",
		"SELECT * FROM system.processes":                               "cannot be used here",
		"SELECT * FROM `system`.`tables`":                              "cannot be used here",
		"SELECT * FROM SYSTEM . settings":                              "cannot be used here",
		"WITH x AS (SELECT * FROM system.users) SELECT * FROM x":       "cannot be used here",
		"SELECT * FROM INFORMATION_SCHEMA.tables":                      "cannot be used here",
		"SELECT * FROM {d:Identifier}.tables":                          "parameters in braces",
		"SHOW PROCESSLIST":                                             "Not enough privileges",
		"SHOW USERS":                                                   "Not enough privileges",
		"SELECT number FROM numbers(2000)":                             "max rows: 1.00 thousand",
		"SELECT sum(number) FROM numbers(100000000000)":                "max rows: 20.00 million",
		"SELECT groupArray(repeat('x', 100000)) FROM numbers(100000)":  "emory limit",
		"SELECT sleepEachRow(3) FROM numbers(100)":                     "maximum sleep time",
		"INSERT INTO unified_logs (session_id) VALUES ('x')":           "only queries that read",
		"DROP TABLE unified_logs":                                      "only queries that read",
		"SET readonly = 0":                                             "only queries that read",
		"KILL QUERY WHERE 1":                                           "only queries that read",
		"WITH 1 AS x INSERT INTO unified_logs (session_id) SELECT 'x'": "",
		"SELECT 1; DROP TABLE unified_logs":                            "more than one statement",
		"SELECT 1 /* */ ; -- \n DROP TABLE unified_logs":               "more than one statement",
		"": "the query is empty",
		"SELECT * FROM unified_logs WHERE throwIf(content_json LIKE '%hidden%')": "-",
	}
	for query, want := range attacks {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			_, rows, err := r.Query(t.Context(), query)
			b, merr := json.Marshal(rows)
			require.NoError(t, merr)
			require.NotContains(t, string(b), "hidden")
			if want == "-" { // allowed, and finds nothing that belongs to others
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.ErrorContains(t, err, want)
		})
	}
}

func TestReaderHonoursItsContext(t *testing.T) {
	t.Parallel()
	_, r := newReader(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := r.Query(ctx, "SELECT sleep(3)")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, _, err = r.Query(lateContext{t.Context()}, "SELECT 1")
	require.ErrorIs(t, err, context.DeadlineExceeded, "also when copying the rows runs into it")
	_, _, err = r.Query(t.Context(), "SELECT 1")
	require.NoError(t, err, "the reader is usable after a cancelled query")
}

// lateContext is one whose deadline has passed without its having noticed yet, as the driver may
// see it.
type lateContext struct{ context.Context } //nolint:containedctx // it is one

func (lateContext) Deadline() (time.Time, bool) { return time.Now().Add(-time.Nanosecond), true }

func TestReaderLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	r, err := db.SessionReader(t.Context(), "mine")
	require.NoError(t, err)
	_, rows, err := r.Query(t.Context(), "SELECT currentDatabase()")
	require.NoError(t, err)
	name := rows[0][0].(clickhouse.Value).String()
	names, err := clickhousetest.Databases(t.Context(), db)
	require.NoError(t, err)
	require.Contains(t, names, name)
	require.NoError(t, r.Close(t.Context()))
	require.NoError(t, r.Close(t.Context()), "closing twice is harmless")
}

func TestReaderSeesWhatItsOwnCallsWereSent(t *testing.T) {
	t.Parallel()
	db := fill(t)
	r, err := db.SessionReader(t.Context(), "s2")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	ask := func(query string) string {
		_, rows, err := r.Query(t.Context(), query)
		require.NoError(t, err)
		b, err := json.Marshal(rows)
		require.NoError(t, err)
		return string(b)
	}
	for _, name := range []string{"unified_selections", "context_selections", "context_calls"} {
		require.Equal(t, `[["s2"]]`, ask("SELECT DISTINCT session_id FROM "+name))
	}
	require.Equal(t, "null", ask("SELECT DISTINCT session_id FROM sent_messages"), "its one call was sent nothing")
	later := &story{session: "s2", entries: stories()[len(stories())-4:]}
	later.mark(echo.NodePhaseStart, "fix", nil)
	later.say("fix", 0, echo.RoleUser, echo.KindTask, "a task of its own")
	later.call("fix", 1, 1, 10, 0, 1, nil, nil)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, later.entries))
	require.Equal(t, `[["s2","a task of its own"]]`, ask("SELECT session_id, content_text FROM sent_messages"), "rows that came later are seen")
}
