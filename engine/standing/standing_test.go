package standing

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
)

func TestScratchpadTool(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MostBytes)
	for name, tt := range map[string]struct {
		args, old, now, told string
		failed               bool
	}{
		"read":               {`{"action":"read"}`, "a", "a", "a", false},
		"read nothing":       {`{"action":"read"}`, "", "", "The scratchpad is empty.", false},
		"append":             {`{"action":"append","text":"b"}`, "a", "a\nb", "The scratchpad has 3 of 16384 bytes.", false},
		"append first":       {`{"action":"append","text":"b"}`, "", "b", "The scratchpad has 1 of 16384 bytes.", false},
		"append nothing":     {`{"action":"append"}`, "a", "a", "Nothing was appended: text is empty.", true},
		"append too much":    {`{"action":"append","text":"b"}`, long, long, "The scratchpad would have 16386 bytes and can have 16384: nothing was changed. Replace it with a shorter one.", true},
		"replace":            {`{"action":"replace","text":"b"}`, "a", "b", "The scratchpad has 1 of 16384 bytes.", false},
		"replace whole":      {`{"action":"replace","text":"` + long + `"}`, "a", long, "The scratchpad has 16384 of 16384 bytes.", false},
		"replace by nothing": {`{"action":"replace"}`, "a", "a", `Nothing was replaced: text is missing. An empty text, "", clears the scratchpad.`, true},
		"clear":              {`{"action":"replace","text":""}`, "a", "", "The scratchpad has 0 of 16384 bytes.", false},
	} {
		now, told, failed, err := Do(json.RawMessage(tt.args), tt.old)
		require.NoError(t, err, name)
		require.Equal(t, []any{tt.now, tt.told, tt.failed}, []any{now, told, failed}, name)
	}
	_, _, _, err := Do(json.RawMessage(`{"action":1}`), "")
	require.ErrorContains(t, err, "read arguments of scratchpad: ")
	var schema any
	require.NoError(t, json.Unmarshal(Spec().Parameters, &schema))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	both := continuity.InForce{Scratchpad: true, StateBlock: true}
	for name, tt := range map[string]struct {
		answer, scratchpad, state, visible string
	}{
		"nothing":                        {"Hello.\n", "", "", "Hello.\n"},
		"state at the end":               {"Hello.\n\n### STATE\nGoal: x\nNext: y\n", "", "Goal: x\nNext: y", "Hello."},
		"state with deeper headings":     {"Hi\n### STATE:\n#### Goal\nx\n", "", "#### Goal\nx", "Hi"},
		"state to the next heading":      {"### STATE\nGoal: x\n## Answer\nHi", "", "Goal: x", "## Answer\nHi"},
		"the last state":                 {"### STATE\nGoal: x\n# A\nHi\n### STATE\nGoal: z", "", "Goal: z", "# A\nHi"},
		"state without its parts":        {"Hi\n### STATE\nfine\n", "", "", "Hi\n### STATE\nfine\n"},
		"the last one without its parts": {"### STATE\nGoal: x\n# A\n### STATE\n", "", "", "# A\n### STATE"},
		"other cases are no state":       {"### State\nGoal: x", "", "", "### State\nGoal: x"},
		"in a line":                      {"a ### STATE\nGoal: x", "", "", "a ### STATE\nGoal: x"},
		"quoted":                         {"```\n### STATE\nGoal: x\n```\nHi", "", "", "```\n### STATE\nGoal: x\n```\nHi"},
		"scratchpad":                     {"Hi\nSCRATCHPAD:\nPlan\n- [ ] one\n", "Plan\n- [ ] one", "", "Hi"},
		"scratchpad on the line":         {"SCRATCHPAD: all is done", "all is done", "", ""},
		"scratchpad with headings":       {"Hi\nSCRATCHPAD:\n# Plan\none", "# Plan\none", "", "Hi"},
		"the last scratchpad":            {"SCRATCHPAD: a\nSCRATCHPAD: b", "b", "", ""},
		"both":                           {"Hi\r\nSCRATCHPAD:\r\np\r\n### STATE\r\nGoal: x\r\n", "p", "Goal: x", "Hi"},
		"both, turned":                   {"Hi\n### STATE\nGoal: x\nSCRATCHPAD: p", "p", "Goal: x", "Hi"},
	} {
		scratchpad, state, hasScratchpad, hasState := In(tt.answer)
		require.Equal(t, []string{tt.scratchpad, tt.state, tt.visible}, []string{scratchpad, state, Visible(tt.answer, both)}, name)
		require.Equal(t, []bool{strings.Contains(tt.answer, "SCRATCHPAD:"), tt.state != ""}, []bool{hasScratchpad, hasState}, name)
		require.Equal(t, tt.answer, Visible(tt.answer, continuity.InForce{Groups: 3, Memos: true}), name)
	}
	require.Equal(t, "Hi", Visible("Hi\n### STATE\nfine\n", continuity.InForce{StateBlock: true, Lenient: true}), "as before rules 7")
	answer := "Hi\nSCRATCHPAD: p\n### STATE\nGoal: x"
	require.Equal(t, "Hi\n### STATE\nGoal: x", Visible(answer, continuity.InForce{Scratchpad: true}))
	require.Equal(t, "Hi\nSCRATCHPAD: p", Visible(answer, continuity.InForce{StateBlock: true}))
}

