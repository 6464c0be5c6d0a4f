package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// The cascades of this test besides the examples.
var recorded = map[string]string{
	"ask.json":  `{"cascade_id": "ask", "phases": [{"name": "one", "instructions": "Say <something> & \"more\"."}]}`,
	"read.json": `{"cascade_id": "read", "phases": [{"name": "one", "instructions": "Read.", "tackle": ["read_file"]}]}`,
	"odd.json": `{"cascade_id": "odd", "tools": [{"tool_id": "odd", "type": "shell", "command": "printf 'tab\\there \\\\ quote \" \\001\\377 <&> \\360\\237\\246\\212\\n'"}],
		"phases": [{"name": "strange", "tool": "odd", "callouts": "Odd"}, {"name": "two", "instructions": "{{ outputs['strange'] }}{{ state.output_two }}"}]}`,
	"odd.script.json": `{"phases": {"two": [{"text": "{{ input }}\n\u2028 \u0000 end"}]}}`,
	"windlass.json":   `{"models": {"*": {"max_retries": 0}}}`,
}

// TestEverythingArrives runs cascades with --events and holds, for every entry, the event, the
// journal and the row in ClickHouse against each other, value by value: through a server's DSN, and
// through the embedded engine.
func TestEverythingArrives(t *testing.T) {
	t.Parallel()
	t.Run("dsn", func(t *testing.T) {
		t.Parallel()
		everythingArrives(t, newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t))))
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		l := embeddedLab(t)
		everythingArrives(t, l)
		l.engineEnds()
	})
}

func everythingArrives(t *testing.T, l *lab) {
	for name, text := range recorded {
		l.file(name, text)
	}
	repo, err := filepath.Abs("../..")
	require.NoError(t, err)
	example := func(name string) string { return filepath.Join(repo, "examples", "cascades", name) }
	require.NoError(t, os.CopyFS(filepath.Join(l.dir, "examples"), os.DirFS(filepath.Join(repo, "examples"))))
	l.file("README.md", "# A project\n")
	l.file("main.go", "package main\n\nfunc main() {}\n")
	shareGoCache(t, filepath.Join(l.dir, "home"))
	runs := []struct {
		code int
		args []string
	}{
		{exitOK, []string{example("log_triage.json"), "--offline"}},
		{exitOK, []string{example("repo_audit.json"), "--model", "gpt-5-mini"}},
		{exitOK, []string{"read.json", "--model", "bad-arguments"}},
		{exitFailed, []string{"ask.json", "--model", "empty"}},
		{exitProvider, []string{"ask.json", "--model", "html"}},
		{exitOK, []string{"odd.json", "--offline"}},
		{exitOK, []string{example("incident_review.json"), "--offline"}},
		{exitOK, []string{example("release_notes.json"), "--offline"}},
		{exitOK, []string{example("guarded_answer.json"), "--offline"}},
		{exitOK, []string{example("research.json"), "--offline"}},
		{exitOK, []string{example("five_drafts.json"), "--offline"}},
		{exitOK, []string{example("tested_code.json"), "--offline"}},
	}
	seen, places := map[echo.NodeType]bool{}, map[string]bool{}
	for i, r := range runs {
		id := fmt.Sprintf("run-%d", i)
		p := l.run(r.code, append([]string{"run", "--events", "--session", id}, r.args...)...)
		events := eventsOf(t, p.out.String())
		require.Equal(t, events, journalOf(t, l.home, id))
		rows := rowsBy(t, l, id)
		require.Len(t, rows, len(events))
		requireSelections(t, l, id)
		for n, line := range events {
			var e map[string]any
			require.NoError(t, decode(line, &e))
			seen[echo.NodeType(e["node_type"].(string))] = true
			selection := whole(t, e["selection"])
			want := expectedRow(t, e)
			want["selection_json"] = selection
			if want["node_type"] == string(echo.NodeInter) {
				addSizesBetween(t, want)
			}
			for _, column := range []string{"node", "ward", "item", "child"} {
				if want[column] != number(0) && want[column] != "" {
					places[column] = true
				}
			}
			require.Empty(t, e, "values of an entry that have no column")
			require.Empty(t, gocmp.Diff(want, comparable(t, rows[n])), "%s\n%s", r.args[0], line)
		}
	}
	for _, n := range []echo.NodeType{
		echo.NodeRunStart, echo.NodeRunEnd, echo.NodePhaseStart, echo.NodePhaseEnd, echo.NodeMessage, echo.NodeSelection,
		echo.NodeModelCall, echo.NodeToolCall, echo.NodeVerdict, echo.NodeRoute, echo.NodeState, echo.NodeCallout,
		echo.NodeValue, echo.NodeWarning, echo.NodeInter, echo.NodeCandidate, echo.NodeBallot, echo.NodeChoice,
	} {
		require.True(t, seen[n], "no entry of type %s was compared", n)
	}
	for _, column := range []string{"node", "ward", "item", "child"} {
		require.True(t, places[column], "no entry with a value of %s was compared", column)
	}
}

