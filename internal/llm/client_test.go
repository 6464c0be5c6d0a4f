package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

const secretKey = "sk-test-0123456789abcdef"

// bundle is a server and a router that asks it.
type bundle struct {
	server *llmtest.Server
	router *llm.Router
}

func setup(t *testing.T, settings string, answer func(llmtest.Request) *llmtest.Answer) bundle {
	t.Helper()
	server := llmtest.Start(llmtest.Config{Key: secretKey, Answer: answer})
	t.Cleanup(server.Close)
	return bundle{server, newRouter(t, server.URL, settings)}
}

// newRouter returns a router whose model "m" has the settings, as in windlass.json.
func newRouter(t *testing.T, url, settings string) *llm.Router {
	t.Helper()
	if settings == "" {
		settings = `{}`
	}
	cfg, err := config.Parse("windlass.json", []byte(`{"models": {"m": `+settings+`}}`))
	require.NoError(t, err)
	env := map[string]string{"OPENAI_API_KEY": secretKey, "OPENAI_BASE_URL": url, "EXTRA_SECRET": "header-secret-value"}
	r := llm.NewRouter(cfg, func(k string) string { return env[k] })
	t.Cleanup(r.Close)
	return r
}

func request(msgs ...*echo.Message) *effect.ModelRequest {
	if len(msgs) == 0 {
		msgs = []*echo.Message{echo.NewText(echo.RoleUser, echo.KindTask, "hello")}
	}
	return &effect.ModelRequest{Model: "m", Messages: msgs}
}

// always answers the same.
func always(a *llmtest.Answer) func(llmtest.Request) *llmtest.Answer {
	return func(llmtest.Request) *llmtest.Answer { return a }
}

// first gives the first answer once and the second afterwards.
func first(a, b *llmtest.Answer) func(llmtest.Request) *llmtest.Answer {
	return func(r llmtest.Request) *llmtest.Answer {
		if r.Number == 1 {
			return a
		}
		return b
	}
}

// soon makes a fault that is to be retried at once.
func soon(f llmtest.Fault) *llmtest.Answer {
	return &llmtest.Answer{Fault: f, Header: http.Header{"Retry-After-Ms": {"1"}}}
}

func TestStreamedAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, "", always(&llmtest.Answer{
		Text: "Let me look at both.", Reasoning: "hidden", Model: "m-2026-01-01",
		Calls: []llmtest.Call{
			{ID: "c1", Name: "read_file", Arguments: `{"path": "a long enough path/to be cut.txt"}`},
			{ID: "c2", Name: "list_files", Arguments: `{}`},
		},
		Usage: map[string]any{
			"prompt_tokens": 120, "completion_tokens": 30,
			"prompt_tokens_details": map[string]any{"cached_tokens": 100}, "completion_tokens_details": map[string]any{"reasoning_tokens": 7},
		},
	}))
	req := request()
	req.Tools = []effect.ToolSpec{
		{Name: "read_file", Description: "Reads", Parameters: json.RawMessage(`{"type":"object"}`)},
		{Name: "list_files", Parameters: json.RawMessage(`{"type":"object"}`)},
	}
	var text strings.Builder
	var calls []string
	req.OnDelta = func(d effect.Delta) {
		text.WriteString(d.Text)
		if d.ToolCall != "" {
			calls = append(calls, d.ToolCall)
		}
	}
	resp, err := b.router.Complete(t.Context(), req)
	require.NoError(t, err)
	require.NoError(t, b.server.Refused())
	require.Equal(t, "Let me look at both.", resp.Message.Text())
	require.Equal(t, "Let me look at both.", text.String())
	require.Equal(t, []string{"read_file", "list_files"}, calls)
	require.Empty(t, cmp.Diff([]echo.ToolCall{
		{ID: "c1", Name: "read_file", Arguments: `{"path": "a long enough path/to be cut.txt"}`},
		{ID: "c2", Name: "list_files", Arguments: `{}`},
	}, resp.Message.ToolCalls()))
	require.Equal(t, echo.Usage{In: 120, Cached: 100, Out: 30, Reasoning: 7}, resp.Usage)
	require.Equal(t, "tool_calls", resp.FinishReason)
	require.Equal(t, "m-2026-01-01", resp.Model)
	require.Contains(t, resp.Provider, "127.0.0.1:")
	require.Nil(t, resp.CostUSD, "the price of m is unknown")
	require.Equal(t, echo.KindAnswer, resp.Message.Kind())
}

