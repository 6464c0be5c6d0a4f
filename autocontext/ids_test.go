package autocontext_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

var ownIDs = autocontext.Settings{NameText: true, OwnIDs: true}

// linesOf writes what is sent with the ids of calls, which are numbered in the order in which they are sent first.
func linesOf(t *testing.T, v *autocontext.View) (lines, ids []string) {
	t.Helper()
	sent := autocontext.NewRenderer(dialect.Native).Render(v)
	validSequence(t, sent)
	named := map[string]string{}
	name := func(id string) string {
		if named[id] == "" {
			named[id] = fmt.Sprintf("#%d", len(ids)+1)
			ids = append(ids, id)
		}
		return named[id]
	}
	for _, m := range sent {
		line := string(m.Role()) + ":"
		if text := m.Text(); text != "" {
			line += " " + text
		}
		for _, c := range m.ToolCalls() {
			line += " " + c.Name + name(c.ID)
		}
		if m.Role() == echo.RoleTool {
			line += " " + name(m.ToolCallID())
		}
		lines = append(lines, line)
	}
	return lines, ids
}

// A model that numbers its calls from 1 again and again: they stay calls, each with an id that no
// other call of the request has, and each result follows its call.
func TestCallsThatReuseIDsStayCalls(t *testing.T) {
	t.Parallel()
	task := echo.NewText(echo.RoleUser, echo.KindTask, "task")
	more := echo.NewText(echo.RoleUser, echo.KindTurnPrompt, "more")
	for name, tt := range map[string]struct {
		history []*echo.Message
		want    []string
	}{
		"twice": {
			[]*echo.Message{task, asks(bash("1"), bash("2")), answers("1", "a"), answers("2", "b"), asks(bash("1"), bash("2")), answers("2", "d"), answers("1", "c")},
			[]string{"user: task", "assistant: bash#1 bash#2", "tool: a #1", "tool: b #2", "assistant: bash#3 bash#4", "tool: d #4", "tool: c #3"},
		},
		"in part": {
			[]*echo.Message{asks(bash("1")), answers("1", "a"), asks(bash("1"), bash("2")), answers("2", "c"), answers("1", "b"), task},
			[]string{"assistant: bash#1", "tool: a #1", "assistant: bash#2 bash#3", "tool: c #3", "tool: b #2", "user: task"},
		},
		"without a result": {
			[]*echo.Message{task, asks(bash("1")), answers("1", "a"), asks(bash("1"), bash("2")), answers("2", "c"), more},
			[]string{"user: task", "assistant: bash#1", "tool: a #1", "assistant: bash#2 bash#3", "tool: c #3", "tool: " + lost + " #2", "user: more"},
		},
		"with a late result": {
			[]*echo.Message{task, asks(bash("1")), answers("1", "a"), asks(bash("1"), bash("2")), answers("2", "c"), more, answers("1", "late")},
			[]string{"user: task", "assistant: bash#1", "tool: a #1", "assistant: bash#2 bash#3", "tool: c #3", "tool: late #2", "user: more"},
		},
		"without an id": {
			[]*echo.Message{task, asks(bash("1")), answers("1", "a"), asks(bash("")), answers("", "b")},
			[]string{"user: task", "assistant: bash#1", "tool: a #1", "assistant: ```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```", "user: Tool result of bash ():\nb"},
		},
		"twice in one answer": {
			[]*echo.Message{task, asks(bash("1"), bash("1")), answers("1", "a"), answers("1", "b"), asks(bash("1")), answers("1", "c")},
			[]string{
				"user: task", "assistant: ```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```\n```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```",
				"user: Tool result of bash (1):\na", "user: Tool result of bash (1):\nb", "assistant: bash#1", "tool: c #1",
			},
		},
	} {
		step, err := autocontext.NewBuilder(ownIDs).Build(history(tt.history...), echo.Carry{})
		require.NoError(t, err, name)
		lines, _ := linesOf(t, step.View)
		require.Equal(t, tt.want, lines, name)
		if r := step.View.Report(); !strings.Contains(name, "result") { // what a repair adds is in no history
			require.Zero(t, r.MaskedCount, name)
			require.Equal(t, r.FullHistorySize, r.ContextSize, name)
		}
	}
}

// The ids follow from the history alone and stay as it grows: every request begins with the one before.
// They have a form that every provider takes, and the history keeps those of the model.
func TestIDsOfTheirOwnStay(t *testing.T) {
	t.Parallel()
	all := history(echo.NewText(echo.RoleUser, echo.KindTask, "task"))
	b := autocontext.NewBuilder(ownIDs)
	var c echo.Carry
	before := []string{}
	for turn := range 30 {
		all = append(all, history(asks(bash("call_1"), bash("call_2")), answers("call_1", "one"), answers("call_2", "two"))...)
		step, err := b.Build(all, c)
		require.NoError(t, err)
		c = step.Carry
		fresh, err := autocontext.NewBuilder(ownIDs).Build(all, echo.Carry{})
		require.NoError(t, err)
		require.Equal(t, bytesOf(ownIDs, fresh.View), bytesOf(ownIDs, step.View))
		_, ids := linesOf(t, step.View)
		require.Equal(t, before, ids[:2*turn])
		before = ids
		if turn > 0 {
			require.Regexp(t, regexp.MustCompile(`^[a-z0-9]{9}$`), ids[2*turn])
			require.Equal(t, autocontext.FormFull, step.View.Items[3*turn+1].Form)
			require.Equal(t, "call_1", all[3*turn+1].Message.ToolCalls()[0].ID)
		}
	}
	require.Equal(t, []string{"call_1", "call_2"}, before[:2])

	// A model that comes to an id that was given in place of its own gets yet another one.
	all = append(all, history(asks(bash(before[4])), answers(before[4], "three"))...)
	step, err := b.Build(all, c)
	require.NoError(t, err)
	_, ids := linesOf(t, step.View)
	require.Len(t, ids, 61)
}

// What is written as text has no id in the request: it takes none.
func TestTextTakesNoID(t *testing.T) {
	t.Parallel()
	h := history(asks(bash("1")), answers("1", "a"), echo.NewText(echo.RoleUser, echo.KindTask, "task"), asks(bash("1")), answers("1", "b"))
	h[0].Foreign, h[1].Foreign = echo.ForeignModel, echo.ForeignModel
	step, err := autocontext.NewBuilder(ownIDs).Build(h, echo.Carry{})
	require.NoError(t, err)
	_, ids := linesOf(t, step.View)
	require.Equal(t, []string{"1"}, ids)
	require.Same(t, h[3].Message, step.View.Items[3].Sent)
}

// What may come in of an earlier phase is counted with the longer ids that it may get.
func TestMostCountsOwnIDs(t *testing.T) {
	t.Parallel()
	render := autocontext.NewRenderer(dialect.Native)
	for _, m := range []*echo.Message{asks(bash("1"), bash("2")), answers("1", strings.Repeat("long ", 40))} {
		h := history(asks(bash("1"), bash("2")), answers("1", "a"), answers("2", "b"))
		if m.Role() == echo.RoleTool {
			h = append(h, history(asks(bash("1")))...)
		}
		h = append(h, history(m)...)
		step, err := autocontext.NewBuilder(ownIDs).Build(h, echo.Carry{})
		require.NoError(t, err)
		it := step.View.Items[len(h)-1]
		require.NotEqual(t, m.JSON(), it.Sent.JSON())
		require.LessOrEqual(t, autocontext.Tokens(it.Sent), ownIDs.Most(render, m))
	}
}