// addSizesBetween adds the sizes of a selection between phases. No model here has a price.
func addSizesBetween(t *testing.T, row map[string]any) {
	t.Helper()
	text, err := json.Marshal(row["data_json"])
	require.NoError(t, err)
	var s echo.InterSelection
	require.NoError(t, json.Unmarshal(text, &s))
	messages, left := s.Messages, 0
	for _, a := range s.Anchors {
		messages += a.Messages
	}
	for _, c := range s.Scores {
		if !c.Chosen {
			left += c.Messages
		}
	}
	row["full_history_size"], row["context_size"] = number(uint64(s.Everything)), number(uint64(s.Sent()))
	row["tokens_saved"] = number(uint64(s.Everything - s.Sent()))
	row["message_count"], row["masked_count"] = number(uint64(messages)), number(uint64(left))
}

// whole copies a value, before parts are taken out of it.
func whole(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var out any
	require.NoError(t, decode(string(text), &out))
	return out
}

func decode(text string, into any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return dec.Decode(into)
}

func eventsOf(t *testing.T, out string) []string {
	t.Helper()
	var events []string
	for line := range strings.Lines(out) {
		events = append(events, strings.TrimSuffix(line, "\n"))
	}
	require.NotEmpty(t, events)
	return events
}

// sums are the checksums at the ends of a journal's lines.
var sums = regexp.MustCompile(`(?m),"sum":"[0-9a-f]{16}"}$`)

// journalOf returns the entries of a journal as they stand there, without their checksums.
func journalOf(t *testing.T, home, id string) []string {
	t.Helper()
	path := filepath.Join(home, "sessions", id, journal.File)
	_, err := journal.Read(path) // it must be sound as well
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data = sums.ReplaceAll(data, []byte("}"))
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")[1:]
}

// rowsBy asks windlass itself for the rows of a session.
func rowsBy(t *testing.T, l *lab, id string) []map[string]any {
	t.Helper()
	p := l.run(exitOK, "sql", "--json", "SELECT * FROM unified_logs WHERE session_id = '"+id+"' ORDER BY seq")
	var rows []map[string]any
	require.NoError(t, decode(p.out.String(), &rows))
	return rows
}

