package clickhouse_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// documented says which tables and views the sections of docs/sql.md are about, each of which is called
// "The columns of" and its name.
var documented = map[string][]string{
	"unified_logs": {"unified_logs", "logs"}, "model_calls and tool_calls": {"model_calls", "tool_calls"},
	"context_selections": {"context_selections", "unified_selections"}, "phase_selections": {"phase_selections"},
	"sent_messages": {"sent_messages"}, "context_calls": {"context_calls"}, "context_cards": {"context_cards", "unified_cards"},
	"context_embeddings": {"context_embeddings", "unified_embeddings"}, "sessions": {"sessions", "session_tags"}, "children": {"children"},
	"soundings": {"soundings"}, "ballots": {"ballots"}, "judges": {"judges"},
	"waits": {"waits"}, "grants": {"grants"}, "signals": {"signals"},
	"memory_versions": {"memory_versions"}, "memory_reads": {"memory_reads"}, "messages": {"messages"},
	"memos": {"memos"}, "memo_reads": {"memo_reads"},
	"the cost views":    {"cost_by_session", "cost_by_cascade", "cost_by_phase", "cost_by_model", "cost_by_day", "cost_by_tag"},
	"the savings views": {"savings_by_session", "savings_by_phase", "savings_by_model"}, "schema_migrations": {"schema_migrations"},
}

var (
	nameInCode = regexp.MustCompile("`([a-z_]+)`")
	link       = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
	asElse     = regexp.MustCompile("^as in `([a-z_]+)`$")
)

// meanings returns what docs/sql.md says of the columns of each section, as plain text.
func meanings(t *testing.T) map[string]map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/sql.md")
	require.NoError(t, err)
	all := map[string]map[string]string{}
	section := ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") {
			section, _ = strings.CutPrefix(line, "## The columns of ")
			if documented[section] != nil {
				all[section] = map[string]string{}
			} else {
				require.NotContains(t, line, "The columns of", "no table of this test")
				section = ""
			}
		}
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if section == "" || !strings.HasPrefix(line, "| `") {
			continue
		}
		require.Len(t, cells, 2, line)
		for _, m := range nameInCode.FindAllStringSubmatch(cells[0], -1) {
			require.NotContains(t, all[section], m[1], section)
			all[section][m[1]] = strings.TrimSpace(cells[1])
		}
	}
	for section, columns := range all {
		for column := range columns {
			columns[column] = plain(meaning(t, all, section, column))
		}
	}
	return all
}

// meaning follows "as in" to the sentence.
func meaning(t *testing.T, all map[string]map[string]string, section, column string) string {
	t.Helper()
	text := all[section][column]
	m := asElse.FindStringSubmatch(text)
	if m == nil {
		require.NotEmpty(t, text, "%s of %s", column, section)
		return text
	}
	for other, tables := range documented {
		if slices.Contains(tables, m[1]) {
			return meaning(t, all, other, column)
		}
	}
	t.Fatalf("%s of %s: no section has %s", column, section, m[1])
	return ""
}

func plain(text string) string {
	return strings.ReplaceAll(link.ReplaceAllString(text, "$1"), "`", "")
}

// TestEveryColumnIsDocumented: docs/sql.md has a sentence for every column of every table and view, and
// for no other, and the column has that sentence as its comment. Where they differ, go test -update
// writes comments.tsv; databases get the comments with the next version of the views.
func TestEveryColumnIsDocumented(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	docs := meanings(t)
	var written strings.Builder
	var tables []string
	sections := make([]string, 0, len(documented))
	for section := range documented {
		sections = append(sections, section)
	}
	slices.Sort(sections)
	for _, section := range sections {
		var have []string
		for _, table := range documented[section] {
			tables = append(tables, table)
			names := strings.Fields(result(t, db, "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '"+table+"' ORDER BY position"))[1:]
			for _, name := range names {
				written.WriteString(table + "\t" + name + "\t" + docs[section][name] + "\n")
				if !slices.Contains(have, name) {
					have = append(have, name)
				}
			}
		}
		var said []string
		for name := range docs[section] {
			said = append(said, name)
		}
		require.ElementsMatch(t, have, said, section)
	}
	if *update {
		require.NoError(t, os.WriteFile("comments.tsv", []byte(written.String()), 0o600))
	}
	stored, err := os.ReadFile("comments.tsv")
	require.NoError(t, err)
	require.Equal(t, written.String(), string(stored), "go test ./internal/clickhouse -update writes it")
	require.ElementsMatch(t, tables, strings.Fields(result(t, db, "SELECT name FROM system.tables WHERE database = currentDatabase()"))[1:])
	requireComments(t, db)
}

// requireComments demands that every column of a database has its comment.
func requireComments(t *testing.T, db *clickhouse.DB) {
	t.Helper()
	stored, err := os.ReadFile("comments.tsv")
	require.NoError(t, err)
	rows, err := db.Query(t.Context(), "SELECT table, name, comment FROM system.columns WHERE database = currentDatabase()", clickhouse.QueryOptions{})
	require.NoError(t, err)
	have := map[string]bool{}
	for rows.Next() {
		row, err := rows.Row()
		require.NoError(t, err)
		have[row[0].String()+"\t"+row[1].String()+"\t"+row[2].String()+"\n"] = true
	}
	require.NoError(t, rows.Close())
	for line := range strings.Lines(string(stored)) {
		require.True(t, have[line], line)
		delete(have, line)
	}
	require.Empty(t, have)
}

// TestCommentsOnEveryNode holds the statements for a cluster: tables with rows have two names there.
func TestCommentsOnEveryNode(t *testing.T) {
	t.Parallel()
	var heads []string
	for _, s := range clickhouse.Comments("logs", "main") {
		head, _, _ := strings.Cut(s, " COMMENT COLUMN IF EXISTS ")
		if strings.Contains(head, "unified_logs") || strings.Contains(head, "`sessions") || strings.Contains(head, "migrations") {
			heads = append(heads, head)
		}
	}
	require.Equal(t, []string{
		"ALTER TABLE `logs`.`schema_migrations` ON CLUSTER `main`", "ALTER TABLE `logs`.`schema_migrations_local` ON CLUSTER `main`",
		"ALTER TABLE `logs`.`sessions` ON CLUSTER `main`",
		"ALTER TABLE `logs`.`unified_logs` ON CLUSTER `main`", "ALTER TABLE `logs`.`unified_logs_local` ON CLUSTER `main`",
	}, heads)
}