// What was meant for the scratchpad or the state block and is not taken has a reason.
func TestMissed(t *testing.T) {
	t.Parallel()
	const parts = "a section ### STATE has none of the lines Goal:, Context:, Resolved:, Technical anchors: and Next: before the next heading"
	for answer, want := range map[string][2]string{
		"Hi":                                {},
		"```\n### STATE\nSCRATCHPAD:\n```":  {},
		"State\nState:\nThe scratchpad: no": {},
		"> SCRATCHPAD: a quotation":         {`"> SCRATCHPAD:" is not SCRATCHPAD: at the beginning of a line`, ""},
		"scratchpad: p":                     {`"scratchpad:" is not SCRATCHPAD: at the beginning of a line`, ""},
		"Hi\nScratchpad:\np":                {`"Scratchpad:" is not SCRATCHPAD: at the beginning of a line`, ""},
		"\ufeffSCRATCHPAD: p":               {`"\ufeffSCRATCHPAD:" is not SCRATCHPAD: at the beginning of a line`, ""},
		"Hi\n\u200bSCRATCHPAD: p":           {`"\u200bSCRATCHPAD:" is not SCRATCHPAD: at the beginning of a line`, ""},
		"Hi\n### State\nGoal: x":            {"", `"### State" is not ### STATE at the beginning of a line`},
		"\ufeff### STATE\nGoal: x":          {"", `"\ufeff### STATE" is not ### STATE at the beginning of a line`},
		"> ### STATE\n> Goal: x":            {"", `"> ### STATE" is not ### STATE at the beginning of a line`},
		"The SCRATCHPAD: it is read":        {},
		"Hi\n```go\nx\nSCRATCHPAD:\np":      {`"SCRATCHPAD:" is in a block of code that does not end`, ""},
		"```\n### STATE\nGoal: x":           {"", `"### STATE" is in a block of code that does not end`},
		"**SCRATCHPAD:**\np":                {`"**SCRATCHPAD:**" is not SCRATCHPAD: at the beginning of a line`, ""},
		"## SCRATCHPAD\r\np":                {`"## SCRATCHPAD" is not SCRATCHPAD: at the beginning of a line`, ""},
		"**### STATE**\nGoal: x":            {"", `"**### STATE**" is not ### STATE at the beginning of a line`},
		"## STATE\nGoal: x":                 {"", `"## STATE" is not ### STATE at the beginning of a line`},
		"### STATE\n### Goal\nx":            {"", parts},
		"Hi\n### STATE\nfine":               {"", parts},
	} {
		require.Equal(t, want, [2]string{Missed(answer, Scratchpad), Missed(answer, StateBlock)}, answer)
	}
}

// A text that nobody sees whole stands nowhere.
func TestUnfit(t *testing.T) {
	t.Parallel()
	require.Empty(t, Unfit("a\r\n\tb 👩‍👧", continuity.InForce{}))
	require.Equal(t, "has the character U+001B, which nobody sees", Unfit("a\x1b[31m", continuity.InForce{}))
	require.Empty(t, Unfit("a\x1b[31m", continuity.InForce{Lenient: true}))
	require.Equal(t, "has 16385 bytes and can have 16384", Unfit(strings.Repeat("x", MostBytes+1), continuity.InForce{Lenient: true}))
	require.Equal(t, "The text has the character U+202E, which nobody sees: nothing was changed. Write the text without it.", Refused(json.RawMessage(`{"action":"append","text":"a\u202eb"}`)))
	require.Empty(t, Refused(json.RawMessage(`{"action":"read"}`)))
	require.Empty(t, Refused(json.RawMessage(`{"text":1}`)))
	said := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("SCRATCHPAD: a\u200b")})
	values := Values{}
	values.Follow(continuity.InForce{Scratchpad: true}, []echo.Item{{Message: said}})
	require.Empty(t, values)
}

