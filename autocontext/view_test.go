package autocontext_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

func history(ms ...*echo.Message) []echo.Item {
	items := make([]echo.Item, len(ms))
	for i, m := range ms {
		items[i] = echo.Item{Message: m}
	}
	return items
}

func conversation() []echo.Item {
	call := echo.ToolCall{ID: "c1", Name: "read_file", Arguments: `{"path":"a"}`}
	again := echo.ToolCall{ID: "c2", Name: "read_file", Arguments: `{"path":"a"}`}
	image := echo.Part{Type: echo.PartImage, URL: "data:image/png;base64,AA=="}
	return history(
		echo.NewText(echo.RoleUser, echo.KindTask, "go"),
		echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call}}),
		echo.NewToolResult(call, []echo.Part{{Type: echo.PartText, Text: "content"}, image}, false),
		echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("again"), ToolCalls: []echo.ToolCall{again}}),
		echo.NewToolResult(again, echo.Text("no such file"), true),
	)
}

// fullHistory is the view of a history without any policy.
func fullHistory(t *testing.T, h []echo.Item, d dialect.Dialect) *autocontext.View {
	t.Helper()
	step, err := autocontext.NewBuilder(autocontext.Settings{Dialect: d}).Build(h, echo.Carry{})
	require.NoError(t, err)
	require.Nil(t, step.Ask)
	return step.View
}

// Without context settings full history is sent, byte for byte: the very messages of the history.
func TestFullHistoryIsSentAsItIs(t *testing.T) {
	t.Parallel()
	h := conversation()
	view := fullHistory(t, h, dialect.Native)
	sent := autocontext.NewRenderer(dialect.Native).Render(view)
	require.Len(t, sent, len(h))
	var size int64
	for i := range h {
		require.Same(t, h[i].Message, sent[i])
		size += autocontext.Tokens(h[i].Message)
	}
	r := view.Report()
	require.Equal(t, size, r.FullHistorySize)
	require.Equal(t, size, r.ContextSize)
	require.Equal(t, 5, r.MessageCount)
	require.Zero(t, r.MaskedCount)
	require.Empty(t, fullHistory(t, nil, dialect.Native).Report().Spans)
}

// A model without tool calling sees calls and results as text, and never a tool message or a tool
// call.
func TestPromptedRendering(t *testing.T) {
	t.Parallel()
	r := autocontext.NewRenderer(dialect.Prompted)
	sent := r.Render(fullHistory(t, conversation(), dialect.Prompted))
	var got []string
	for _, m := range sent {
		require.Empty(t, m.ToolCalls())
		got = append(got, string(m.Role())+": "+m.Text())
	}
	require.Equal(t, []string{
		"user: go",
		"assistant: ```json\n{\"tool\": \"read_file\", \"arguments\": {\"path\":\"a\"}}\n```",
		"user: Tool result of read_file (c1):\ncontent",
		"assistant: again",
		"user: Tool error of read_file (c2):\nno such file",
	}, got)
	require.Len(t, sent[2].Parts(), 2, "images stay")
	h := conversation()
	first, second := r.Render(fullHistory(t, h, dialect.Prompted)), r.Render(fullHistory(t, h, dialect.Prompted))
	for i := range first {
		require.Same(t, first[i], second[i], "a message is derived once")
	}
}

func TestTokensIsAQuarterOfTheBytes(t *testing.T) {
	t.Parallel()
	m := echo.NewText(echo.RoleUser, echo.KindTask, "12345678")
	require.Equal(t, int64((len(`{"content":"12345678","role":"user"}`)+3)/4), autocontext.Tokens(m))
}
