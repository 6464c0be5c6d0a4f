package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// asking makes calls of every shape: tools that run in parallel and end in another order than they
// were called in, a second attempt, a validator that asks the model, context from an earlier phase,
// and a second visit.
const asking = `{"cascade_id": "asking",
"tools": [
	{"tool_id": "late", "type": "shell", "command": "while ! test -e early.done; do sleep 0.01; done; echo late"},
	{"tool_id": "early", "type": "shell", "command": "touch early.done; echo early"}],
"validators": {"fair": {"instructions": "Is it fair?"}},
"phases": [
	{"name": "gather", "instructions": "Gather.", "tackle": ["late", "early"], "handoffs": ["report"]},
	{"name": "report", "instructions": "Report.", "context": {"from": [{"phase": "gather", "include": ["messages"]}]},
		"output_schema": {"type": "object", "required": ["again"]}, "rules": {"max_attempts": 3, "loop_until": "fair"}, "handoffs": ["gather", "end"]},
	{"name": "end", "instructions": "End."}]}`

// answerAsking returns the answers of a model that reports twice: after the first time it gathers
// again.
func answerAsking() func(llmtest.Request) *llmtest.Answer {
	var gathered atomic.Int32
	return func(r llmtest.Request) *llmtest.Answer {
		last := r.Messages[len(r.Messages)-1]
		a := &llmtest.Answer{Text: "What there is.", Usage: usage}
		switch text := last.Text(); {
		case strings.HasPrefix(r.Messages[0].Text(), "You judge"):
			a.Text = `{"valid": true, "reason": ""}`
		case strings.HasPrefix(text, "Gather."):
			gathered.Add(1)
			a.Text, a.Calls = "", []llmtest.Call{{ID: "c1", Name: "late", Arguments: "{}"}, {ID: "c2", Name: "early", Arguments: "{ }"}}
		case strings.HasPrefix(text, "Your answer was not accepted"):
			target := []string{"gather", "end"}[gathered.Load()-1]
			a.Text, a.Calls = "On.", []llmtest.Call{{ID: "c3", Name: "route_to", Arguments: `{"target": "` + target + `"}`}}
		case strings.HasSuffix(text, " will run next."): // the result of route_to
			a.Text = `{"again": true}`
		}
		return a
	}
}

// TestSentMessages holds the view sent_messages against the requests that the provider got, message
// by message.
func TestSentMessages(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	provider := llmtest.Start(llmtest.Config{Key: testKey, Answer: answerAsking()})
	t.Cleanup(provider.Close)
	l.env = append(l.env, "OPENAI_BASE_URL="+provider.URL)
	l.file("asking.json", asking)
	l.run(exitOK, "run", "asking.json", "--model", "plain", "--session", "asked")
	require.NoError(t, provider.Refused())

	var keys []string
	for _, row := range l.ask("SELECT key FROM model_calls WHERE session_id = 'asked' AND effect != 'validate' ORDER BY seq") {
		keys = append(keys, row["key"].(string))
	}
	require.Equal(t, []string{
		"gather/attempt1/turn1/model", "gather/attempt1/turn2/model",
		"report/attempt1/turn1/model", "report/attempt2/turn1/model", "report/attempt2/turn2/model",
		"gather~2/attempt1/turn1/model", "gather~2/attempt1/turn2/model",
		"report~2/attempt1/turn1/model", "report~2/attempt2/turn1/model", "report~2/attempt2/turn2/model",
		"end/attempt1/turn1/model",
	}, keys)
	var requests [][]map[string]any
	for _, r := range provider.Requests() {
		if !strings.HasPrefix(r.Messages[0].Text(), "You judge") {
			var body struct {
				Messages []map[string]any `json:"messages"`
			}
			require.NoError(t, json.Unmarshal(r.Raw, &body))
			requests = append(requests, body.Messages)
		}
	}
	require.Len(t, requests, len(keys))
	for i, key := range keys {
		require.Empty(t, cmp.Diff(requests[i], l.sent("asked", key)), key)
	}
	require.Empty(t, l.ask("SELECT key FROM sent_messages WHERE session_id = 'asked' AND key IN (SELECT key FROM model_calls WHERE effect = 'validate')"))
}

// sent returns the messages of a model call as the view lists them, in the form of the protocol.
func (l *lab) sent(session, key string) []map[string]any {
	l.t.Helper()
	var out []map[string]any
	for i, row := range l.ask("SELECT * FROM sent_messages WHERE session_id = '" + session + "' AND key = '" + key + "' ORDER BY position") {
		require.Equal(l.t, json.Number(strconv.Itoa(i+1)), row["position"])
		require.Equal(l.t, "full", row["form"])
		m := map[string]any{"role": row["role"]}
		for member, column := range map[string]string{"content": "content_json", "tool_calls": "tool_calls_json"} {
			if text := row[column].(string); text != "" {
				var v any
				require.NoError(l.t, json.Unmarshal([]byte(text), &v))
				m[member] = v
			}
		}
		if row["role"] == "tool" {
			m["tool_call_id"] = row["tool_call_id"]
		}
		out = append(out, m)
	}
	return out
}

// ask asks windlass for rows.
func (l *lab) ask(query string) []map[string]any {
	l.t.Helper()
	var rows []map[string]any
	require.NoError(l.t, decode(l.run(exitOK, "sql", "--json", query).out.String(), &rows))
	return rows
}
