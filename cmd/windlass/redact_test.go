package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// canary is what must not be found anywhere after it was redacted.
const canary = "canary-5f2c9e7a11d04b6f"

// redactLab has a cascade through which a secret that a tool prints gets everywhere: into results that
// are sent again in other forms, answers, arguments of calls, the state, a structured output, later
// phases, selections, cards and handoffs.
func redactLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("ask.json", `{"cascade_id": "ask", "inputs_schema": {"topic": "what"}, "phases": [
		{"name": "one", "tackle": ["read_file", "set_state"], "instructions": "Read {{ input.topic }}.", "rules": {"max_turns": 30},
			"intra_context": {"enabled": true, "mask_observations_after": 1, "advance": "every_turn"}},
		{"name": "two", "context": {"from": ["one"]}, "instructions": "Sum up {{ outputs.one }}.", "output_schema":
			{"type": "object", "properties": {"key": {"type": "string"}, "n": {"type": "integer"}}, "required": ["key", "n"]}},
		{"name": "three", "context": {"mode": "auto", "selection": {"strategy": "hybrid"}}, "instructions": "What of {{ outputs.two.key }}?"}]}`)
	say := fmt.Sprintf("The file has the key %s in it.", canary)
	l.file("ask.script.json", fmt.Sprintf(`{"phases": {"one": [
		{"calls": [{"tool": "read_file", "arguments": {"path": "secret.txt"}}]},
		{"text": "One more.", "calls": [{"tool": "read_file", "arguments": {"path": "long.txt", "limit": 40}}]},
		{"calls": [{"tool": "set_state", "arguments": {"key": "found", "value": %q}}]},
		{"calls": [{"tool": "read_file", "arguments": {"path": "none/%s"}}]},
		{"text": %q}], "two": [{"text": %q}]}, "default": [{"text": "It is a key."}]}`,
		canary, canary, say, fmt.Sprintf(`{"key":%q,"n":3}`, canary)))
	l.file("secret.txt", strings.Repeat("a line of the file, as there are many\n", 30)+"API_KEY="+canary+"\n"+strings.Repeat("and more of them below it\n", 30))
	l.file("long.txt", strings.Repeat("something else that is long enough to be masked\n", 60))
	return l
}

// places returns where the home and the database of a lab have a text.
func (l *lab) places(text string) []string {
	l.t.Helper()
	var found []string
	require.NoError(l.t, filepath.WalkDir(l.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			found = append(found, path)
		}
		return err
	}))
	columns := l.ask("SELECT table, name FROM system.columns WHERE database = currentDatabase() AND type LIKE '%String%'")
	require.Greater(l.t, len(columns), 60)
	for _, c := range columns {
		if strings.HasPrefix(fmt.Sprint(c["table"]), "unified_") {
			rows := l.ask(fmt.Sprintf("SELECT count() AS n FROM %s WHERE position(toString(%s), '%s') > 0", c["table"], c["name"], text))
			if fmt.Sprint(rows[0]["n"]) != "0" {
				found = append(found, fmt.Sprintf("%s.%s", c["table"], c["name"]))
			}
		}
	}
	return found
}

// hashOf returns the content hash of the first message of a session in an entry with a key.
func (l *lab) hashOf(session, key string) string {
	l.t.Helper()
	for _, e := range l.recording(session).Entries {
		if e.Key.String() == key && e.Message != nil {
			return string(e.ContentHash)
		}
	}
	require.Fail(l.t, "no message", key)
	return ""
}

func (l *lab) recording(session string) *journal.Recording {
	l.t.Helper()
	rec, err := journal.Read(filepath.Join(l.home, "sessions", session, journal.File))
	require.NoError(l.t, err)
	return rec
}

