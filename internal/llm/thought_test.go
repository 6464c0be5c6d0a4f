package llm_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// converse asks twice: an answer that calls a tool, and the request with its result.
func converse(t *testing.T, cfg llmtest.Config, settings string, first llmtest.Answer) (thought string, sent string, told string) {
	t.Helper()
	cfg.Key = secretKey
	cfg.Answer = func(r llmtest.Request) *llmtest.Answer {
		if r.Number == 1 {
			return &first
		}
		return &llmtest.Answer{Text: "done", Reasoning: "not kept: nothing is called"}
	}
	server := llmtest.Start(cfg)
	t.Cleanup(server.Close)
	router := newRouter(t, server.URL, settings)
	req := request()
	req.Tools = []effect.ToolSpec{{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)}}
	req.OnDelta = func(d effect.Delta) { told += d.Text }
	resp, err := router.Complete(t.Context(), req)
	require.NoError(t, err)
	again := *req
	again.Messages = slices.Concat(req.Messages, []*echo.Message{
		resp.Message, echo.NewToolResult(resp.Message.ToolCalls()[0], echo.Text("found"), false),
	})
	last, err := router.Complete(t.Context(), &again)
	require.NoError(t, err)
	require.Empty(t, echo.Thought(last.Message))
	require.NoError(t, server.Refused())
	requests := server.Requests()
	m := requests[1].Messages[1]
	plain := echo.WithThought(resp.Message, nil)
	require.Equal(t, plain.Hash(), resp.Message.Hash(), "it is no part of what the message says")
	require.Equal(t, string(plain.ToolCallsJSON()), string(resp.Message.ToolCallsJSON()))
	if echo.Thought(resp.Message) != nil {
		require.NotEqual(t, plain.Digest(), resp.Message.Digest(), "the request's hash has it")
	}
	return string(echo.Thought(resp.Message)), string(m.ReasoningContent) + string(m.ReasoningDetails), told
}

// What a model reasoned before it called tools goes back where the endpoint wants it, and is no text.
func TestReasoningContentGoesBack(t *testing.T) {
	t.Parallel()
	calls := []llmtest.Call{{ID: "c1", Name: "look", Arguments: `{}`}}
	for name, plain := range map[string]bool{"stream": false, "whole": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			thought, sent, told := converse(t, llmtest.Config{Thinking: true}, `{"send_reasoning": "reasoning_content"}`,
				llmtest.Answer{Text: "I look.", Reasoning: "Hm, <look> \"first\".", Calls: calls, Plain: plain})
			require.Equal(t, `{"reasoning_content":"Hm, \u003clook\u003e \"first\"."}`, thought)
			require.Equal(t, `"Hm, \u003clook\u003e \"first\"."`, sent)
			require.Equal(t, "I look.done", told)
		})
	}
	thought, sent, _ := converse(t, llmtest.Config{}, "", llmtest.Answer{Reasoning: "dropped", Calls: calls})
	require.Empty(t, thought+sent, "an endpoint that is not known to want it gets nothing")
	// DeepSeek wants the member back also when the model reasoned nothing.
	thought, sent, _ = converse(t, llmtest.Config{Thinking: true}, `{"send_reasoning": "reasoning_content"}`, llmtest.Answer{
		Raw: `data: {"choices":[{"delta":{"reasoning_content":"","tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
	})
	require.Equal(t, `{"reasoning_content":""}`, thought)
	require.Equal(t, `""`, sent)
}

func TestReasoningDetailsGoBack(t *testing.T) {
	t.Parallel()
	_, sent, _ := converse(t, llmtest.Config{Details: true}, `{"send_reasoning": "reasoning_details"}`, llmtest.Answer{
		Raw: `data: {"choices":[{"delta":{"reasoning":"Hm","reasoning_details":[{"type":"reasoning.text","text":"Hm","index":0,"format":"f","signature":null}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":", so.","index":0,"format":"f"}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"sig","index":0},{"type":"reasoning.encrypted","data":"AA==","id":"r1","index":1}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
	})
	require.JSONEq(t, `[{"type":"reasoning.text","text":"Hm, so.","index":0,"format":"f","signature":"sig"},{"type":"reasoning.encrypted","data":"AA==","id":"r1","index":1}]`, sent)
	// What has no known form is dropped, and costs no answer.
	thought, sent, _ := converse(t, llmtest.Config{Details: true}, `{"send_reasoning": "reasoning_details"}`, llmtest.Answer{
		Raw: `data: {"choices":[{"delta":{"reasoning_content":{"x":1},"reasoning_details":"odd","tool_calls":[{"index":0,"id":"c1","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n",
	})
	require.Empty(t, thought+sent)
}

// A key that an endpoint sends back in its reasoning is not kept.
func TestReasoningHasNoSecrets(t *testing.T) {
	t.Parallel()
	thought, _, _ := converse(t, llmtest.Config{Thinking: true}, `{"send_reasoning": "reasoning_content"}`,
		llmtest.Answer{Reasoning: "The key is " + secretKey, Calls: []llmtest.Call{{ID: "c1", Name: "look", Arguments: `{}`}}})
	require.NotContains(t, thought, secretKey)
	require.Contains(t, thought, "The key is ")
}
