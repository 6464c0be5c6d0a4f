package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// A mark stands on the last text of a message; the rest of the body stays as it is.
func TestCacheMarks(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(llmtest.Config{Key: secretKey, CacheControl: true})
	t.Cleanup(server.Close)
	call := echo.ToolCall{ID: "c1", Name: "look", Arguments: `{}`}
	req := request(
		echo.NewText(echo.RoleSystem, echo.KindSystem, "be \"brief\""),
		echo.Seal(echo.Draft{Role: echo.RoleUser, Parts: []echo.Part{{Type: echo.PartText, Text: "see"}, {Type: echo.PartImage, URL: "data:image/png;base64,AA=="}}}),
		echo.Seal(echo.Draft{Role: echo.RoleAssistant, Parts: echo.Text("I look."), ToolCalls: []echo.ToolCall{call}}),
		echo.NewToolResult(call, []echo.Part{{Type: echo.PartText, Text: "found"}, {Type: echo.PartImage, URL: "data:image/png;base64,BB=="}}, false),
	)
	req.Tools = []effect.ToolSpec{{Name: "look", Parameters: json.RawMessage(`{"type":"object"}`)}}
	plain := req.Hash()
	req.CacheMarks = []int{0, 1, 2, 3}
	require.NotEqual(t, plain, req.Hash(), "the hash says what is sent")
	_, err := newRouter(t, server.URL, "").Complete(t.Context(), req)
	require.NoError(t, err)
	require.NoError(t, server.Refused())
	const mark = `{"cache_control":{"type":"ephemeral"},"text":`
	require.Equal(t, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],`+
		`"messages":[{"content":[`+mark+`"be \"brief\"","type":"text"}],"role":"system"},`+
		`{"content":[`+mark+`"see","type":"text"},{"image_url":{"url":"data:image/png;base64,AA=="},"type":"image_url"}],"role":"user"},`+
		`{"content":[`+mark+`"I look.","type":"text"}],"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"look"},"id":"c1","type":"function"}]},`+
		`{"content":[`+mark+`"found","type":"text"}],"role":"tool","tool_call_id":"c1"},`+
		`{"content":[{"text":"Images from the result of look (call c1):","type":"text"},{"image_url":{"url":"data:image/png;base64,BB=="},"type":"image_url"}],"role":"user"}]}`,
		string(server.Requests()[0].Raw))
}

// A message without text cannot be marked, and an endpoint that does not know marks says so.
func TestCacheMarksThatAreNotTaken(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(llmtest.Config{Key: secretKey})
	t.Cleanup(server.Close)
	image := echo.Seal(echo.Draft{Role: echo.RoleUser, Parts: []echo.Part{{Type: echo.PartImage, URL: "data:image/png;base64,AA=="}}})
	req := request(image)
	req.CacheMarks = []int{0}
	_, err := newRouter(t, server.URL, "").Complete(t.Context(), req)
	require.NoError(t, err)
	req = request()
	req.CacheMarks = []int{0}
	_, err = newRouter(t, server.URL, "").Complete(t.Context(), req)
	me := requireModelError(t, err, echo.ModelErrBadRequest)
	require.Equal(t, `set "cache_control": false for the model in windlass.json: the endpoint refuses the marks of its prefix cache`, me.Hint)
}

// Which models are sent marks: by the setting, else by what is known of the endpoint.
func TestWhoIsSentMarks(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("windlass.json", []byte(`{"models": {
		"anthropic/claude-haiku-4.5": {"base_url": "https://openrouter.ai/api/v1"},
		"short": {"base_url": "https://openrouter.ai/api/v1", "model": "anthropic/claude-haiku-4.5"},
		"anthropic/claude-off": {"base_url": "https://openrouter.ai/api/v1", "cache_control": false},
		"openai/gpt-5": {"base_url": "https://openrouter.ai/api/v1"},
		"claude-haiku-4-5": {"base_url": "https://api.anthropic.com/v1"},
		"proxied": {"base_url": "http://localhost:4000", "cache_control": true}}}`))
	require.NoError(t, err)
	r := llm.NewRouter(cfg, func(string) string { return "" })
	t.Cleanup(r.Close)
	for model, want := range map[string]bool{
		"anthropic/claude-haiku-4.5": true, "short": true, "anthropic/claude-off": false, "openai/gpt-5": false, "claude-haiku-4-5": false,
		"proxied": true, "gpt-5-mini": false,
	} {
		require.Equal(t, want, r.Facts(model).MarkCache, model)
	}
}