// TestRedactedIsNowhere: what a tool printed is in no file of the home and in no column of ClickHouse
// after it was redacted, whatever became of it, and figures are what they were.
func TestRedactedIsNowhere(t *testing.T) {
	t.Parallel()
	l := redactLab(t)
	l.run(exitOK, "run", "ask.json", "--offline", "--session", "s1", "-q", "--input", "topic=it")
	before := l.places(canary)
	for _, where := range []string{
		"journal.jsonl", "unified_logs.content_json", "unified_logs.data_json", "unified_logs.tool_arguments", "unified_logs.tool_calls_json",
		"unified_selections.sent_json", "unified_cards.summary",
	} {
		require.True(t, slices.ContainsFunc(before, func(p string) bool { return strings.HasSuffix(p, where) }), "%s is not in %s", where, before)
	}
	savings := l.run(exitOK, "sql", "--json", "SELECT * FROM savings_by_session").out.String()
	cards := l.run(exitOK, "sql", "--json", "SELECT content_hash, estimated_tokens FROM context_cards ORDER BY content_hash").out.String()
	hash := l.hashOf("s1", "one/attempt1/turn1/tool1")
	l.run(exitOK, "test", "freeze", "s1", "--name", "kept")

	var done archive.Redacted
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "sessions", "redact", "s1", hash, "--json").out.String()), &done))
	require.Equal(t, []string{filepath.Join(l.dir, "tests", "kept.test.json")}, done.Files, "a frozen test has a copy, which is named")
	require.NotEmpty(t, done.Left)
	for _, p := range done.Left {
		require.NotEmpty(t, p.Hash, "what is left is in messages that can be redacted themselves, not in %d", p.Seq)
	}
	for _, p := range done.Left {
		l.run(exitOK, "sessions", "redact", "s1", string(p.Hash))
	}
	require.Empty(t, l.places(canary))
	require.Equal(t, savings, l.run(exitOK, "sql", "--json", "SELECT * FROM savings_by_session").out.String())
	require.Equal(t, cards, l.run(exitOK, "sql", "--json", "SELECT content_hash, estimated_tokens FROM context_cards ORDER BY content_hash").out.String())
	everyRowOnce(t, l, "s1")

	require.Contains(t, l.run(exitOK, "verify", "s1").out.String(), "holds as far as its redactions allow")
	at := slices.IndexFunc(l.recording("s1").Entries, func(e *echo.Entry) bool { return e.Key.String() == "three/start" })
	l.home = filepath.Join(l.dir, "another")
	l.env = append(l.env, "WINDLASS_HOME="+l.home)
	l.run(exitOK, "resume", "s1", "--fork", fmt.Sprint(at), "--session", "s2", "-q")
	require.Contains(t, l.run(exitOK, "verify", "s1").out.String(), "messages of ", "rebuilt from ClickHouse it says the same")
	require.Empty(t, l.places(canary))
}

// everyRowOnce demands a row in ClickHouse for each entry of a session.
func everyRowOnce(t *testing.T, l *lab, session string) {
	t.Helper()
	rows := l.ask("SELECT count() AS n, uniqExact(seq) AS seqs FROM unified_logs WHERE session_id = '" + session + "'")
	require.Equal(t, fmt.Sprint(len(l.recording(session).Entries)), fmt.Sprint(rows[0]["n"]))
	require.Equal(t, rows[0]["n"], rows[0]["seqs"])
}

