package clickhouse_test

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

const schemaVersions = "SELECT version, name FROM schema_migrations FINAL"

// TestSchemaHasVersions fails where the schema was changed and its databases would keep the old one.
func TestSchemaHasVersions(t *testing.T) {
	t.Parallel()
	statements, err := clickhouse.Statements("logs", "")
	require.NoError(t, err)
	comments := regexp.MustCompile(`(?m)^--.*\n`)
	tables, views, found := strings.Cut(comments.ReplaceAllString(strings.Join(statements, ";\n\n"), ""), "CREATE OR REPLACE VIEW")
	require.True(t, found)
	sum := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:8])
	}
	require.Equal(t, "f667d7448989dca0", sum(tables), "the tables have changed since version 11: raise schemaVersion and write their new sum here")
	require.Equal(t, "853ca45d63ddaa07", sum(views), "the views have changed since version 11: raise viewsVersion and write their new sum here")
}

// databaseOfBefore makes a database as windlass did before views had a version: its views of costs
// lack a column, and its tables those that came with versions 9 to 11. A session was delivered to it, and a
// fork of it.
func databaseOfBefore(t *testing.T) clickhouse.Options {
	t.Helper()
	o := clickhousetest.Options(t)
	statements, err := clickhouse.Statements(o.Database, "")
	require.NoError(t, err)
	conn := clickhouse.Conn(clickhousetest.Open(t))
	statements = append(statements, "INSERT INTO "+o.Database+".schema_migrations (version, name) VALUES (8, 'schema')")
	column := regexp.MustCompile(`\n *countIf\(.*\) AS scripted_calls,`)
	added := regexp.MustCompile(`(?s),\n *selection_type .*?(\n\))`)
	redacted := regexp.MustCompile(`\n *redacted_json .*`)
	pretended := regexp.MustCompile(`(?s)\n *(pretend_\w+|price_as) [^\n]*,|, price_as, pretend_usd|\n *arrayStringConcat[^\n]* AS price_as,\n[^\n]* AS pretend_usd,`)
	places := regexp.MustCompile(`\n *(node|ward) +UInt32,|, (node|ward)\b`)
	forks := regexp.MustCompile("(?s)\n *(forked_[a-z]+|child_of|child_key|root|depth) [^\n]* MATERIALIZED [^\n]*| AS l FINAL LEFT JOIN\n\\([^;]*\\) AS f ON session_id = f\\.fork|" +
		", toBool\\(seq <= ifNull\\(f\\.copied_upto, 0\\)\\) AS copied| WHERE NOT c\\.copied")
	of9 := regexp.MustCompile("VIEW `[^`]+`\\.`(context_selections|sent_messages|sessions|children|context_calls|phase_selections|savings_by_[a-z]+|session_tags|cost_by_tag|soundings|ballots|judges|waits|grants|signals|memory_versions|memory_reads|memos|memo_reads|messages)`")
	for _, s := range statements {
		if of9.MatchString(s) {
			continue // views of tables with the new columns
		}
		s = places.ReplaceAllString(pretended.ReplaceAllString(redacted.ReplaceAllString(s, ""), ""), "")
		if strings.Contains(s, "`unified_selections`\n(") {
			s = added.ReplaceAllString(s, "$1")
		}
		s = forks.ReplaceAllStringFunc(s, func(of string) string {
			if strings.HasPrefix(of, " AS l FINAL") {
				return " FINAL"
			}
			return ""
		})
		s = column.ReplaceAllString(strings.Replace(s, "CREATE OR REPLACE VIEW", "CREATE VIEW IF NOT EXISTS", 1), "")
		require.NoError(t, conn.Exec(t.Context(), s), s)
	}
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO "+o.Database+".unified_selections (session_id, seq, key, hash, form, reason) "+
		"VALUES ('before', 7, 'a/attempt1/turn1/model', ['h1', 'h2', 'h3'], ['full', 'masked', 'dropped'], ['kept', 'aged', 'slid'])"))
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO "+o.Database+".unified_logs (session_id, seq, node_type, key, tokens_in, data_json) "+
		`VALUES ('fork', 1, 'run_start', 'run/start', 0, '{"header":{"parent":"before","parent_seq":2}}'),
		('fork', 2, 'model_call', 'a/attempt1/turn1/model', 5, ''), ('fork', 3, 'model_call', 'a/attempt1/turn2/model', 7, '')`))
	return o
}

