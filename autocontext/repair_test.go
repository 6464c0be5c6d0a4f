package autocontext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

const lost = "Tool no response: the call was made, but its result is not known. Make it again if you need it."

func bash(id string) echo.ToolCall {
	return echo.ToolCall{ID: id, Name: "bash", Arguments: "{}"}
}

func asks(calls ...echo.ToolCall) *echo.Message {
	return echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: calls})
}

func answers(id, text string) *echo.Message {
	return echo.NewToolResult(bash(id), echo.Text(text), false)
}

// Every damage that a history may have, and what is sent. The history itself is never touched.
func TestRepairs(t *testing.T) {
	t.Parallel()
	task := echo.NewText(echo.RoleUser, echo.KindTask, "task")
	more := echo.NewText(echo.RoleUser, echo.KindTurnPrompt, "more")
	said := echo.NewText(echo.RoleAssistant, echo.KindAnswer, "said")
	for name, c := range map[string]struct {
		history []*echo.Message
		want    []string
	}{
		"nothing":                 {nil, nil},
		"whole":                   {[]*echo.Message{task, asks(bash("a")), answers("a", "one")}, []string{"user: task", "assistant: bash{}", "tool a: one"}},
		"ends with a call":        {[]*echo.Message{task, asks(bash("a"))}, []string{"user: task", "assistant: bash{}", "tool a: " + lost}},
		"one of two results":      {[]*echo.Message{task, asks(bash("a"), bash("b")), answers("b", "two")}, []string{"user: task", "assistant: bash{} bash{}", "tool b: two", "tool a: " + lost}},
		"a call in the middle":    {[]*echo.Message{task, asks(bash("a")), more}, []string{"user: task", "assistant: bash{}", "tool a: " + lost, "user: more"}},
		"a late result":           {[]*echo.Message{task, asks(bash("a")), more, answers("a", "late")}, []string{"user: task", "assistant: bash{}", "tool a: late", "user: more"}},
		"a result twice":          {[]*echo.Message{task, asks(bash("a")), answers("a", "one"), answers("a", "again")}, []string{"user: task", "assistant: bash{}", "tool a: one"}},
		"a result without a call": {[]*echo.Message{task, answers("x", "stray"), more}, []string{"user: task", "user: more"}},
		"nothing but a result":    {[]*echo.Message{answers("x", "stray")}, nil},
		"ends with words":         {[]*echo.Message{task, said}, []string{"user: task", "assistant: said", "user: Continue."}},
		"words, then a stray":     {[]*echo.Message{task, said, answers("x", "stray")}, []string{"user: task", "assistant: said", "user: Continue."}},
		"a call without id":       {[]*echo.Message{task, asks(bash("")), answers("", "one")}, []string{"user: task", "assistant: ```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```", "user: Tool result of bash ():\none"}},
		"a call without name":     {[]*echo.Message{task, asks(echo.ToolCall{ID: "a", Arguments: "{}"}), answers("a", "one")}, []string{"user: task", "assistant: ```json\n{\"tool\": \"\", \"arguments\": {}}\n```", "user: Tool result of bash (a):\none"}},
		"an id used again": {
			[]*echo.Message{task, asks(bash("a")), answers("a", "one"), asks(bash("a")), answers("a", "two")},
			[]string{"user: task", "assistant: bash{}", "tool a: one", "assistant: ```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```", "user: Tool result of bash (a):\ntwo"},
		},
		"an id twice in one message": {
			[]*echo.Message{task, asks(bash("a"), bash("a")), answers("a", "one")},
			[]string{
				"user: task", "assistant: ```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```\n```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```",
				"user: Tool result of bash (a):\none", "user: Tool error of bash (a):\n" + lost,
			},
		},
	} {
		step, err := autocontext.NewBuilder(autocontext.Settings{}).Build(history(c.history...), echo.Carry{})
		require.NoError(t, err)
		sent := autocontext.NewRenderer(dialect.Native).Render(step.View)
		validSequence(t, sent)
		var got []string
		for _, m := range sent {
			text := m.Text()
			for _, call := range m.ToolCalls() {
				text = strings.TrimPrefix(text+" "+call.Name+call.Arguments, " ")
			}
			got = append(got, strings.TrimSuffix(string(m.Role())+" "+m.ToolCallID(), " ")+": "+text)
		}
		require.Equal(t, c.want, got, name)
	}
}

// What is added to complete a conversation goes again when the conversation goes on, and the cache
// keeps what it had.
func TestRepairsAreTakenBack(t *testing.T) {
	t.Parallel()
	all := history(
		echo.NewText(echo.RoleUser, echo.KindTask, "task"), asks(bash("a"), bash("b")), answers("a", "one"), answers("b", "two"),
		echo.NewText(echo.RoleAssistant, echo.KindAnswer, "said"), echo.NewText(echo.RoleUser, echo.KindTurnPrompt, "more"),
	)
	b := autocontext.NewBuilder(autocontext.Settings{})
	var c echo.Carry
	var got []int
	for n := 1; n <= len(all); n++ {
		step, err := b.Build(all[:n], c)
		require.NoError(t, err)
		c = step.Carry
		validSequence(t, autocontext.NewRenderer(dialect.Native).Render(step.View))
		got = append(got, step.View.Report().MessageCount)
	}
	require.Equal(t, []int{1, 4, 4, 4, 6, 6}, got)
}