// TestEveryMessageCanBeRedacted: whichever message of a session is redacted, all of it can be shown,
// verified and forked at every place, and what a fork records holds as well.
func TestEveryMessageCanBeRedacted(t *testing.T) {
	t.Parallel()
	l := redactLab(t)
	l.run(exitOK, "run", "ask.json", "--offline", "--session", "s1", "-q", "--input", "topic=it", "--no-clickhouse")
	path := filepath.Join(l.home, "sessions", "s1", journal.File)
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	seen := map[echo.Hash]bool{}
	for i, e := range l.recording("s1").Entries {
		if e.Message == nil || seen[e.ContentHash] {
			continue
		}
		seen[e.ContentHash] = true
		require.NoError(t, os.WriteFile(path, sound, 0o600))
		args := []string{"sessions", "redact", "s1", string(e.ContentHash)}
		if i%2 == 0 {
			args = append(args, "--parts")
		}
		l.run(exitOK, args...)
		var v app.Verification
		require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "verify", "s1", "--json").out.String()), &v))
		require.True(t, v.Holds, e.Key)
		require.Positive(t, v.Redaction.Messages)
		require.Zero(t, v.Redaction.NotMade, "%s: %s", e.Key, args)
		l.run(exitOK, "context", "show", "s1", "--call", "4")
		l.run(exitOK, "simulate", "s1")
		l.run(exitOK, "context", "select", "s1", "--for", "Which key?")
		l.run(exitOK, "context", "stats", "s1")
		l.run(exitOK, "sessions", "handoff", "s1")
		l.run(exitOK, "replay", "s1", "--speed", "0")
		for n, at := range []string{"9", "19", "28"} {
			id := fmt.Sprintf("f%d-%d", i, n)
			require.Contains(t, l.run(exitOK, "resume", "s1", "--fork", at, "--session", id, "-q").err.String(), "1 redaction of the session")
		}
	}
	require.Greater(t, len(seen), 10)
}

// TestEveryMessageCanBeRedactedUnderAGuard: so it is where the guard summed messages up, masked and
// removed them, by sizes that are others now.
func TestEveryMessageCanBeRedactedUnderAGuard(t *testing.T) {
	t.Parallel()
	l := redactLab(t)
	l.file("ask.json", `{"cascade_id": "ask", "token_budget": {"max_total": 2500, "reserve_for_output": 300, "strategy": "summarize"}, "phases": [
		{"name": "one", "tackle": ["read_file"], "instructions": "Do it.", "rules": {"max_turns": 30}},
		{"name": "two", "context": {"from": ["one"]}, "instructions": "Sum."}]}`)
	turns := []string{`{"calls": [{"tool": "read_file", "arguments": {"path": "secret.txt", "limit": 32}}]}`}
	for i := range 12 {
		turns = append(turns, fmt.Sprintf(`{"text": "Step %d.", "calls": [{"tool": "read_file", "arguments": {"path": "long.txt", "limit": %d}}]}`, i, 20+i))
	}
	l.file("ask.script.json", fmt.Sprintf(`{"phases": {"one": [%s, {"text": "The key is %s."}]}, "default": [{"text": "It was %s."}]}`, strings.Join(turns, ","), canary, canary))
	l.run(exitOK, "run", "ask.json", "--offline", "--session", "s1", "-q", "--no-clickhouse")
	path := filepath.Join(l.home, "sessions", "s1", journal.File)
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(sound), "/compact1/model")
	entries := l.recording("s1").Entries
	for i, e := range entries {
		if e.Message == nil || i%3 != 0 && e.Message.Role() == echo.RoleTool {
			continue
		}
		require.NoError(t, os.WriteFile(path, sound, 0o600))
		l.run(exitOK, "sessions", "redact", "s1", string(e.ContentHash))
		var v app.Verification
		require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "verify", "s1", "--json").out.String()), &v))
		require.Zero(t, v.Redaction.NotMade, "%d: %s", e.Seq, e.Key)
		if i%5 == 0 {
			l.run(exitOK, "resume", "s1", "--fork", fmt.Sprint(len(entries)-12), "--session", fmt.Sprint("f", i), "-q")
		}
	}
}