// expectedRow says what the row of an event must hold. It takes what it has used out of the event.
func expectedRow(t *testing.T, e map[string]any) map[string]any {
	t.Helper()
	row := map[string]any{"at": instant(t, time.RFC3339Nano, take(e, "at", ""))}
	for column, path := range map[string]string{
		"session_id": "session_id", "node_type": "node_type", "key": "key", "cascade_id": "cascade_id", "phase_name": "phase",
		"role": "message.role", "kind": "message.kind", "content_hash": "content_hash", "model": "model", "provider": "provider",
		"request_hash": "request_hash", "error_kind": "error.kind", "error": "error.message", "tool_arguments": "tool.arguments",
	} {
		row[column] = take(e, path, "")
	}
	for column, path := range map[string]string{
		"seq": "seq", "attempt": "attempt", "turn": "turn", "sounding": "sounding", "duration_ms": "duration_ms",
		"full_history_size": "selection.full_history_size", "context_size": "selection.context_size",
		"tokens_saved": "selection.tokens_saved", "message_count": "selection.message_count", "masked_count": "selection.masked_count",
		"shared_size": "selection.shared_size", "full_shared_size": "selection.full_shared_size",
		"request_size": "selection.request_size", "request_limit": "selection.limit",
	} {
		row[column] = take(e, path, json.Number("0"))
	}
	row["scripted"], row["failed"] = take(e, "scripted", false), take(e, "message.failed", false)
	row["cost_usd"] = take(e, "cost_usd", nil)
	_, row["has_usage"] = e["usage"]
	for column, path := range map[string]string{
		"tokens_in": "usage.in", "tokens_cached": "usage.cached", "tokens_out": "usage.out", "tokens_reasoning": "usage.reasoning",
	} {
		row[column] = take(e, path, json.Number("0"))
	}
	row["usage_estimated"] = take(e, "usage.estimated", false)
	inMessage, inTool := take(e, "message.tool", ""), take(e, "tool.name", "")
	row["tool_name"] = cmp.Or(inTool.(string), inMessage.(string))
	inMessage, inTool = take(e, "message.tool_call_id", ""), take(e, "tool.call_id", "")
	row["tool_call_id"] = cmp.Or(inTool.(string), inMessage.(string))
	row["tool_calls_json"] = calls(take(e, "message.tool_calls", nil))
	row["content_json"] = content(take(e, "message.parts", nil), row["role"] != "" && row["tool_calls_json"] == nil)
	row["data_json"] = take(e, "data", nil)
	row["sent_usd"], row["full_usd"] = take(e, "selection.sent_usd", nil), take(e, "selection.full_usd", nil)
	row["redacted_json"] = take(e, "message.redacted", "") // nothing here is redacted
	row["prompted_json"] = nil                             // no phase here has a model without tool calling
	row["price_as"], row["pretend_usd"] = "", nil          // no run here has --price-as
	row["pretend_sent_usd"], row["pretend_full_usd"] = nil, nil
	addPlace(row)
	take(e, "selection.delta", nil)
	take(e, "selection.spans", nil)
	return row
}

// addPlace adds the columns with the parts of the key.
func addPlace(row map[string]any) {
	key := echo.MustKey(row["key"].(string))
	path := key.Path()
	row["visit"], row["branch"] = number(uint64(path.Visit)), key.Branch().String()
	row["reforge"], row["item"], row["node"] = number(0), number(0), number(0) // sounding is a member of the event
	for _, b := range path.Branches {                                          // the innermost of each kind counts
		row[string(b.Kind)] = number(uint64(b.Number))
	}
	row["ward"], row["child"] = number(0), ""
	row["effect"], row["effect_number"], row["effect_name"] = "", number(0), ""
	done := path.Effect
	if len(done) > 0 && done[0].Kind == echo.StepWard { // what was done at a ward is the effect
		row["ward"], done = number(uint64(done[0].Number)), done[1:]
	}
	if len(done) == 0 {
		return
	}
	first := done[0]
	row["effect"], row["effect_number"], row["effect_name"] = string(first.Kind), number(uint64(first.Number)), first.Name
	if first.Kind == echo.StepChild || first.Kind == echo.StepAsync {
		row["child"] = first.Name
	}
}

