package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// A model whose cache has to be asked for: its requests are marked, what is written is paid for at its
// price, and the session keeps the marks whatever windlass.json says later.
func TestMarkedCache(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(llmtest.Config{Key: testKey, CacheControl: true, Answer: func(r llmtest.Request) *llmtest.Answer {
		a := &llmtest.Answer{Text: "Done.", Usage: map[string]any{
			"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": map[string]any{"cached_tokens": 400, "cache_write_tokens": 500},
		}}
		if r.Messages[len(r.Messages)-1].Role != "tool" {
			a.Calls = []llmtest.Call{{ID: "c1", Name: "list_files", Arguments: `{"path": "."}`}}
		}
		return a
	}})
	t.Cleanup(server.Close)
	l := newLab(t, "clickhouse://127.0.0.1:1/none")
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL)
	l.file("windlass.json", `{"models": {"marked": {"cache_control": true, "price": {"input": 1, "cached_input": 0.1, "cache_write": 1.25, "output": 5}}}}`)
	l.file("work.json", `{"cascade_id": "work", "phases": [{"name": "look", "instructions": "Look.", "tackle": ["list_files"]}]}`)
	p := l.run(exitOK, "run", "work.json", "--model", "marked", "--session", "s", "--no-clickhouse", "--json", "--root", ".")
	require.NoError(t, server.Refused())
	var result struct {
		Cost float64 `json:"cost_usd"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &result), p.out.String())
	require.InDelta(t, 2*(100*1+400*0.1+500*1.25+100*5)/1e6, result.Cost, 1e-12)
	var marked [][]bool
	for _, r := range server.Requests() {
		var of []bool
		for i := range r.Messages {
			of = append(of, r.Messages[i].Marked())
		}
		marked = append(marked, of)
	}
	require.Equal(t, [][]bool{{true}, {true, false, true}}, marked)
	l.file("windlass.json", `{"models": {"marked": {"cache_control": false}}}`)
	l.run(exitOK, "verify", "s")
}