// What providers send in their own way.
func TestAnswerShapes(t *testing.T) {
	t.Parallel()
	event := func(parts ...string) string {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString("data: " + p + "\n\n")
		}
		return b.String()
	}
	tests := map[string]struct {
		answer llmtest.Answer
		text   string
		calls  []echo.ToolCall
		finish string
		usage  echo.Usage
	}{
		"plain JSON instead of a stream": {
			answer: llmtest.Answer{Plain: true, Text: "hi", Usage: map[string]any{"prompt_tokens": 3, "completion_tokens": 1}},
			text:   "hi", finish: "stop", usage: echo.Usage{In: 3, Out: 1},
		},
		"a stream without [DONE] that has finished": {
			answer: llmtest.Answer{Text: "hi", Fault: llmtest.Fault{NoDone: true}, Usage: map[string]any{"prompt_tokens": 3, "completion_tokens": 1}},
			text:   "hi", finish: "stop", usage: echo.Usage{In: 3, Out: 1},
		},
		"a last event without an empty line": {
			answer: llmtest.Answer{Raw: `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`},
			text:   "hi", finish: "stop", usage: echo.Usage{In: 3, Out: 1},
		},
		"comments, CRLF and usage with the last choice": {
			answer: llmtest.Answer{Raw: ": keep alive\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\",\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"cached_tokens\":2}}]}\r\n\r\ndata: [DONE]\r\n\r\n"},
			text:   "hi", finish: "stop", usage: echo.Usage{In: 3, Cached: 2, Out: 1},
		},
		"x_groq": {
			answer: llmtest.Answer{Raw: event(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":1}}}`, "[DONE]")},
			text:   "hi", finish: "stop", usage: echo.Usage{In: 3, Out: 1},
		},
		"cache hits as DeepSeek counts them": {
			answer: llmtest.Answer{Text: "hi", Usage: map[string]any{"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 1}},
			text:   "hi", finish: "stop", usage: echo.Usage{In: 9, Cached: 8, Out: 1},
		},
		"content as parts": {
			answer: llmtest.Answer{Raw: event(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"no"}]},{"type":"text","text":"yes"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, "[DONE]")},
			text:   "yes", finish: "stop", usage: echo.Usage{In: 1, Out: 1},
		},
		"a refusal": {
			answer: llmtest.Answer{Refusal: "I cannot help with that.", Usage: map[string]any{"prompt_tokens": 1, "completion_tokens": 1}},
			text:   "I cannot help with that.", finish: "content_filter", usage: echo.Usage{In: 1, Out: 1},
		},
		"cut off": {
			answer: llmtest.Answer{Text: "half", Finish: "length", Usage: map[string]any{"prompt_tokens": 1, "completion_tokens": 1}},
			text:   "half", finish: "length", usage: echo.Usage{In: 1, Out: 1},
		},
		"late ids, repeated names, calls in turns": {
			answer: llmtest.Answer{Raw: event(
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{\"x\""}},{"index":1,"function":{"name":"b","arguments":"{"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"two","function":{"name":"b","arguments":"}"}},{"index":0,"id":"one","function":{"name":"a","arguments":":1}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
				"[DONE]")},
			calls:  []echo.ToolCall{{ID: "one", Name: "a", Arguments: `{"x":1}`}, {ID: "two", Name: "b", Arguments: `{}`}},
			finish: "tool_calls", usage: echo.Usage{In: 1, Out: 1},
		},
		"whole calls that all have index 0": {
			answer: llmtest.Answer{Raw: event(
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"one","function":{"name":"a","arguments":"{}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"two","function":{"name":"b","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, "[DONE]")},
			calls:  []echo.ToolCall{{ID: "one", Name: "a", Arguments: `{}`}, {ID: "two", Name: "b", Arguments: `{}`}},
			finish: "tool_calls", usage: echo.Usage{In: 1, Out: 1},
		},
		"no index, arguments as an object": {
			answer: llmtest.Answer{Plain: true, Raw: `{"choices":[{"index":0,"message":{"content":null,"tool_calls":[{"id":"one","function":{"name":"a","arguments":{"x":1}}},{"id":"two","function":{"name":"b","arguments":null}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, Header: http.Header{"Content-Type": {"application/json"}}},
			calls:  []echo.ToolCall{{ID: "one", Name: "a", Arguments: `{"x":1}`}, {ID: "two", Name: "b", Arguments: `{}`}},
			finish: "tool_calls", usage: echo.Usage{In: 1, Out: 1},
		},
		"a stream under the wrong content type": {
			answer: llmtest.Answer{Raw: event(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, "[DONE]"), Header: http.Header{"Content-Type": {"application/json"}}},
			text:   "hi", finish: "stop", usage: echo.Usage{In: 1, Out: 1},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, `{"max_retries": 0}`, always(&tt.answer))
			resp, err := b.router.Complete(t.Context(), request())
			require.NoError(t, err)
			require.NoError(t, b.server.Refused())
			require.Equal(t, tt.text, resp.Message.Text())
			require.Empty(t, cmp.Diff(tt.calls, resp.Message.ToolCalls()))
			require.Equal(t, tt.finish, resp.FinishReason)
			require.Equal(t, tt.usage, resp.Usage)
		})
	}
}

func TestCallIDsAreFilledDeterministically(t *testing.T) {
	t.Parallel()
	b := setup(t, "", always(&llmtest.Answer{Calls: []llmtest.Call{{Name: "a", Arguments: "{}"}, {ID: "taken", Name: "a", Arguments: "{}"}}}))
	history := []*echo.Message{
		echo.NewText(echo.RoleUser, echo.KindTask, "go"),
		echo.Seal(echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{{ID: "taken", Name: "a", Arguments: "{}"}}}),
		echo.NewToolResult(echo.ToolCall{ID: "taken", Name: "a"}, echo.Text("r"), false),
	}
	var ids []string
	for range 2 {
		req := request(history...)
		req.Tools = []effect.ToolSpec{{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)}}
		resp, err := b.router.Complete(t.Context(), req)
		require.NoError(t, err)
		for _, c := range resp.Message.ToolCalls() {
			ids = append(ids, c.ID)
		}
	}
	require.Len(t, ids, 4)
	require.Equal(t, ids[:2], ids[2:])
	require.NotContains(t, ids, "taken")
	require.NotContains(t, ids, "")
	require.NotEqual(t, ids[0], ids[1])
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault llmtest.Fault
		raw   string
		kind  echo.ModelErrorKind
		tries int
		text  string
	}{
		"wrong key":          {fault: llmtest.Fault{Status: 401, Code: "invalid_api_key", Message: "no"}, kind: echo.ModelErrAuth, tries: 1, text: "the key was refused (401): no"},
		"forbidden":          {fault: llmtest.Fault{Status: 403, Message: "region"}, kind: echo.ModelErrAuth, tries: 1, text: "the key was refused (403): region"},
		"unknown model":      {fault: llmtest.Fault{Status: 404, Code: "model_not_found", Message: "gone"}, kind: echo.ModelErrUnknownModel, tries: 1, text: "the model is not known there (404): gone"},
		"model not found":    {fault: llmtest.Fault{Status: 400, Code: "model_not_found", Message: "gone"}, kind: echo.ModelErrUnknownModel, tries: 1, text: "the model is not known there (400): gone"},
		"an error of a path": {fault: llmtest.Fault{Status: 404, Message: "Invalid URL"}, kind: echo.ModelErrUnknownEndpoint, tries: 1, text: "/v1/chat/completions is not there (404): Invalid URL"},
		"no deployment":      {fault: llmtest.Fault{Status: 404, Code: "DeploymentNotFound", Message: "gone"}, kind: echo.ModelErrUnknownModel, tries: 1, text: "the model is not known there (404): gone"},
		"no model id":        {fault: llmtest.Fault{Status: 400, Message: "a/b is not a valid model ID"}, kind: echo.ModelErrUnknownModel, tries: 1, text: "the model is not known there (400): a/b is"},
		"no tool use":        {fault: llmtest.Fault{Status: 404, Message: "No endpoints found that support tool use."}, kind: echo.ModelErrBadRequest, tries: 1, text: "the request was refused (404): No endpoints"},
		"a policy":           {fault: llmtest.Fault{Status: 404, Message: "No endpoints found matching your data policy."}, kind: echo.ModelErrBadRequest, tries: 1, text: "the request was refused (404): No endpoints"},
		"a path with models": {fault: llmtest.Fault{Status: 404, Message: "Invalid URL (POST /models/chat/completions)"}, kind: echo.ModelErrUnknownEndpoint, tries: 1, text: "/chat/completions is not there (404): Invalid URL"},
		"no endpoints":       {fault: llmtest.Fault{Status: 404, Message: "No endpoints found for a/b."}, kind: echo.ModelErrUnknownModel, tries: 1, text: "the model is not known there (404): No endpoints"},
		"too long":           {fault: llmtest.Fault{Status: 400, Code: "context_length_exceeded", Message: "long"}, kind: echo.ModelErrContextLength, tries: 1, text: "the request is too long for the model (400): long"},
		"bad request":        {fault: llmtest.Fault{Status: 422, Message: "temperature"}, kind: echo.ModelErrBadRequest, tries: 1, text: "the request was refused (422): temperature"},
		"rate limit":         {fault: llmtest.Fault{Status: 429, Code: "rate_limit_exceeded", Message: "slow"}, kind: echo.ModelErrRateLimited, tries: 4, text: "rate limited (429): slow (tried 4 times)"},
		"quota":              {fault: llmtest.Fault{Status: 429, Code: "insufficient_quota", Message: "pay"}, kind: echo.ModelErrQuota, tries: 1, text: "no quota left (429): pay"},
		"payment":            {fault: llmtest.Fault{Status: 402, Message: "pay"}, kind: echo.ModelErrQuota, tries: 1, text: "no quota left (402): pay"},
		"server":             {fault: llmtest.Fault{Status: 500, Message: "oops"}, kind: echo.ModelErrServer, tries: 4, text: "the provider failed (500): oops (tried 4 times)"},
		"overloaded too":     {fault: llmtest.Fault{Status: 529, Message: "busy"}, kind: echo.ModelErrServer, tries: 4, text: "the provider failed (529): busy (tried 4 times)"},
		"overloaded":         {fault: llmtest.Fault{Status: 503, Message: "busy"}, kind: echo.ModelErrServer, tries: 4, text: "the provider failed (503): busy (tried 4 times)"},
		"conflict":           {fault: llmtest.Fault{Status: 409, Message: "busy"}, kind: echo.ModelErrServer, tries: 4, text: "the provider failed (409): busy (tried 4 times)"},
		"HTML":               {fault: llmtest.Fault{HTML: true}, kind: echo.ModelErrBadResponse, tries: 3, text: "an answer that is not JSON: <html>"},
		"no choices":         {fault: llmtest.Fault{NoChoices: true}, kind: echo.ModelErrBadResponse, tries: 3, text: "the answer has no choices"},
		"empty choice":       {fault: llmtest.Fault{Empty: true}, kind: echo.ModelErrBadResponse, tries: 3, text: "the answer's choice is empty: it holds no text, no calls and no reason for its end (tried 3 times)"},
		"reset":              {fault: llmtest.Fault{ResetAt: llmtest.AtStart}, kind: echo.ModelErrNetwork, tries: 4, text: "(tried 4 times)"},
		"dropped halfway":    {fault: llmtest.Fault{ResetAt: llmtest.AtMiddle}, kind: echo.ModelErrNetwork, tries: 4, text: "the stream broke off before the answer was whole: the connection was closed (tried 4 times)"},
		"ended halfway":      {raw: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n", kind: echo.ModelErrNetwork, tries: 4, text: "the stream ended before the answer was whole (tried 4 times)"},
		"broken JSON":        {raw: "data: {\"choices\":[{\"delta\":{\"content\":\n\n", kind: echo.ModelErrBadResponse, tries: 3, text: "the stream holds an answer that is not JSON"},
		"error inside":       {raw: "data: {\"error\":{\"message\":\"upstream\",\"code\":502}}\n\n", kind: echo.ModelErrServer, tries: 4, text: "the provider failed (502): upstream (tried 4 times)"},
		"limit inside":       {raw: "data: {\"error\":{\"message\":\"slow\",\"type\":\"rate_limit_error\"}}\n\n", kind: echo.ModelErrRateLimited, tries: 4, text: "slow (tried 4 times)"},
		"key inside":         {raw: "data: {\"error\":{\"message\":\"no\",\"code\":401}}\n\n", kind: echo.ModelErrAuth, tries: 1, text: "the key was refused (401): no"},
		"key by its code":    {raw: "data: {\"error\":{\"message\":\"no\",\"type\":\"invalid_request_error\",\"code\":\"invalid_api_key\"}}\n\n", kind: echo.ModelErrAuth, tries: 1, text: "no"},
		"key by its type":    {raw: "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"error\":{\"message\":\"no\",\"type\":\"authentication_error\"}}\n\n", kind: echo.ModelErrAuth, tries: 1, text: "no"},
		"key by a status":    {raw: "data: {\"error\":{\"message\":\"no\",\"status\":401}}\n\n", kind: echo.ModelErrAuth, tries: 1, text: "the key was refused (401): no"},
		"key in words":       {raw: "data: {\"error\":\"Unauthorized\"}\n\n", kind: echo.ModelErrAuth, tries: 1, text: "Unauthorized"},
		"status beside":      {raw: "data: {\"error\":\"no\",\"status_code\":401}\n\n", kind: echo.ModelErrAuth, tries: 1, text: "the key was refused (401): no"},
		"redirect nowhere":   {fault: llmtest.Fault{Status: 302, Message: "moved"}, kind: echo.ModelErrBadRequest, tries: 1, text: "302"},
		"redirect":           {fault: llmtest.Fault{Redirect: "http://127.0.0.2:1/v1/chat/completions"}, kind: echo.ModelErrConfig, tries: 1, text: "the endpoint redirects elsewhere"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := soon(tt.fault)
			answer.Raw = tt.raw
			b := setup(t, `{"max_retries": 3}`, always(answer))
			llm.SleepLess(t, b.router, "m")
			_, err := b.router.Complete(t.Context(), request())
			var me *effect.ModelError
			require.ErrorAs(t, err, &me)
			require.Equal(t, tt.kind, me.Kind)
			require.Contains(t, me.Message, tt.text)
			require.Len(t, b.server.Requests(), tt.tries)
			require.Equal(t, tt.tries-1, me.Retries)
			require.Equal(t, slices.Repeat([]echo.ModelErrorKind{tt.kind}, tt.tries-1), append([]echo.ModelErrorKind{}, me.RetryKinds...))
			require.NotEmpty(t, me.Provider)
			broke := map[echo.ModelErrorKind]bool{
				echo.ModelErrNetwork: true, echo.ModelErrTimeout: true, echo.ModelErrServer: true, echo.ModelErrBadResponse: true,
			}[tt.kind]
			refused := tt.fault.Status == 503 || tt.fault.Status == 529
			require.Equal(t, !broke || refused, me.Unpaid, "only what was refused cost nothing")
			if tt.fault.Status != 0 {
				require.Equal(t, tt.fault.Status, me.Status)
			}
		})
	}
}

// A base URL that leads nowhere is told from a model that the endpoint does not know. The error shows
// what was asked, without the query.
func TestWrongBaseURL(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(llmtest.Config{Key: secretKey, Answer: always(&llmtest.Answer{Text: "never"})})
	t.Cleanup(server.Close)
	for _, base := range []string{server.URL + "/chat/completions", server.URL + "/v1?api-version=2026-01-01"} {
		_, err := newRouter(t, base, "").Complete(t.Context(), request())
		var me *effect.ModelError
		require.ErrorAs(t, err, &me)
		require.Equal(t, echo.ModelErrUnknownEndpoint, me.Kind)
		path, _, _ := strings.Cut(base, "?")
		require.Contains(t, me.Message, path+"/chat/completions is not there (404): ")
		require.NotContains(t, me.Message, "api-version")
		require.Equal(t, "check base_url in windlass.json, or OPENAI_BASE_URL: it is what comes before /chat/completions, such as https://host/v1", me.Hint)
		require.True(t, me.Unpaid)
	}
	e := setupEmbedder(t, "", func(llmtest.EmbedRequest) *llmtest.Answer {
		return &llmtest.Answer{Fault: llmtest.Fault{Status: 404, Message: "Not Found"}}
	})
	_, err := e.Embed(t.Context(), []string{"one"})
	require.Contains(t, requireModelError(t, err, echo.ModelErrUnknownEndpoint).Message, "/v1/embeddings is not there (404): Not Found")
}

func TestTruncatedJSON(t *testing.T) {
	t.Parallel()
	b := setup(t, `{"max_retries": 0}`, always(&llmtest.Answer{Plain: true, Text: "a longer text", Fault: llmtest.Fault{Truncate: true}}))
	_, err := b.router.Complete(t.Context(), request())
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	require.Equal(t, echo.ModelErrBadResponse, me.Kind)
	require.Contains(t, me.Message, "an answer that is not JSON")
}

func TestRetryIsToldAndVoidsWhatWasStreamed(t *testing.T) {
	t.Parallel()
	b := setup(t, "", first(soon(llmtest.Fault{ResetAt: llmtest.AtMiddle}), &llmtest.Answer{Text: "whole"}))
	llm.SleepLess(t, b.router, "m")
	req := request()
	var told []string
	req.OnDelta = func(d effect.Delta) {
		if d.Retrying != "" {
			told = append(told, "retry")
			require.Positive(t, d.RetryWait)
		} else {
			told = append(told, d.Text)
		}
	}
	resp, err := b.router.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "whole", resp.Message.Text())
	require.Equal(t, 1, resp.Retries)
	require.Equal(t, []echo.ModelErrorKind{echo.ModelErrNetwork}, resp.RetryKinds)
	require.Equal(t, []string{"half an", "retry", "whole"}, told)
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		header   http.Header
		min, max time.Duration
		fails    bool
	}{
		"seconds":      {header: http.Header{"Retry-After": {"7"}}, min: 7 * time.Second, max: 7 * time.Second},
		"milliseconds": {header: http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, min: 250 * time.Millisecond, max: 250 * time.Millisecond},
		"a date":       {header: http.Header{"Retry-After": {"in 40 s"}}, min: 30 * time.Second, max: 40 * time.Second},
		"nothing":      {min: 375 * time.Millisecond, max: 500 * time.Millisecond},
		"nonsense":     {header: http.Header{"Retry-After": {"soon"}}, min: 375 * time.Millisecond, max: 500 * time.Millisecond},
		"too long":     {header: http.Header{"Retry-After": {"3600"}}, fails: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.header.Get("Retry-After") == "in 40 s" { // from when this test really begins, as others run beside it
				tt.header.Set("Retry-After", time.Now().Add(40*time.Second).UTC().Format(http.TimeFormat))
			}
			b := setup(t, "", first(&llmtest.Answer{Fault: llmtest.Fault{Status: 429, Message: "slow"}, Header: tt.header}, &llmtest.Answer{Text: "ok"}))
			waits := llm.SleepLess(t, b.router, "m")
			_, err := b.router.Complete(t.Context(), request())
			if tt.fails {
				require.ErrorContains(t, err, "rate limited (429): slow (the provider asks to wait 1h0m0s)")
				return
			}
			require.NoError(t, err)
			require.Len(t, *waits, 1)
			require.GreaterOrEqual(t, (*waits)[0], tt.min)
			require.LessOrEqual(t, (*waits)[0], tt.max)
		})
	}
}

func TestSilenceIsATimeout(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]llmtest.Point{"before the first byte": llmtest.AtStart, "in the middle": llmtest.AtMiddle} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, `{"max_retries": 0, "idle_timeout_seconds": 0.05}`, always(&llmtest.Answer{Fault: llmtest.Fault{HangAt: at}}))
			_, err := b.router.Complete(t.Context(), request())
			var me *effect.ModelError
			require.ErrorAs(t, err, &me)
			require.Equal(t, echo.ModelErrTimeout, me.Kind)
			require.Equal(t, "the endpoint fell silent", me.Message)
		})
	}
}

func TestOverallTimeout(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]llmtest.Fault{"silence": {HangAt: llmtest.AtStart}, "no end": {Drip: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, `{"timeout_seconds": 0.05}`, always(&llmtest.Answer{Fault: fault}))
			_, err := b.router.Complete(t.Context(), request())
			var me *effect.ModelError
			require.ErrorAs(t, err, &me)
			require.Equal(t, echo.ModelErrTimeout, me.Kind)
			require.Equal(t, "no whole answer within the time limit", me.Message)
			require.Zero(t, me.Retries, "there is no time left to try again")
		})
	}
}

// An empty plain answer is no answer either; one that says why it ended is one, as models end with
// nothing to add.
func TestEmptyAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, `{"max_retries": 0}`, always(&llmtest.Answer{Plain: true, Fault: llmtest.Fault{Empty: true}}))
	_, err := b.router.Complete(t.Context(), request())
	require.ErrorContains(t, err, "the answer's choice is empty")
	b = setup(t, `{"max_retries": 0}`, always(&llmtest.Answer{}))
	resp, err := b.router.Complete(t.Context(), request())
	require.NoError(t, err)
	require.Empty(t, resp.Message.Text())
	require.Equal(t, "stop", resp.FinishReason)
}

// An answer that is nothing but reasoning is known as such where the provider counts none: servers
// on one's own machine do not.
func TestReasoningOnly(t *testing.T) {
	t.Parallel()
	usage := map[string]any{"prompt_tokens": 100, "completion_tokens": 40}
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		want   int64
	}{
		"streamed":        {llmtest.Answer{Reasoning: "Let me think.", Usage: usage}, 40},
		"plain":           {llmtest.Answer{Reasoning: "Let me think.", Usage: usage, Plain: true}, 40},
		"by another name": {llmtest.Answer{Raw: `data: {"choices":[{"delta":{"content":"","reasoning":"So."},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":40}}` + "\n\ndata: [DONE]\n\n"}, 40},
		"with text":       {llmtest.Answer{Reasoning: "Let me think.", Text: "Done.", Usage: usage}, 0},
		"with a call":     {llmtest.Answer{Reasoning: "So.", Calls: []llmtest.Call{{ID: "c1", Name: "f", Arguments: "{}"}}, Usage: usage}, 0},
		"nothing":         {llmtest.Answer{Usage: usage}, 0},
		"counted": {llmtest.Answer{Reasoning: "So.", Usage: map[string]any{
			"prompt_tokens": 100, "completion_tokens": 40, "completion_tokens_details": map[string]any{"reasoning_tokens": 38},
		}}, 38},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, "", always(&tt.answer))
			req := request()
			req.Tools = []effect.ToolSpec{{Name: "f", Parameters: json.RawMessage(`{"type":"object"}`)}}
			resp, err := b.router.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, tt.want, resp.Usage.Reasoning)
			require.Equal(t, int64(40), resp.Usage.Out)
		})
	}
}

// The waits double from retry_wait_seconds, each less a jitter of at most a quarter, and never
// exceed the ceiling.
func TestWaits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		settings string
		want     []time.Duration
	}{
		"default": {`{"max_retries": 8}`, []time.Duration{500e6, 1e9, 2e9, 4e9, 8e9, 16e9, 20e9, 20e9}},
		"short":   {`{"max_retries": 3, "retry_wait_seconds": 0.002}`, []time.Duration{2e6, 4e6, 8e6}},
		"long":    {`{"max_retries": 2, "retry_wait_seconds": 30}`, []time.Duration{30e9, 30e9}},
		"tiny":    {`{"max_retries": 2, "retry_wait_seconds": 0.000000001}`, []time.Duration{1, 2}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tt.settings, always(&llmtest.Answer{Fault: llmtest.Fault{Status: 503}}))
			waits := llm.SleepLess(t, b.router, "m")
			_, err := b.router.Complete(t.Context(), request())
			require.Error(t, err)
			require.Len(t, *waits, len(tt.want))
			for i, want := range tt.want {
				require.LessOrEqual(t, (*waits)[i], want)
				require.GreaterOrEqual(t, (*waits)[i], want-want/4)
			}
		})
	}
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 1)
	b := setup(t, "", func(llmtest.Request) *llmtest.Answer {
		started <- struct{}{}
		return &llmtest.Answer{Fault: llmtest.Fault{HangAt: llmtest.AtStart}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err := b.router.Complete(ctx, request())
	require.ErrorIs(t, err, context.Canceled)
}

func TestCancellationWhileWaiting(t *testing.T) {
	t.Parallel()
	b := setup(t, "", always(&llmtest.Answer{Fault: llmtest.Fault{Status: 503}, Header: http.Header{"Retry-After": {"60"}}}))
	ctx, cancel := context.WithCancel(t.Context())
	req := request()
	req.OnDelta = func(d effect.Delta) {
		if d.Retrying != "" {
			cancel()
		}
	}
	_, err := b.router.Complete(ctx, req)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, b.server.Requests(), 1)
}

// A server that sends back what it was sent must not make the key visible, and neither must
// anything else.
func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	echoing := func(write func(http.ResponseWriter, string)) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			write(w, r.Header.Get("Authorization")+" "+r.Header.Get("X-Api-Key")+" https://user:pw@host/?key=abcdefgh&a=1")
		}))
	}
	servers := map[string]*httptest.Server{
		"error": echoing(func(w http.ResponseWriter, s string) {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": "bad key: " + s}})
		}),
		"text":    echoing(func(w http.ResponseWriter, s string) { http.Error(w, s, http.StatusBadRequest) }),
		"garbage": echoing(func(w http.ResponseWriter, s string) { fmt.Fprint(w, s) }),
		"stream": echoing(func(w http.ResponseWriter, s string) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", s)
		}),
	}
	for name, server := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(server.Close)
			r := newRouter(t, server.URL+"/v1", `{"max_retries": 1, "headers": {"X-Api-Key": "${EXTRA_SECRET}"}}`)
			llm.SleepLess(t, r, "m")
			req := request()
			var told strings.Builder
			req.OnDelta = func(d effect.Delta) { told.WriteString(d.Retrying + d.Text) }
			_, err := r.Complete(t.Context(), req)
			require.Error(t, err)
			for e := err; e != nil; e = errors.Unwrap(e) {
				for _, secret := range []string{secretKey, "header-secret-value", "user:pw", "abcdefgh"} {
					require.NotContains(t, fmt.Sprintf("%v %+v", e, e)+told.String(), secret)
				}
			}
			require.Contains(t, err.Error(), "[value of ")
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	tests := map[string]struct{ url, text string }{
		"nobody listens": {"http://" + addr + "/v1", "connection refused: nobody listens there (tried 3 times)"},
		"no such name":   {"http://no-such-host.invalid/v1", "the name no-such-host.invalid cannot be resolved (tried 3 times)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRouter(t, tt.url, "")
			llm.SleepLess(t, r, "m")
			_, err := r.Complete(t.Context(), request())
			var me *effect.ModelError
			require.ErrorAs(t, err, &me)
			require.Equal(t, echo.ModelErrNetwork, me.Kind)
			require.Equal(t, tt.text, me.Message)
		})
	}
}