// requireSelections holds the rows of context_selections against the selections of the journal, put
// together.
func requireSelections(t *testing.T, l *lab, id string) {
	t.Helper()
	rec, err := journal.Read(filepath.Join(l.home, "sessions", id, journal.File))
	require.NoError(t, err)
	reader := record.NewRequests()
	want := []map[string]any{}
	for _, e := range rec.Entries {
		req, err := reader.Read(e)
		require.NoError(t, err)
		if req == nil {
			continue
		}
		row := map[string]any{"seq": number(e.Seq), "key": strings.TrimSuffix(e.Key.String(), "/context") + "/model", "model": e.Model}
		for _, column := range []string{"message_seq", "hash", "form", "reason", "tokens", "sent_json"} {
			row[column] = []any{}
		}
		add := func(column string, v any) { row[column] = append(row[column].([]any), v) }
		for i, s := range req.Sent {
			add("message_seq", number(req.History[i].Seq))
			add("hash", string(s.Hash))
			add("form", s.Form)
			add("reason", s.Reason)
			add("tokens", number(uint64(s.Tokens)))
			text := ""
			if !s.Full {
				parts := []string{}
				for _, m := range s.As {
					parts = append(parts, string(m.JSON()))
				}
				text = "[" + strings.Join(parts, ",") + "]"
			}
			add("sent_json", text)
		}
		want = append(want, row)
	}
	require.Empty(t, gocmp.Diff(want, append([]map[string]any{}, l.ask(
		"SELECT seq, key, model, message_seq, hash, form, reason, tokens, sent_json FROM context_selections WHERE selection_type = 'intra_phase' AND session_id = '"+id+"' ORDER BY seq")...)))
}

func number(n uint64) json.Number { return json.Number(strconv.FormatUint(n, 10)) }

// take removes a value from an event, with the objects that are empty then.
func take(e map[string]any, path string, otherwise any) any {
	name, rest, deeper := strings.Cut(path, ".")
	value, ok := e[name]
	if !ok {
		return otherwise
	}
	if deeper {
		inner, ok := value.(map[string]any)
		if !ok {
			return otherwise
		}
		value = take(inner, rest, otherwise)
		if len(inner) == 0 {
			delete(e, name)
		}
		return value
	}
	delete(e, name)
	return value
}

// content is a message's content as providers are sent it: the text of a single part, the parts, or
// else null for a message that only calls tools and an empty text for others.
func content(parts any, wantsText bool) any {
	list, _ := parts.([]any)
	if len(list) == 1 {
		if text, ok := list[0].(map[string]any)["text"]; ok {
			return text
		}
	}
	switch {
	case len(list) > 0:
		return parts
	case wantsText:
		return ""
	default:
		return nil
	}
}

// calls are a message's tool calls as providers are sent them.
func calls(in any) any {
	list, _ := in.([]any)
	if len(list) == 0 {
		return nil
	}
	var out []any
	for _, c := range list {
		call := maps.Clone(c.(map[string]any))
		out = append(out, map[string]any{
			"id": call["id"], "type": "function", "function": map[string]any{"name": call["name"], "arguments": call["arguments"]},
		})
	}
	return out
}

// comparable decodes the columns of a row that hold JSON.
func comparable(t *testing.T, row map[string]any) map[string]any {
	t.Helper()
	for _, column := range []string{"content_json", "tool_calls_json", "data_json", "prompted_json", "selection_json"} {
		text := row[column].(string)
		var value any
		if text != "" {
			require.NoError(t, decode(text, &value))
		}
		row[column] = value
	}
	row["at"] = instant(t, "2006-01-02 15:04:05.999999", row["at"])
	return row
}

func instant(t *testing.T, layout string, text any) string {
	t.Helper()
	at, err := time.Parse(layout, text.(string))
	require.NoError(t, err)
	return at.UTC().Format(time.RFC3339Nano)
}

// shareGoCache gives a home what Go has built: an example runs Go, which would build its standard library anew there.
func shareGoCache(t *testing.T, home string) {
	t.Helper()
	dir := os.Getenv("GOCACHE")
	if dir == "" {
		caches, err := os.UserCacheDir()
		require.NoError(t, err)
		dir = filepath.Join(caches, "go-build")
	}
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".cache"), 0o700))
	require.NoError(t, os.Symlink(dir, filepath.Join(home, ".cache", "go-build")))
}
