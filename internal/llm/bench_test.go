package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// conversation returns n messages of about 1.5 kB: calls and their results in turn.
func conversation(n int) []*echo.Message {
	msgs := []*echo.Message{echo.NewText(echo.RoleSystem, echo.KindSystem, "sys"), echo.NewText(echo.RoleUser, echo.KindTask, "go")}
	text := strings.Repeat("a line of a \"file\" with 50 characters, more or less\n", 30)
	for i := 0; len(msgs) < n; i++ {
		call := echo.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: "read_file", Arguments: `{"path":"a.txt"}`}
		msgs = append(msgs,
			echo.Seal(echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{call}}),
			echo.NewToolResult(call, echo.Text(text), false))
	}
	return msgs
}

func benchServer(b *testing.B) *llmtest.Server {
	b.Helper()
	s := llmtest.Start(llmtest.Config{Lenient: true, Answer: func(llmtest.Request) *llmtest.Answer {
		return &llmtest.Answer{
			Text:  "I have read it and will go on with the next one.",
			Calls: []llmtest.Call{{ID: "call_x", Name: "read_file", Arguments: `{"path":"b.txt"}`}},
			Usage: map[string]any{"prompt_tokens": 1000, "completion_tokens": 20},
		}
	}})
	b.Cleanup(s.Close)
	return s
}

// BenchmarkComplete is one call of the adapter against a server without latency.
func BenchmarkComplete(b *testing.B) {
	for _, n := range []int{100, 400, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := benchServer(b)
			r := llm.NewRouter(&config.Config{}, func(k string) string { return map[string]string{"OPENAI_BASE_URL": s.URL}[k] })
			defer r.Close()
			req := &effect.ModelRequest{Model: "m", Messages: conversation(n), Tools: []effect.ToolSpec{{Name: "read_file", Parameters: json.RawMessage(`{"type":"object"}`)}}}
			b.ReportAllocs()
			for b.Loop() {
				_, err := r.Complete(b.Context(), req)
				require.NoError(b, err)
			}
		})
	}
}
