package main

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
	"github.com/windlass-run/windlass/internal/secret"
)

// The secrets that are planted in the tests of this file, and what finds them in any encoding.
const (
	plantedGrant  = "gr@nted/s3cret+value="
	plantedOther  = "ghp_0therS3cretOfTheShell"
	plantedHeader = "header-s3cret-value"
	plantedInput  = "inp-0thers3cret-91847"
)

var planted = secret.New(
	secret.Value{Name: "planted key", Value: testKey}, secret.Value{Name: "planted grant", Value: plantedGrant}, secret.Value{Name: "planted other", Value: plantedOther},
	secret.Value{Name: "planted header", Value: plantedHeader}, secret.Value{Name: "planted input", Value: plantedInput},
)

// echoing is an endpoint whose models give back what is secret of what they were sent, and an HTTP
// service that does the same.
func echoing(t *testing.T) (models *llmtest.Server, service *httptest.Server) {
	t.Helper()
	models = llmtest.Start(llmtest.Config{Key: testKey, Embed: embed, Answer: func(r llmtest.Request) *llmtest.Answer {
		all := strings.Join([]string{
			r.Header.Get("Authorization"), r.Header.Get("X-Extra"), url.QueryEscape(plantedGrant), base64.StdEncoding.EncodeToString([]byte("u:" + plantedOther)),
			string(r.Raw), url.PathEscape(testKey),
		}, " and ")
		a := &llmtest.Answer{Text: "I was sent " + all, Usage: usage, Model: testKey}
		switch {
		case r.Model == "refuses":
			a.Fault = llmtest.Fault{Status: http.StatusBadRequest, Message: strings.Repeat("no ", 60) + all, Code: testKey}
		case r.Model == "summer":
			a.Text = fmt.Sprintf(`{"summaries": [{"id": 1, "summary": "About %s"}, {"id": 2, "summary": "Of %s"}]}`, plantedOther, testKey)
		case len(r.Tools) > 0 && r.Messages[len(r.Messages)-1].Role != "tool":
			a.Calls = []llmtest.Call{
				{ID: "c1", Name: "read_file", Arguments: `{"path": ".env"}`},
				{ID: "c2", Name: "look", Arguments: fmt.Sprintf(`{"what": %q}`, plantedOther)},
			}
		}
		return a
	}})
	t.Cleanup(models.Close)
	service = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusTeapot)
		}
		fmt.Fprintf(w, "%s %s %s", r.URL, r.Header.Get("X-Auth"), r.URL.Query().Get("q"))
	}))
	t.Cleanup(service.Close)
	return models, service
}

// secretsLab has every kind of secret planted, and a cascade that takes each past every place where
// something is kept.
func secretsLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	models, service := echoing(t)
	l.provider = models
	l.env = append(l.env, "OPENAI_BASE_URL="+models.URL, "WINDLASS_EMBEDDING_MODEL=vectors",
		"GRANTED="+plantedGrant, "GITHUB_TOKEN="+plantedOther, "ODDLY_NAMED="+plantedHeader, "INPUT_SECRET="+plantedInput)
	l.file(".env", "GITHUB_TOKEN="+plantedOther+"\nKEY="+base64.StdEncoding.EncodeToString([]byte(testKey))+"\n")
	l.file("windlass.json", `{"models": {"*": {"max_retries": 0, "headers": {"X-Extra": "${ODDLY_NAMED}"}}}}`)
	l.file("secrets.json", strings.NewReplacer("SERVICE", service.URL, "GRANTED_URL", url.QueryEscape(plantedGrant)).Replace(`{"cascade_id": "secrets", "model": "echoes",
		"inputs_schema": {"key": "a key"},
		"auto_context": {"inter_phase": {"card_model": "summer"}},
		"tools": [
			{"tool_id": "get", "type": "http", "description": "gets", "url": "SERVICE/{{ path }}?q={{ q }}&e={{ env.GRANTED }}", "headers": {"X-Auth": "Bearer {{ env.GRANTED }}"},
				"inputs_schema": {"type": "object", "properties": {"path": {"type": "string"}, "q": {"type": "string"}}}},
			{"tool_id": "gone", "type": "http", "description": "fails", "url": "http://127.0.0.1:1/{{ q }}/x?e={{ env.GRANTED }}",
				"inputs_schema": {"type": "object", "properties": {"q": {"type": "string"}}}},
			{"tool_id": "look", "type": "shell", "description": "looks", "command": "cat .env; printf '%s' {{ what }} | od -An -tx1 | tr -d ' \\n'; printf %s \"$GRANTED\" | base64; echo \"$GRANTED\" >&2",
				"inputs_schema": {"type": "object", "properties": {"what": {"type": "string"}}}}],
		"phases": [
			{"name": "get", "tool": "get", "inputs": {"path": "found", "q": "{{ env.GRANTED }} {{ input.key }}"}},
			{"name": "store", "tool": "set_state", "inputs": {"key": "kept", "value": "{{ env.GRANTED }}"}},
			{"name": "refuse", "tool": "get", "inputs": {"path": "refuse", "q": "{{ env.GRANTED }}"}, "on_error": {"name": "refused", "tool": "look", "inputs": {"what": "{{ input.key }}"}}},
			{"name": "gone", "tool": "gone", "inputs": {"q": "{{ env.GRANTED }}"}, "on_error": {"name": "was_gone", "instructions": "{{ state.last_deterministic_error }} {{ outputs.get }} {{ state.kept }}"}},
			{"name": "ask", "instructions": "Use {{ env.GRANTED }} and {{ input.key }} of GRANTED_URL. A long text is summed up. A long text is summed up. A long text is summed up. A long text is summed up. A long text is summed up. A long text is summed up.", "tackle": ["read_file", "look"], "rules": {"max_turns": 3, "loop_until": "command: test -n {{ env.GRANTED }}"}},
			{"name": "next", "instructions": "Go on.", "model": "other", "context": {"from": [{"phase": "ask", "include": ["messages", "output", "state"]}], "include_input": false}},
			{"name": "selects", "instructions": "What of {{ env.GRANTED }}?", "model": "third", "context": {"mode": "auto", "anchors": {"window": 1}, "selection": {"strategy": "llm", "selector_model": "picks", "max_tokens": 500}}},
			{"name": "means", "instructions": "What of {{ env.GRANTED }}?", "model": "third", "context": {"mode": "auto", "anchors": {"window": 1}, "selection": {"strategy": "semantic"}}},
			{"name": "fails", "instructions": "Say {{ env.GRANTED }}.", "model": "refuses"}]}`))
	return l
}

