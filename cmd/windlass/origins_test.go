package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/schema"
)

const notThereYet = "not there yet"

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	pageLink   = regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`)
	figure     = regexp.MustCompile(`\d*\.\d+( %)?|\d+(,\d{3})*( %| s\b| ms\b)|\d+(,\d{3})+`)
	jsonMember = regexp.MustCompile(`^([a-z_]+)`)
	constant   = regexp.MustCompile(`(?m)^\t(?:Node|Guard|Form|Reason)\w+ +\w+ = "([a-z_]+)"`)
)

// originRow is a row of a table of docs/origins.md.
type originRow struct{ idea, here, more, because string }

func originsPage(t *testing.T) (page string, rows []originRow) {
	t.Helper()
	data, err := os.ReadFile("../../docs/origins.md")
	require.NoError(t, err)
	page = string(data)
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || strings.HasPrefix(line, "| idea") || strings.HasPrefix(line, "|--") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, originRow{cells[1], cells[2], cells[3], cells[4]})
	}
	require.Greater(t, len(rows), 40)
	return page, rows
}

// TestOriginsNameWhatThereIs: what the page says is here is a key, a command, a flag, a tool, a column
// or a word of the record, and what it says is not there yet is none of them.
func TestOriginsNameWhatThereIs(t *testing.T) {
	t.Parallel()
	page, rows := originsPage(t)
	known := namesThatThereAre(t)
	ideas := ""
	for _, r := range rows {
		ideas += r.idea + "\n"
		here, missing, _ := strings.Cut(r.here, notThereYet)
		for _, m := range codeSpan.FindAllStringSubmatch(here+r.because, -1) {
			require.True(t, known(m[1]), "docs/origins.md: %s: there is no %q", r.idea, m[1])
		}
		for _, m := range codeSpan.FindAllStringSubmatch(missing, -1) {
			require.False(t, known(m[1]), "docs/origins.md says that %q is %s", m[1], notThereYet)
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") {
			continue
		}
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			require.True(t, known(m[1]), "docs/origins.md: there is no %q", m[1])
		}
	}
	for _, idea := range []string{
		"hat", "checkpoint", "recovery hint", "context guards", "task_title", "current_hat", "completed_items", "remaining_items", "blocking_issues",
		"key_decisions", "continuation_prompt", "branch", "head_commit", "generated_at", "created_files", "modified_files", "token threshold", "last request",
		"probe", "memory search", "MEMORY.md", "client tokenizers", "three events", "/context", "/compact", "memory tool", "clear_tool_uses", "deduplication",
		"quality score", "recency in minutes", "similarity", "20 keywords", "vector index", "masked", "group id", "parsing strategy", "query_db", "session state",
		"todos", "memos", "delete", "full-text",
	} {
		require.Contains(t, ideas, idea)
	}
}

// TestOriginsLeadSomewhere: each link leads to a heading, and each figure stands on a page that the
// row leads to.
func TestOriginsLeadSomewhere(t *testing.T) {
	t.Parallel()
	page, rows := originsPage(t)
	read := func(name string) string {
		if name == "" {
			return page
		}
		data, err := os.ReadFile(filepath.Join("../../docs", name))
		require.NoError(t, err)
		return string(data)
	}
	for _, m := range pageLink.FindAllStringSubmatch(page, -1) {
		if m[2] != "" {
			require.Contains(t, headings(read(m[1])), m[2], "%s of %s", m[2], m[1])
		}
	}
	for _, r := range rows {
		linked := ""
		for _, m := range pageLink.FindAllStringSubmatch(r.more, -1) {
			linked += read(m[1])
		}
		for _, f := range figure.FindAllString(r.because, -1) {
			require.True(t, strings.Contains(linked, strings.TrimSpace(f)), "%s: the figure %s stands on no page that the row names", r.idea, f) //nolint:testifylint // likewise
		}
	}
}

// TestOriginsPhaseOfFifteenTurns makes the conversation of the page, and what it says of it.
func TestOriginsPhaseOfFifteenTurns(t *testing.T) {
	t.Parallel()
	page, _ := originsPage(t)
	messages := []map[string]any{{"role": "system", "content": "You work with tools."}, {"role": "user", "content": "Read the files and report."}}
	for turn := range 14 {
		var calls, results []map[string]any
		for n := 2 * turn; n < 2*turn+2; n++ {
			id, text := fmt.Sprintf("c%d", n), strings.Repeat(fmt.Sprintf("line %d of text ", n), 6000/10)[:6000]
			calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": fmt.Sprintf(`{"path": "f%d.txt"}`, n)}})
			results = append(results, map[string]any{"role": "tool", "tool_call_id": id, "content": text})
		}
		messages = append(append(messages, map[string]any{"role": "assistant", "content": nil, "tool_calls": calls}), results...)
	}
	line, err := json.Marshal(append(messages, map[string]any{"role": "assistant", "content": "done"}))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "phase.jsonl")
	require.NoError(t, os.WriteFile(file, append(line, '\n'), 0o600))
	code, out, errs := commandLine(t, "", "simulate", file, "--policy", "every_turn", "--policy", "cost")
	require.Equal(t, exitOK, code, errs)
	rows := regexp.MustCompile(`(?m)^(every_turn|cost) +[\d,]+ +([\d.]+) % +[\d.]+ % +[\d,]+ +[\d.]+ +([\d.]+) `).FindAllStringSubmatch(out, -1)
	require.Len(t, rows, 2, out)
	for _, m := range rows {
		row := fmt.Sprintf("| `%s` | %s %% | %s |\n", m[1], m[2], m[3])
		require.True(t, strings.Contains(page, row), "docs/origins.md has no row %s", row) //nolint:testifylint // Contains would print the page
	}
}

// headings returns the names under which links reach the headings of a page.
func headings(page string) (names []string) {
	for line := range strings.Lines(page) {
		if title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && strings.HasPrefix(line, "#") {
			title = regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			names = append(names, strings.ReplaceAll(title, " ", "-"))
		}
	}
	return names
}

// namesThatThereAre returns whether there is something of a name.
func namesThatThereAre(t *testing.T) func(name string) bool {
	t.Helper()
	names := map[string]bool{"windlass.json": true, "Try:": true, "untracked": true, "added": true}
	var doc any
	require.NoError(t, json.Unmarshal(schema.CascadeJSON(), &doc))
	schemaNames(doc, names)
	each(newRootCommand(&console{}), func(cmd *cobra.Command) {
		names[cmd.CommandPath()] = true
		names[strings.TrimPrefix(cmd.CommandPath(), "windlass ")] = true
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names["--"+f.Name] = true })
	})
	for _, tool := range append(engine.OwnTools(), app.Known().Tools...) {
		names[tool] = true
	}
	for _, file := range []string{"echo/entry.go", "echo/data_context.go", "autocontext/view.go"} {
		data, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		found := constant.FindAllSubmatch(data, -1)
		require.NotEmpty(t, found, file)
		for _, m := range found {
			names[string(m[1])] = true
		}
	}
	memberNames(reflect.TypeFor[echo.Handoff](), names)
	l := newLab(t, "")
	var rows []struct{ Table, Name string }
	columns := l.run(exitOK, "sql", "SELECT table, name FROM system.columns WHERE database = currentDatabase()", "--json")
	require.NoError(t, json.Unmarshal([]byte(columns.out.String()), &rows))
	require.Greater(t, len(rows), 200)
	for _, r := range rows {
		names[r.Table], names[r.Name] = true, true
	}
	return func(name string) bool { return names[name] || inConfig(name) }
}

// schemaNames collects the keys and the words of a schema.
func schemaNames(v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok {
			for key := range properties {
				names[key] = true
			}
		}
		if words, ok := v["enum"].([]any); ok {
			for _, w := range words {
				names[fmt.Sprint(w)] = true
			}
		}
		for _, below := range v {
			schemaNames(below, names)
		}
	case []any:
		for _, below := range v {
			schemaNames(below, names)
		}
	}
}

// memberNames collects the names of a struct's members as JSON.
func memberNames(typ reflect.Type, names map[string]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if m := jsonMember.FindString(f.Tag.Get("json")); m != "" {
			names[m] = true
			memberNames(f.Type, names)
		}
	}
}

// inConfig reports whether windlass.json has a key, also in a model.
func inConfig(key string) bool {
	for _, form := range []string{`{%q: null}`, `{"models": {"m": {%q: null}}}`} {
		if _, err := config.Parse("windlass.json", fmt.Appendf(nil, form, key)); err == nil || !strings.Contains(err.Error(), "unknown key") {
			return true
		}
	}
	return false
}