// A call that never got its result is completed with the same bytes at every call: nothing is sent
// anew for it.
func TestRepairsKeepTheCache(t *testing.T) {
	t.Parallel()
	all := history(echo.NewText(echo.RoleUser, echo.KindTask, "task"), asks(bash("a")), echo.NewText(echo.RoleUser, echo.KindTurnPrompt, "more"))
	b := autocontext.NewBuilder(autocontext.Settings{})
	first, err := b.Build(all[:2], echo.Carry{})
	require.NoError(t, err)
	size := first.View.Report().ContextSize
	second, err := b.Build(all, first.Carry)
	require.NoError(t, err)
	require.Equal(t, size, second.View.Report().SharedSize)
}

// Calls made in another model's way are written as text, once, whether that model wrote them into
// its words or not.
func TestRepairsIsolateAnotherModelsCalls(t *testing.T) {
	t.Parallel()
	block := "```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```"
	for words, want := range map[string]string{
		"":                  "assistant: " + block,
		"I look.":           "assistant: I look.\n" + block,
		"I look.\n" + block: "assistant: I look.\n" + block,
	} {
		d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{bash("a")}}
		if words != "" {
			d.Parts = echo.Text(words)
		}
		h := history(echo.NewText(echo.RoleUser, echo.KindTask, "task"), echo.Seal(d), answers("a", "one"))
		h[1].Foreign, h[2].Foreign = echo.ForeignModel, echo.ForeignModel
		step, err := autocontext.NewBuilder(autocontext.Settings{}).Build(h, echo.Carry{})
		require.NoError(t, err)
		require.Equal(t, []string{"user: task", want, "user: Tool result of bash (a):\none"}, textsOf(autocontext.Settings{}, step.View))
		require.Equal(t, []string{"full no_policy", "full other_model", "full other_model"}, formsOf(step.View))
	}
}

// What is written as text is in the form text, with the reason for it: nothing of it is left out,
// and nothing is saved.
func TestTextIsAForm(t *testing.T) {
	t.Parallel()
	calling := func(words, id string) *echo.Message {
		return echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(words), ToolCalls: []echo.ToolCall{bash(id)}})
	}
	s := autocontext.Settings{NameText: true}
	for name, tt := range map[string]struct {
		foreign echo.Foreign
		id      string
		want    []string
	}{
		"no tools":      {echo.ForeignNoTools, "a", []string{"full no_policy", "text no_tools", "text no_tools"}},
		"another way":   {echo.ForeignDialect, "a", []string{"full no_policy", "text other_dialect", "text other_dialect"}},
		"another model": {echo.ForeignModel, "a", []string{"full no_policy", "text other_model", "text other_model"}},
		"without an id": {"", "", []string{"full no_policy", "text repaired", "text repaired"}},
	} {
		h := history(echo.NewText(echo.RoleUser, echo.KindTask, "task"), calling("I look.", tt.id), answers(tt.id, strings.Repeat("one ", 500)))
		h[1].Foreign, h[2].Foreign = tt.foreign, tt.foreign
		step, err := autocontext.NewBuilder(s).Build(h, echo.Carry{})
		require.NoError(t, err)
		require.Equal(t, tt.want, formsOf(step.View), name)
		r := step.View.Report()
		require.Zero(t, r.MaskedCount, name)
		require.Zero(t, r.TokensSaved, name)
		require.Equal(t, r.ContextSize, r.FullHistorySize, name)
	}
}

// What ages is cut all the same, and what is cut saves something.
func TestTextAges(t *testing.T) {
	t.Parallel()
	s := autocontext.Settings{NameText: true, Policy: cascade.DefaultIntra()}
	s.Policy.MaskAfter, s.Policy.Advance = 1, cascade.AdvanceEveryTurn
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{bash("a")}}
	h := history(echo.Seal(d), answers("a", strings.Repeat("one ", 500)), echo.NewText(echo.RoleUser, echo.KindTask, "task"))
	h[0].Foreign, h[1].Foreign = echo.ForeignNoTools, echo.ForeignNoTools
	b := autocontext.NewBuilder(s)
	var c echo.Carry
	for turn := 1; turn < 5; turn++ {
		step, err := b.Build(h, c)
		require.NoError(t, err)
		c = step.Carry
		if turn == 4 {
			require.Equal(t, autocontext.FormMasked, step.View.Items[1].Form)
			require.Equal(t, echo.RoleUser, step.View.Items[1].Sent.Role())
			require.Equal(t, 1, step.View.Report().MaskedCount)
			require.Positive(t, step.View.Report().TokensSaved)
		}
		h = append(h, echo.Item{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "hm"), Attempt: 1, Turn: turn},
			echo.Item{Message: echo.NewText(echo.RoleUser, echo.KindTurnPrompt, "go on"), Attempt: 1, Turn: turn})
	}
}
