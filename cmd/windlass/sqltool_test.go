package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// A model that asks about its own run sees all that was recorded before it asked, however lately.
func TestModelsSeeTheirNewestRows(t *testing.T) {
	t.Parallel()
	l := embeddedLab(t)
	const questions = 4
	server := llmtest.Start(llmtest.Config{Key: testKey, Answer: func(r llmtest.Request) *llmtest.Answer {
		asked := 0
		for i := range r.Messages {
			if r.Messages[i].Role == "tool" {
				asked++
			}
		}
		if asked == questions {
			return &llmtest.Answer{Text: "That is all.", Usage: usage}
		}
		sql, _ := json.Marshal(map[string]string{"sql": "SELECT max(seq) AS newest, count() AS entries FROM unified_logs"})
		return &llmtest.Answer{Calls: []llmtest.Call{{ID: fmt.Sprint("c", asked), Name: "sql_query", Arguments: string(sql)}}, Usage: usage}
	}})
	t.Cleanup(server.Close)
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL)
	l.file("self.json", `{"cascade_id": "self", "phases": [{"name": "one", "instructions": "How many entries?", "tackle": ["sql_query"]}]}`)
	l.run(exitOK, "run", "self.json", "--session", "s1", "--model", "plain")
	var last uint64 // the newest answer of the model, which asks
	answers := 0
	for _, e := range l.recorded("s1") {
		switch e.NodeType {
		case echo.NodeModelCall:
			last = e.Seq
		case echo.NodeToolCall:
			answers++
			var newest, entries uint64
			_, err := fmt.Sscanf(strings.TrimPrefix(e.Message.Text(), "newest\tentries\n"), "%d\t%d", &newest, &entries)
			require.NoError(t, err, e.Message.Text())
			require.GreaterOrEqual(t, newest, last)
			require.Equal(t, newest, entries)
		}
	}
	require.Equal(t, questions, answers)
}