// openAtOnce opens a database several times at once and returns one of them.
func openAtOnce(t *testing.T, o clickhouse.Options) *clickhouse.DB {
	t.Helper()
	dbs, errs := make([]*clickhouse.DB, 4), make([]error, 4)
	var wg sync.WaitGroup
	for i := range dbs {
		wg.Go(func() { dbs[i], errs[i] = clickhouse.Open(t.Context(), o) })
	}
	wg.Wait()
	for i, db := range dbs {
		require.NoError(t, errs[i])
		t.Cleanup(func() { require.NoError(t, db.Close()) })
	}
	return dbs[0]
}

// TestViewsOfBeforeAreMadeAgain opens a database of before by several processes at once, while one
// of before reads. A user who may only read cannot be the first.
func TestViewsOfBeforeAreMadeAgain(t *testing.T) {
	t.Parallel()
	o := databaseOfBefore(t)
	through := clickhousetest.Open(t)
	conn := clickhouse.Conn(through)
	readonly := strings.Replace(readonlyDSN(t, through), "/"+through.Database(), "/"+o.Database, 1)
	_, err := clickhouse.Open(t.Context(), clickhouse.Options{DSN: readonly})
	require.ErrorContains(t, err, `bring the schema of database "`+o.Database+`" up to date: `)
	require.ErrorContains(t, err, "; once, this needs a user who may alter its tables, and create and drop its views")

	stop, read := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				read <- nil
				return
			default:
			}
			if err := conn.Exec(t.Context(), "SELECT calls, cost_usd FROM "+o.Database+".cost_by_phase"); err != nil {
				read <- err
				return
			}
		}
	}()
	db := openAtOnce(t, o)
	close(stop)
	require.NoError(t, <-read)
	require.Equal(t, "version | name\n8 | schema\n11 | views 11\n", result(t, db, schemaVersions+" ORDER BY version"))
	require.Equal(t, "trace_id | selection_type | strategy | semantic_actor | anchor_hashes | selected_hashes\nbefore/7 | intra_phase |  | auto_context | [\"h1\"] | [\"h2\"]\n",
		result(t, db, "SELECT trace_id, selection_type, strategy, semantic_actor, anchor_hashes, selected_hashes FROM context_selections"))
	require.Equal(t, "forked_from | calls | tokens_in | copied_calls\nbefore | 1 | 7 | 1\n",
		result(t, db, "SELECT forked_from, calls, tokens_in, copied_calls FROM sessions"), "rows of before say it, too")
	requireComments(t, db)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()))
	require.Equal(t, "1", scalar(t, db, "SELECT sum(selections) FROM savings_by_phase"))
	for _, by := range clickhouse.CostBys() {
		rows, err := db.Costs(t.Context(), by, clickhouse.Filter{})
		require.NoError(t, err)
		require.NotEmpty(t, rows)
	}
	sessions, err := db.Sessions(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	require.Len(t, sessions, 3)
	again, err := clickhouse.Open(t.Context(), clickhouse.Options{DSN: readonly})
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

// TestManyReplaceOneView: the comments of a view fail in many ways when others replace it, and the
// replacements never. Whoever replaces it last gives it its comments.
func TestManyReplaceOneView(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	var wg sync.WaitGroup
	errs := make(chan error, 6)
	for range cap(errs) {
		db, err := clickhouse.Open(t.Context(), o)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		wg.Go(func() {
			for range 100 {
				if err := clickhouse.Replace(t.Context(), db, "context_embeddings"); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	db, err := clickhouse.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	requireComments(t, db)
}

// TestViewsOfVersion1AreReplaced: those called a session without an end interrupted, counted requests
// for embeddings as calls, and summed no money up to NULL.
func TestViewsOfVersion1AreReplaced(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	statements, err := clickhouse.Statements(o.Database, "")
	require.NoError(t, err)
	conn := clickhouse.Conn(clickhousetest.Open(t))
	before := strings.NewReplacer("'unfinished'", "'running or interrupted'", "if(guard_calls = 0, 0, ", "if(false, 0, ",
		"countIf(c.effect != 'embed') AS calls,", "count() AS calls,")
	for _, s := range append(statements, "INSERT INTO "+o.Database+".schema_migrations (version, name) VALUES (8, 'views 1')") {
		require.NoError(t, conn.Exec(t.Context(), before.Replace(s)))
	}
	db := openAtOnce(t, o)
	require.Equal(t, "version | name\n8 | views 1\n11 | views 11\n", result(t, db, schemaVersions+" ORDER BY version"))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()))
	requireComments(t, db)
	require.Equal(t, "status\ncompleted\nunfinished\n", result(t, db, "SELECT status FROM sessions ORDER BY status"))
	require.Equal(t, "0", scalar(t, db, "SELECT count() FROM savings_by_phase WHERE guard_calls = 0 AND isNull(guard_usd)"))
}

// TestNewerViewsAreRead by this windlass, which leaves them as they are.
func TestNewerViewsAreRead(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	db := openAtOnce(t, o)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()))
	more := strings.NewReplacer("countIf(c.effect != 'embed') AS calls,", "countIf(c.effect != 'embed') AS calls, 'new' AS note,",
		"any(l.cascade_id) AS cascade_id,", "any(l.cascade_id) AS cascade_id, 'new' AS note,")
	require.NoError(t, clickhouse.NextSchema(t.Context(), db, false, more.Replace))
	db = openAtOnce(t, o)
	require.Equal(t, "version | name\n11 | views 12\n", result(t, db, schemaVersions))
	for _, view := range []string{"sessions", "cost_by_day"} {
		require.Equal(t, "new", scalar(t, db, "SELECT any(note) FROM "+view))
	}
	_, err := db.Costs(t.Context(), clickhouse.ByDay, clickhouse.Filter{})
	require.NoError(t, err)
	_, err = db.Sessions(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
}

// TestTablesOfBeforeGetTheirColumns: the made-up next version of the tables has a column, and a
// view of it, that those of the version before lack.
func TestTablesOfBeforeGetTheirColumns(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	db := openAtOnce(t, o)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()))
	conn := clickhouse.Conn(db)
	require.NoError(t, conn.Exec(t.Context(), "ALTER TABLE unified_cards DROP COLUMN summary"))
	text := func(s string) string {
		return s + "CREATE OR REPLACE VIEW {{table \"newest\"}}{{onCluster}} AS SELECT summary FROM {{table \"unified_cards\"}};\n"
	}
	for range 2 {
		require.NoError(t, clickhouse.NextSchema(t.Context(), db, true, text))
	}
	require.Equal(t, "version | name\n11 | views 11\n12 | views 12\n", result(t, db, schemaVersions+" ORDER BY version"))
	require.Equal(t, "0", scalar(t, db, "SELECT count() FROM newest"))
	require.Equal(t, "2", scalar(t, db, "SELECT count() FROM sessions"), "rows stay")
	_, err := clickhouse.Open(t.Context(), o)
	require.EqualError(t, err, `the ClickHouse database "`+o.Database+`" has schema version 12, but this windlass knows only up to 11: use a newer windlass, or another database`)
}

// TestColumnsAreAddedOnEveryNode holds the statements for a cluster: the table with the rows comes
// before the one over all nodes, and both before the views.
func TestColumnsAreAddedOnEveryNode(t *testing.T) {
	t.Parallel()
	statements, err := clickhouse.StatementsAfter("logs", "main")
	require.NoError(t, err)
	var heads []string
	for _, s := range statements {
		if head, _, ok := strings.Cut(s, " ADD COLUMN IF NOT EXISTS session_id String, "); ok {
			heads = append(heads, head)
		} else if strings.Contains(s, "CREATE OR REPLACE VIEW") {
			break
		}
	}
	var want []string
	for _, table := range []string{"unified_logs", "unified_selections", "unified_cards", "unified_embeddings"} {
		want = append(want, "ALTER TABLE `logs`.`"+table+"_local` ON CLUSTER `main`", "ALTER TABLE `logs`.`"+table+"` ON CLUSTER `main`")
	}
	require.Equal(t, want, heads)
}