// The body: what is sent, in which order, and that two requests of a conversation begin alike.
func TestBody(t *testing.T) {
	t.Parallel()
	b := setup(t, `{"model": "served-name", "options": {"top_p": 0.5, "seed": 1}, "max_tokens_param": "max_tokens"}`, nil)
	call := echo.ToolCall{ID: "c1", Name: "look", Arguments: `{"a":1}`}
	msgs := []*echo.Message{
		echo.NewText(echo.RoleSystem, echo.KindSystem, "be brief"),
		echo.NewText(echo.RoleUser, echo.KindTask, "look at \"it\""),
		echo.Seal(echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{call}}),
		echo.NewToolResult(call, []echo.Part{{Type: echo.PartText, Text: "see"}, {Type: echo.PartImage, URL: "data:image/png;base64,AA=="}}, false),
	}
	temperature := 0.25
	req := request(msgs[:2]...)
	req.Tools = []effect.ToolSpec{{Name: "look", Description: "Looks", Parameters: json.RawMessage(`{"type":"object"}`)}}
	req.Temperature, req.MaxOutputTokens = &temperature, 99
	req.Options = map[string]json.RawMessage{"seed": json.RawMessage(`2`)}
	_, err := b.router.Complete(t.Context(), req)
	require.NoError(t, err)
	second := *req
	second.Messages, second.NoToolCalls = msgs, true
	_, err = b.router.Complete(t.Context(), &second)
	require.NoError(t, err)
	require.NoError(t, b.server.Refused())

	head := `{"model":"served-name","stream":true,"stream_options":{"include_usage":true},"temperature":0.25,"max_tokens":99,` +
		`"seed":2,"top_p":0.5,"tools":[{"type":"function","function":{"name":"look","description":"Looks","parameters":{"type":"object"}}}],` +
		`"messages":[{"content":"be brief","role":"system"},{"content":"look at \"it\"","role":"user"}`
	requests := b.server.Requests()
	require.Equal(t, head+`]}`, string(requests[0].Raw))
	require.Equal(t, head+`,{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":1}","name":"look"},"id":"c1","type":"function"}]},`+
		`{"content":"see","role":"tool","tool_call_id":"c1"},`+
		`{"content":[{"text":"Images from the result of look (call c1):","type":"text"},{"image_url":{"url":"data:image/png;base64,AA=="},"type":"image_url"}],"role":"user"}`+
		`],"tool_choice":"none"}`, string(requests[1].Raw))
	require.Equal(t, "Bearer "+secretKey, requests[0].Header.Get("Authorization"))
}