// requireClean demands that a text shows no secret, whatever its encoding, and no long part of one.
func requireClean(t *testing.T, where, text string) {
	t.Helper()
	if planted.Has(text) {
		at := strings.Index(planted.Text(text), "[value of planted")
		t.Fatalf("%s shows a secret: ...%s", where, planted.Text(text)[max(0, at-200):at+40])
	}
	for _, v := range planted.Values() {
		require.NotContains(t, text, v.Value[:len(v.Value)-4], where)
	}
}

// A session is searched, in every place where something of it is kept or shown, for every secret in
// every encoding.
func TestNothingThatIsKeptOrShownHoldsASecret(t *testing.T) {
	t.Parallel()
	l := secretsLab(t)
	p := l.start("run", "secrets.json", "--session", "s1", "--allow-env", "GRANTED", "--root", ".", "--input", "key="+plantedInput, "--events")
	require.Equal(t, exitProvider, p.wait(), "%s\n%s", p.out.String(), p.err.String())
	requireClean(t, "the events", p.out.String())
	requireClean(t, "standard error", p.err.String())
	require.Contains(t, p.err.String(), "[value of OPENAI_API_KEY]")
	sql := func(q string) string { return l.run(exitOK, "sql", "--json", q).out.String() }
	for _, args := range [][]string{
		{"sessions", "show", "s1"},
		{"sessions", "handoff", "s1"},
		{"context", "show", "s1"},
		{"replay", "s1", "--list"},
		{"sql", "--json", "SELECT * FROM logs WHERE session_id = 's1'"},
		{"sql", "--json", "SELECT * FROM context_cards WHERE session_id = 's1'"},
	} {
		p := l.run(exitOK, args...)
		requireClean(t, strings.Join(args, " "), p.out.String()+p.err.String())
		require.NotEmpty(t, p.out.String(), args)
	}
	require.Contains(t, sql("SELECT * FROM logs WHERE session_id = 's1'"), "[value of GRANTED]")
	require.Contains(t, sql("SELECT * FROM context_cards WHERE session_id = 's1'"), "[value of ")
	files := 0
	require.NoError(t, filepath.WalkDir(l.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		requireClean(t, path, string(data))
		files++
		return err
	}))
	require.Greater(t, files, 1)
	l.run(exitOK, "verify", "s1")
}

// A secret goes to the model for which a template of the phase shows it, as its author wanted, and
// to no other: not to those that make summaries, cards, choices from menus, or that go on with
// another phase's words.
func TestOnlyTheModelOfThePhaseIsSentASecret(t *testing.T) {
	t.Parallel()
	l := secretsLab(t)
	p := l.start("run", "secrets.json", "--session", "s1", "--allow-env", "GRANTED", "--root", ".", "--input", "key="+plantedInput)
	require.Equal(t, exitProvider, p.wait(), p.err.String())
	sent := map[string]string{}
	for _, r := range l.provider.Requests() {
		sent[r.Model] += string(r.Raw)
	}
	for _, model := range []string{"echoes", "third", "refuses"} {
		require.Contains(t, sent[model], plantedGrant, model)
	}
	require.Contains(t, sent["echoes"], plantedInput)
	for _, model := range []string{"summer", "picks", "other"} {
		require.Contains(t, sent[model], "[value of ", model)
		requireClean(t, model, sent[model])
	}
	for _, r := range l.provider.Embeddings() {
		requireClean(t, "what is embedded", strings.Join(r.Input, "\n"))
	}
	require.NotEmpty(t, l.provider.Embeddings())
	require.NotContains(t, sent["echoes"], plantedOther, "a tool read it out of a file")
}

// The token of a server that made it itself, or read it from a file, is a secret as one of the
// environment is.
func TestRunsDoNotShowTheTokenOfTheServer(t *testing.T) {
	t.Parallel()
	l := newServeLab(t, "")
	l.file("token", "the-token-of-the-file-0123\n")
	for id, args := range map[string][]string{"made": nil, "file": {"--token-file", "token"}} {
		s := l.serve(append([]string{"--no-clickhouse", "--allow-commands"}, args...)...)
		s.begin(inline(`{"cascade_id": "c", "tools": [{"tool_id": "look", "type": "shell", "command": "cat `+filepath.Join(l.dir, "token")+`; find `+l.home+`/serve -type f -exec cat {} + ; true"}],
			"phases": [{"name": "one", "tool": "look"}]}`, `"session_id": "`+id+`"`))
		s.sameAsJournal(s.events("/api/sessions/"+id+"/events"), id, 1, "completed")
		record := strings.Join(journalOf(t, l.home, id), "\n")
		require.NotContains(t, record, s.Token)
		require.Contains(t, record, "[value of WINDLASS_SERVE_TOKEN]")
		s.stop(exitOK)
	}
}
