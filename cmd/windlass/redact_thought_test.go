package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// thinkingLab has a model that reads a file with a secret in three turns. What it thinks before each
// call, which its endpoint wants back, has the secret, too.
func thinkingLab(t *testing.T, details bool) (*lab, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(llmtest.Config{Key: testKey, Thinking: !details, Details: details, Answer: func(r llmtest.Request) *llmtest.Answer {
		turn := len(r.Messages)/2 + 1
		thought := fmt.Sprintf("Turn %d: the user has the key %s, so I look once more.", turn, canary)
		a := &llmtest.Answer{Reasoning: thought}
		if details {
			a.Reasoning, a.Details = "", fmt.Sprintf(`[{"type":"reasoning.text","text":%q,"signature":"c2lnbmF0dXJl","index":0}]`, thought)
		}
		if turn < 4 {
			a.Calls = []llmtest.Call{{ID: fmt.Sprint("c", turn), Name: "read_file", Arguments: fmt.Sprintf(`{"path": "secret.txt", "limit": %d}`, turn)}}
			return a
		}
		a.Text = "Done."
		return a
	}})
	t.Cleanup(server.Close)
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	member := "reasoning_content"
	if details {
		member = "reasoning_details"
	}
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL)
	l.file("windlass.json", fmt.Sprintf(`{"models": {"thinker": {"send_reasoning": %q}}}`, member))
	l.file("ask.json", `{"cascade_id": "ask", "model": "thinker", "phases": [{"name": "one", "tackle": ["read_file"], "instructions": "Read secret.txt."}]}`)
	l.file("secret.txt", "API_KEY="+canary+"\n")
	return l, server
}

// TestRedactedThoughtIsNowhere: what a model thought goes with its message, in both forms; so does what
// it thought of another message, such as the result that has the secret. The session still holds, and
// goes on at an endpoint that wants thoughts back.
func TestRedactedThoughtIsNowhere(t *testing.T) {
	t.Parallel()
	for _, details := range []bool{false, true} {
		t.Run(fmt.Sprintf("details: %t", details), func(t *testing.T) {
			t.Parallel()
			l, server := thinkingLab(t, details)
			l.run(exitOK, "run", "ask.json", "--session", "s1", "-q", "--root", ".")
			before := l.places("key " + canary)
			require.True(t, slices.ContainsFunc(before, func(p string) bool { return strings.HasSuffix(p, "journal.jsonl") }), before)
			require.Contains(t, before, "unified_logs.data_json")

			l.run(exitOK, "sessions", "redact", "s1", l.hashOf("s1", "one/attempt1/turn1/model"))
			first, second := thoughtOf(t, l, 0), thoughtOf(t, l, 1)
			require.NotContains(t, first, canary)
			require.NotContains(t, second, canary, "a long word of the message is taken out of what was thought of it later")
			if details {
				require.Empty(t, first+second, "parts may be signed")
			} else {
				require.Contains(t, first, `{"reasoning_content":"[redacted `)
				require.Contains(t, second, `the user has the key [redacted `)
			}
			var done archive.Redacted
			hash := l.hashOf("s1", "one/attempt1/turn1/tool1")
			require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "sessions", "redact", "s1", hash, "--json").out.String()), &done))
			for _, p := range done.Left {
				l.run(exitOK, "sessions", "redact", "s1", string(p.Hash))
			}
			require.Empty(t, l.places(canary))
			everyRowOnce(t, l, "s1")
			require.Contains(t, l.run(exitOK, "verify", "s1").out.String(), "holds as far as its redactions allow")

			at := slices.IndexFunc(l.recording("s1").Entries, func(e *echo.Entry) bool { return e.Key.String() == "one/attempt1/turn2/model" })
			asked := len(server.Requests())
			l.file("secret.txt", "nothing\n")
			l.run(exitOK, "resume", "s1", "--fork", fmt.Sprint(at+1), "--session", "s2", "-q")
			require.NoError(t, server.Refused())
			require.Len(t, server.Requests(), asked+2)
			for _, m := range server.Requests()[asked].Messages {
				require.NotContains(t, string(m.ReasoningContent)+string(m.ReasoningDetails), canary)
			}
		})
	}
}

func thoughtOf(t *testing.T, l *lab, call int) string {
	t.Helper()
	var all []string
	for _, e := range l.recording("s1").Entries {
		if e.NodeType == echo.NodeModelCall {
			d, err := echo.Read[echo.ModelCall](e)
			require.NoError(t, err)
			all = append(all, string(d.Thought))
		}
	}
	return all[call]
}