func TestForbiddenOption(t *testing.T) {
	t.Parallel()
	b := setup(t, "", nil)
	req := request()
	req.Options = map[string]json.RawMessage{"messages": json.RawMessage(`[]`)}
	_, err := b.router.Complete(t.Context(), req)
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	require.Equal(t, echo.ModelErrConfig, me.Kind)
	require.Contains(t, me.Message, `option "messages" cannot be set`)
	require.Empty(t, b.server.Requests())
}

func TestCost(t *testing.T) {
	t.Parallel()
	usage := map[string]any{"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "prompt_tokens_details": map[string]any{"cached_tokens": 400_000}}
	wrote := func(where string) map[string]any {
		return map[string]any{"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "prompt_tokens_details": map[string]any{"cached_tokens": 400_000, where: 500_000}}
	}
	priced := `{"price": {"input": 2, "cached_input": 0.5, "cache_write": 2.5, "output": 10}}`
	beside := map[string]any{"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "cache_read_input_tokens": 400_000, "cache_creation_input_tokens": 900_000}
	charged := map[string]any{"prompt_tokens": 10, "completion_tokens": 10, "cost": 0.125}
	tests := map[string]struct {
		settings string
		usage    map[string]any
		want     *float64
	}{
		"unknown":                                 {usage: usage},
		"configured":                              {settings: `{"price": {"input": 2, "cached_input": 0.5, "output": 10}}`, usage: usage, want: new(0.6*2 + 0.4*0.5 + 0.1*10)},
		"by the card":                             {settings: `{"model": "openai/gpt-5-mini-2025-08-07"}`, usage: usage, want: new(0.6*0.25 + 0.4*0.025 + 0.1*2)},
		"tokens written to a cache":               {settings: priced, usage: wrote("cache_write_tokens"), want: new(0.1*2 + 0.5*2.5 + 0.4*0.5 + 0.1*10)},
		"created, as DashScope says it":           {settings: priced, usage: wrote("cache_creation_input_tokens"), want: new(0.1*2 + 0.5*2.5 + 0.4*0.5 + 0.1*10)},
		"created, as LiteLLM says it":             {settings: priced, usage: wrote("cache_creation_tokens"), want: new(0.1*2 + 0.5*2.5 + 0.4*0.5 + 0.1*10)},
		"beside the details, more than there are": {settings: priced, usage: beside, want: new(0.6*2.5 + 0.4*0.5 + 0.1*10)},
		"written, without a price for it":         {settings: `{"price": {"input": 2, "cached_input": 0.5, "output": 10}}`, usage: wrote("cache_write_tokens"), want: new(0.6*2 + 0.4*0.5 + 0.1*10)},
		"as the provider says":                    {settings: `{"price": {"input": 2, "output": 10}}`, usage: charged, want: new(0.125)},
		"charged, but no price":                   {usage: charged, want: new(0.125)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tt.settings, always(&llmtest.Answer{Text: "x", Usage: tt.usage}))
			resp, err := b.router.Complete(t.Context(), request())
			require.NoError(t, err)
			if tt.want == nil {
				require.Nil(t, resp.CostUSD)
				return
			}
			require.InDelta(t, *tt.want, *resp.CostUSD, 1e-9)
		})
	}
}

func TestUsageIsCountedWhenNoneIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t, `{"model": "gpt-5"}`, always(&llmtest.Answer{Text: "hello world"}))
	resp, err := b.router.Complete(t.Context(), request())
	require.NoError(t, err)
	require.Equal(t, echo.Usage{In: 1 + 3 + 3, Out: 2, Estimated: true}, resp.Usage)
}