// TestRedactedSessionGoesOn: a run that was stopped goes on after a redaction, once with a warning, and
// the model is sent the mark.
func TestRedactedSessionGoesOn(t *testing.T) {
	t.Parallel()
	l := redactLab(t)
	l.run(exitBudget, "run", "ask.json", "--offline", "--session", "s1", "-q", "--input", "topic=it", "--max-tokens", "1500", "--no-clickhouse")
	hash := l.hashOf("s1", "one/attempt1/turn1/tool1")
	l.run(exitOK, "sessions", "redact", "s1", hash)
	p := l.run(exitOK, "resume", "s1", "--max-tokens", "100000")
	require.Equal(t, 1, strings.Count(p.err.String(), "of the session: models get a mark"), p.err.String())
	require.Contains(t, l.run(exitOK, "context", "show", "s1", "--call", "2").out.String(), "[redacted "+hash+": ")
	require.Contains(t, l.run(exitOK, "verify", "s1").out.String(), "2 messages of 31 are redacted")
}

// TestRedactionThatIsNotRecorded: a message that says that it is redacted is damage where the header
// does not say so, and one that was changed after it was redacted is found where it was compared.
func TestRedactionThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	l := redactLab(t)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(l.home)) }) // it does not hold, as it should not
	l.run(exitOK, "run", "ask.json", "--offline", "--session", "s1", "-q", "--input", "topic=it", "--no-clickhouse")
	l.run(exitOK, "sessions", "redact", "s1", l.hashOf("s1", "one/attempt1/turn1/tool1"))
	rec := l.recording("s1")
	owned, err := journal.Own(filepath.Join(l.home, "sessions", "s1"))
	require.NoError(t, err)
	h := rec.Header
	h.Redactions = nil
	err = owned.Rewrite(h, func(e *echo.Entry) (*echo.Entry, error) { return e, nil })
	require.ErrorContains(t, err, "says that it is redacted, and the header of the journal does not; windlass does not write such entries")

	forged := func(e *echo.Entry) (*echo.Entry, error) {
		if e.NodeType != echo.NodeRoute || e.Phase != "one" {
			return nil, nil //nolint:nilnil // it stays as it is
		}
		other := *e
		other.Data = bytes.Replace(e.Data, []byte(`"file order"`), []byte(`"on_error"`), 1)
		return &other, nil
	}
	require.NoError(t, owned.Rewrite(rec.Header, forged))
	require.NoError(t, owned.Close())
	require.Contains(t, l.run(exitFailed, "verify", "s1").err.String(), `has another data: recorded`)
}

// TestDocumentedRedaction runs the commands of the page, and holds what it shows against what they
// print.
func TestDocumentedRedaction(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("ask.json", `{"cascade_id": "ask", "phases": [{"name": "one", "tackle": ["read_file"], "instructions": "Read the file."},
		{"name": "two", "context": {"from": ["one"]}, "instructions": "Sum up {{ outputs.one }}."}]}`)
	l.file("ask.script.json", fmt.Sprintf(`{"phases": {"one": [{"calls": [{"tool": "read_file", "arguments": {"path": "secret.txt"}}]},
		{"text": "The file has the key %s in it."}]}, "default": [{"text": "It is a key."}]}`, canary))
	l.file("secret.txt", "user=me\nAPI_KEY="+canary+"\nmore text here\n")
	l.run(exitOK, "run", "ask.json", "--offline", "--session", "01jz4k", "-q", "--no-clickhouse")
	when := regexp.MustCompile(`since 20[0-9-]+ [0-9:]+ UTC`)
	n := 0
	for _, b := range blocksOf(t, "cli.md") {
		command, want, _ := strings.Cut(b.text, "\n")
		if !strings.HasPrefix(command, "$ windlass sessions redact ") && command != "$ windlass verify 01jz4k" {
			continue
		}
		n++
		args := strings.Fields(strings.TrimPrefix(command, "$ windlass "))
		if at := slices.Index(args, "--reason"); at > 0 {
			args = append(args[:at+1], strings.Trim(strings.Join(args[at+1:], " "), `"`))
		}
		require.Equal(t, when.ReplaceAllString(want, "since WHEN"), when.ReplaceAllString(l.run(exitOK, args...).out.String(), "since WHEN"))
	}
	require.Equal(t, 2, n)
}
