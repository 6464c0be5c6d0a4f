package dialect_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

func TestRender(t *testing.T) {
	t.Parallel()
	call := echo.ToolCall{ID: "c1", Name: `a"b`, Arguments: `{"path":"a"}`}
	image := echo.Part{Type: echo.PartImage, URL: "https://example.org/a.png"}
	answer := func(text string) *echo.Message {
		d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call, call}}
		if text != "" {
			d.Parts = echo.Text(text)
		}
		return echo.Seal(d)
	}
	block := "```json\n{\"tool\": \"a\\\"b\", \"arguments\": {\"path\":\"a\"}}\n```"
	for _, tt := range []struct {
		message *echo.Message
		want    string // "": the message itself
	}{
		{echo.NewText(echo.RoleUser, echo.KindTask, "go"), ""},
		{echo.NewText(echo.RoleAssistant, echo.KindAnswer, "done"), ""},
		{answer(""), "assistant answer " + block + "\n" + block},
		{answer("first I look"), "assistant answer first I look"},
		{echo.NewToolResult(call, []echo.Part{{Type: echo.PartText, Text: "x"}, image}, false), "user tool_result Tool result of a\"b (c1):\nx"},
		{echo.NewToolResult(call, echo.Text("none"), true), "user tool_result Tool error of a\"b (c1):\nnone"},
	} {
		require.Same(t, tt.message, dialect.Native.Render(tt.message))
		got := dialect.Prompted.Render(tt.message)
		if tt.want == "" {
			require.Same(t, tt.message, got)
			continue
		}
		require.Equal(t, tt.want, string(got.Role())+" "+string(got.Kind())+" "+got.Text())
		require.Empty(t, got.ToolCalls())
		if len(tt.message.Parts()) > 1 {
			require.Equal(t, tt.message.Parts()[1:], got.Parts()[1:], "images stay")
		}
	}
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]dialect.Dialect{
		`{"context":{"dialect":"prompted"}}`: dialect.Prompted,
		`{"context":{"dialect":"native"}}`:   dialect.Native,
		`{"visit":1}`:                        dialect.Native,
		`{"context":"of another shape"}`:     dialect.Native,
		``:                                   dialect.Native,
	} {
		require.Equal(t, want, dialect.Recorded(&echo.Entry{NodeType: echo.NodePhaseStart, Data: json.RawMessage(data)}), data)
	}
	require.Equal(t, "native prompted", dialect.Native.String()+" "+dialect.Prompted.String())
}