// Parallel conversations share connections and buffers; each must get its own answer.
func TestParallelConversations(t *testing.T) {
	t.Parallel()
	b := setup(t, "", func(r llmtest.Request) *llmtest.Answer {
		return &llmtest.Answer{Text: r.Messages[len(r.Messages)-1].Text()}
	})
	const conversations = 32
	var failed atomic.Int32
	done := make(chan struct{})
	for i := range conversations {
		go func() {
			defer func() { done <- struct{}{} }()
			for j := range 5 {
				want := fmt.Sprintf("%d %d %s", i, j, strings.Repeat("x", i*100))
				resp, err := b.router.Complete(context.Background(), request(echo.NewText(echo.RoleUser, echo.KindTask, want)))
				if err != nil || resp.Message.Text() != want {
					failed.Add(1)
				}
			}
		}()
	}
	for range conversations {
		<-done
	}
	require.Zero(t, failed.Load())
	require.NoError(t, b.server.Refused())
}

// What a call may have cost is judged by all of its tries: nobody listening costs nothing, a stream
// that broke off before may have.
func TestUnpaidIsJudgedByEveryTry(t *testing.T) {
	t.Parallel()
	gone := setup(t, `{"max_retries": 1}`, always(&llmtest.Answer{Text: "hi"}))
	gone.server.Close()
	llm.SleepLess(t, gone.router, "m")
	_, err := gone.router.Complete(t.Context(), request())
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	require.Equal(t, echo.ModelErrNetwork, me.Kind)
	require.True(t, me.Unpaid)

	var tries atomic.Int32
	mixed := setup(t, `{"max_retries": 1}`, func(llmtest.Request) *llmtest.Answer {
		if tries.Add(1) == 1 {
			return soon(llmtest.Fault{ResetAt: llmtest.AtMiddle})
		}
		return soon(llmtest.Fault{Status: 429, Message: "slow down"})
	})
	llm.SleepLess(t, mixed.router, "m")
	_, err = mixed.router.Complete(t.Context(), request())
	require.ErrorAs(t, err, &me)
	require.Equal(t, echo.ModelErrRateLimited, me.Kind)
	require.False(t, me.Unpaid)
}