// What is read of an answer is a part of it, and nothing of the rest is lost.
func FuzzAnswers(f *testing.F) {
	f.Add("Hi\nSCRATCHPAD: p\n### STATE\nGoal: x\n# A\n```\n### STATE\n```")
	f.Fuzz(func(t *testing.T, answer string) {
		scratchpad, state, _, hasState := In(answer)
		require.Contains(t, answer, scratchpad)
		require.Contains(t, answer, state)
		require.True(t, hasState || state == "")
		visible := Visible(answer, continuity.InForce{Scratchpad: true, StateBlock: true})
		require.LessOrEqual(t, len(visible), len(answer))
	})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	require.Nil(t, Message(Scratchpad, " \n", false))
	require.Nil(t, Message(StateBlock, "", false))
	for _, tt := range []struct {
		name, value, want string
		kind              echo.Kind
	}{
		{Scratchpad, "p", "[Your scratchpad, as it is now.]\n\np", echo.KindScratchpad},
		{Scratchpad, "", "[Your scratchpad is empty.]", echo.KindScratchpad},
		{StateBlock, "Goal: x", "[The state of the work, as you wrote it last.]\n\nGoal: x", echo.KindStateBlock},
		{StateBlock, "", "[There is no state of the work now.]", echo.KindStateBlock},
	} {
		m := Message(tt.name, tt.value, true)
		require.Equal(t, tt.want, m.Text())
		require.Equal(t, tt.kind, m.Kind())
		require.True(t, m.Kind().Stands())
	}
	require.Empty(t, Instructions(continuity.InForce{Groups: 1}))
	require.Equal(t, howToKeep+"\n\n"+howToState, Instructions(continuity.InForce{Scratchpad: true, StateBlock: true}))
}

func TestParts(t *testing.T) {
	t.Parallel()
	require.Equal(t, []Part{{Goal, "ship it"}, {Context, "a b"}, {Anchors, "x.go:3"}, {Next, "next we test"}},
		Parts("**Goal:** ship it\r\n- context: a\n  b\nResolved:\n#### Technical Anchors\nx.go:3\nNEXT:\nnext we test"))
	require.Empty(t, Parts("Goal:\nnothing"[:5]))
	require.Empty(t, Parts("fine"))
}

// What stands follows from the messages that are left: it is what the newest of them has made of it.
func TestValuesFollowMessages(t *testing.T) {
	t.Parallel()
	said := func(text string, calls ...echo.ToolCall) echo.Item {
		return echo.Item{Message: echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(text), ToolCalls: calls})}
	}
	call := func(id, name, args string) echo.ToolCall { return echo.ToolCall{ID: id, Name: name, Arguments: args} }
	result := func(c echo.ToolCall, failed bool) echo.Item {
		return echo.Item{Message: echo.NewToolResult(c, echo.Text("x"), failed)}
	}
	first, more := call("1", "scratchpad", `{"action":"append","text":"b"}`), call("2", "set_state", `{"key":"state_block","value":["g"]}`)
	lost, late := call("3", "scratchpad", `{"action":"replace","text":"lost"}`), call("4", "scratchpad", `{"action":"replace","text":"late"}`)
	history := []echo.Item{
		said("SCRATCHPAD: a\n### STATE\nGoal: x"), said("", first, more), result(first, false), result(more, false),
		said("### STATE\nnothing", lost, late), result(lost, true), said("end"), result(late, false),
	}
	both := continuity.InForce{Scratchpad: true, StateBlock: true}
	values := Values{Scratchpad: "before"}
	values.Follow(both, history)
	require.Equal(t, Values{Scratchpad: "a\nb", StateBlock: `["g"]`}, values)
	values = Values{Scratchpad: "before"}
	values.Follow(both, history[1:])
	require.Equal(t, Values{Scratchpad: "before\nb", StateBlock: `["g"]`}, values)
	values = Values{}
	values.Follow(continuity.InForce{}, append(history[:1], said("SCRATCHPAD: c")))
	require.Empty(t, values)
}
