package llm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// whole is a bundle whose endpoint refuses to stream, and whose model is asked without.
func whole(t *testing.T, settings string, answer func(llmtest.Request) *llmtest.Answer) bundle {
	t.Helper()
	server := llmtest.Start(llmtest.Config{Key: secretKey, NoStream: true, Answer: answer})
	t.Cleanup(server.Close)
	return bundle{server, newRouter(t, server.URL, `{"stream": false`+settings+`}`)}
}

// With "stream": false the request asks for no stream, and the answer is all that it is as a stream.
func TestAnswerThatIsNotStreamed(t *testing.T) {
	t.Parallel()
	b := whole(t, "", always(&llmtest.Answer{
		Text: "Let me look.", Reasoning: "hidden", Model: "m-2026-01-01",
		Calls: []llmtest.Call{{ID: "c1", Name: "look", Arguments: `{"at": "a"}`}, {ID: "c2", Name: "look", Arguments: `{}`}},
		Usage: map[string]any{
			"prompt_tokens": 120, "completion_tokens": 30,
			"prompt_tokens_details": map[string]any{"cached_tokens": 100}, "completion_tokens_details": map[string]any{"reasoning_tokens": 7},
		},
	}))
	req := request()
	req.Tools = []effect.ToolSpec{{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)}}
	var told strings.Builder
	var calls []string
	req.OnDelta = func(d effect.Delta) {
		told.WriteString(d.Text)
		if d.ToolCall != "" {
			calls = append(calls, d.ToolCall)
		}
	}
	resp, err := b.router.Complete(t.Context(), req)
	require.NoError(t, err)
	require.NoError(t, b.server.Refused())
	body := string(b.server.Requests()[0].Raw)
	require.NotContains(t, body, "stream")
	require.True(t, strings.HasPrefix(body, `{"model":"m","tools":`), body)
	require.Equal(t, "Let me look.", resp.Message.Text())
	require.Equal(t, "Let me look.", told.String())
	require.Equal(t, []string{"look", "look"}, calls)
	require.Equal(t, []echo.ToolCall{{ID: "c1", Name: "look", Arguments: `{"at": "a"}`}, {ID: "c2", Name: "look", Arguments: `{}`}}, resp.Message.ToolCalls())
	require.Equal(t, echo.Usage{In: 120, Cached: 100, Out: 30, Reasoning: 7}, resp.Usage)
	require.Equal(t, "tool_calls", resp.FinishReason)
	require.Equal(t, "m-2026-01-01", resp.Model)
}

// An endpoint that cannot stream says so, as any refusal.
func TestStreamThatIsRefused(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(llmtest.Config{Key: secretKey, NoStream: true})
	t.Cleanup(server.Close)
	_, err := newRouter(t, server.URL, "").Complete(t.Context(), request())
	me := requireModelError(t, err, echo.ModelErrBadRequest)
	require.Equal(t, "the request was refused (400): stream is not supported by this endpoint", me.Message)
	require.Equal(t, `set "stream": false for the model in windlass.json: the endpoint refuses to stream`, me.Hint)
}

func TestShapesThatAreNotStreamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer       llmtest.Answer
		text, finish string
		usage        echo.Usage
	}{
		"cut off":   {llmtest.Answer{Text: "half", Finish: "length", Usage: map[string]any{"prompt_tokens": 1, "completion_tokens": 1}}, "half", "length", echo.Usage{In: 1, Out: 1}},
		"filtered":  {llmtest.Answer{Finish: "content_filter", Usage: map[string]any{"prompt_tokens": 1}}, "", "content_filter", echo.Usage{In: 1}},
		"a refusal": {llmtest.Answer{Refusal: "No.", Usage: map[string]any{"prompt_tokens": 1}}, "No.", "content_filter", echo.Usage{In: 1}},
		"no usage":  {llmtest.Answer{Text: "hello"}, "hello", "stop", echo.Usage{In: 8, Out: 2, Estimated: true}},
		"a stream all the same": {
			llmtest.Answer{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n"},
			"hi", "stop",
			echo.Usage{In: 1},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := whole(t, `, "max_retries": 0`, always(&tt.answer))
			resp, err := b.router.Complete(t.Context(), request())
			require.NoError(t, err)
			require.Equal(t, tt.text, resp.Message.Text())
			require.Equal(t, tt.finish, resp.FinishReason)
			require.Equal(t, tt.usage, resp.Usage)
		})
	}
}

func TestFailuresThatAreNotStreamed(t *testing.T) {
	t.Parallel()
	page := http.Header{"Content-Type": {"application/json"}}
	tests := map[string]struct {
		answer llmtest.Answer
		kind   echo.ModelErrorKind
		tries  int
		text   string
	}{
		"an error in an answer":  {llmtest.Answer{Header: page, Raw: `{"error":{"message":"upstream","code":502}}`}, echo.ModelErrServer, 4, "the provider failed (502): upstream (tried 4 times)"},
		"a limit in an answer":   {llmtest.Answer{Header: page, Raw: `{"error":{"message":"slow","type":"rate_limit_error"}}`}, echo.ModelErrRateLimited, 4, "slow (tried 4 times)"},
		"a key in an answer":     {llmtest.Answer{Header: page, Raw: `{"error":{"message":"no","code":"invalid_api_key"}}`}, echo.ModelErrAuth, 1, "no"},
		"JSON that is cut off":   {llmtest.Answer{Text: "a longer text", Fault: llmtest.Fault{Truncate: true}}, echo.ModelErrBadResponse, 3, "an answer that is not JSON: {\"choices"},
		"nothing":                {llmtest.Answer{Header: page, Raw: " "}, echo.ModelErrBadResponse, 3, "an empty answer (tried 3 times)"},
		"no choices":             {llmtest.Answer{Fault: llmtest.Fault{NoChoices: true}}, echo.ModelErrBadResponse, 3, "the answer has no choices (tried 3 times)"},
		"an empty choice":        {llmtest.Answer{Fault: llmtest.Fault{Empty: true}}, echo.ModelErrBadResponse, 3, "the answer's choice is empty"},
		"a reset":                {llmtest.Answer{Fault: llmtest.Fault{ResetAt: llmtest.AtStart}}, echo.ModelErrNetwork, 4, "(tried 4 times)"},
		"more bytes than it may": {llmtest.Answer{Text: strings.Repeat("x", 65<<20)}, echo.ModelErrBadResponse, 1, "the answer is longer than windlass reads"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := whole(t, `, "max_retries": 3`, always(&tt.answer))
			llm.SleepLess(t, b.router, "m")
			_, err := b.router.Complete(t.Context(), request())
			require.Contains(t, requireModelError(t, err, tt.kind).Message, tt.text)
			require.Len(t, b.server.Requests(), tt.tries)
		})
	}
}

// Without a stream nothing is heard before the answer is whole: only the time of the call ends it.
func TestSilenceBeforeAnAnswerThatIsNotStreamed(t *testing.T) {
	t.Parallel()
	hangs := always(&llmtest.Answer{Fault: llmtest.Fault{HangAt: llmtest.AtStart}})
	for settings, text := range map[string]string{
		`, "timeout_seconds": 0.05`:                        "no whole answer within the time limit",
		`, "idle_timeout_seconds": 0.02, "max_retries": 0`: "the endpoint fell silent",
	} {
		_, err := whole(t, settings, hangs).router.Complete(t.Context(), request())
		require.Equal(t, text, requireModelError(t, err, echo.ModelErrTimeout).Message)
	}
	require.Equal(t, llm.DefaultTimeout, llm.IdleTimeout(t, whole(t, "", nil).router, "m"))
}
