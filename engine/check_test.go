package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// lastOf returns the text of the newest message of a request.
func lastOf(b *testBundle, request int) string {
	ms := b.model.requests[request].Messages
	return ms[len(ms)-1].Text()
}

func checking(rules, more string) string {
	return fmt.Sprintf(`{"cascade_id":"c","tools":[{"tool_id":"lint","type":"shell","command":"true"}],
		"phases":[{"name":"p","instructions":"Go.","rules":{%s}%s}]}`, rules, more)
}

// linting is a run whose tool lint, a validator, accepts from the call on that passes.
func linting(t *testing.T, passes int, answers ...answerFunc) (b *testBundle, asked *int) {
	t.Helper()
	b = setup(t, answers...)
	b.tools.addEcho("echo")
	asked = new(int)
	b.tools.add("lint", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		*asked++
		text := fmt.Sprintf(`{"valid":%v,"reason":"not yet"}`, *asked >= passes)
		return effect.ToolResult{Parts: echo.Text(text)}, nil
	})
	return b, asked
}

// TestCheckIsAskedWhenAnAttemptEnds: what the model says or does on the way there is not judged.
func TestCheckIsAskedWhenAnAttemptEnds(t *testing.T) {
	t.Parallel()
	b, asked := linting(t, 1, call("echo", `{}`), call("echo", `{"a":1}`), say("done"))
	res, err := b.run(checking(`"loop_until":"lint"`, `,"tackle":["echo"]`), nil)
	require.NoError(t, err)
	require.Equal(t, "done", res.Output)
	require.Equal(t, echo.StopAnswered, res.Phases[0].Reason)
	require.Equal(t, 1, *asked, "only the answer that ends the attempt is judged")

	b, asked = linting(t, 1, call("echo", `{}`), say("done"))
	res, err = b.run(checking(`"loop_until":"lint","check":"every_turn"`, `,"tackle":["echo"]`), nil)
	require.NoError(t, err)
	require.Equal(t, echo.StopLoopUntil, res.Phases[0].Reason)
	require.Equal(t, 1, *asked, "the turn that called a tool has passed")

	b, asked = linting(t, 1, say("1"), say("2"), say("3"))
	res, err = b.run(checking(`"loop_until":"lint","max_turns":3,"turn_prompt":"more"`, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "3", res.Output)
	require.Equal(t, 1, *asked)
}

// TestFailedCheckIsToldInTheSameAttempt: as long as the file gives turns; the default never does.
func TestFailedCheckIsToldInTheSameAttempt(t *testing.T) {
	t.Parallel()
	const told = "Your answer was not accepted: not yet\n\nCorrect this and give the complete answer again."
	b, _ := linting(t, 3, say("a"), say("b"), say("c"))
	res, err := b.run(checking(`"loop_until":"lint","max_turns":3`, ""), nil)
	require.NoError(t, err)
	require.Equal(t, []any{"c", 1, 3}, []any{res.Output, res.Phases[0].Attempts, res.Phases[0].Turns})
	require.Equal(t, told, lastOf(b, 1))
	require.Equal(t, []string{"p/attempt1/turn1/model", "p/attempt1/turn2/model", "p/attempt1/turn3/model"}, b.entries.keys(echo.NodeModelCall))

	// When the turns are used up the next attempt begins.
	b, _ = linting(t, 3, say("a"), say("b"), say("c"))
	res, err = b.run(checking(`"loop_until":"lint","max_turns":2,"max_attempts":2,"retry_instructions":"Because: {{ validation_error }}"`, ""), nil)
	require.NoError(t, err)
	require.Equal(t, 2, res.Phases[0].Attempts)
	require.Equal(t, []string{"Because: not yet", "Because: not yet"}, []string{lastOf(b, 1), lastOf(b, 2)})
	require.Equal(t, []string{"p/attempt1/turn1/model", "p/attempt1/turn2/model", "p/attempt2/turn1/model"}, b.entries.keys(echo.NodeModelCall))

	// The 25 turns of a phase with tools are no turns that the file gives.
	b, _ = linting(t, 2, say("a"), say("b"))
	_, err = b.run(checking(`"loop_until":"lint"`, `,"tackle":["echo"]`), nil)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): no answer passed loop_until lint in 1 attempt: not yet")

	// A schema that does not match begins an attempt, as it always has.
	b, _ = linting(t, 1, say("a"), say("1"))
	res, err = b.run(checking(`"loop_until":"lint","max_turns":3`, `,"output_schema":{"type":"integer"}`), nil)
	require.NoError(t, err)
	require.Equal(t, 2, res.Phases[0].Attempts)
}

// TestFailedCheckOfEveryTurnIsTold: the turn prompt says why, unless it does so itself.
func TestFailedCheckOfEveryTurnIsTold(t *testing.T) {
	t.Parallel()
	b, _ := linting(t, 2, say("a"), say("b"))
	_, err := b.run(checking(`"loop_until":"lint","check":"every_turn","max_turns":3,"turn_prompt":"More."`, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "More.\n\nYour last answer was not accepted: not yet", lastOf(b, 1))

	b, _ = linting(t, 2, say("a"), say("b"))
	_, err = b.run(checking(`"loop_until":"lint","check":"every_turn","max_turns":3,"turn_prompt":"More: {{ validation_error }}."`, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "More: not yet.", lastOf(b, 1))
}

// TestChecksOfRules1: sessions of rules 1 ask after every turn, and correct in the next attempt.
func TestChecksOfRules1(t *testing.T) {
	t.Parallel()
	source := checking(`"loop_until":"lint","max_turns":3,"max_attempts":2`, `,"tackle":["echo"]`)
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	b, asked := linting(t, 3, call("echo", `{}`), say("a"), say("b"))
	log := echo.NewLog("s1", nil, nil, b.entries)
	res, err := b.runner.Run(t.Context(), Spec{Cascade: c, Log: log, WorkDir: "/scratch", Rules: 1})
	require.NoError(t, err)
	require.Equal(t, []any{3, 2}, []any{*asked, res.Phases[0].Attempts})
	require.Equal(t, []string{"p/attempt1/turn1/model", "p/attempt1/turn2/model", "p/attempt2/turn1/model"}, b.entries.keys(echo.NodeModelCall))
}

// TestOutputOfACheckIsToldFromItsEnd: since rules 3 the model, the record and the error have the last
// lines of what a command printed, and how many they lack. Before they had it from its beginning.
func TestOutputOfACheckIsToldFromItsEnd(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	for i := range 300 {
		fmt.Fprintf(&printed, "line %d\n", i+1)
	}
	printed.WriteString("[exit status 1]")
	const end = "line 299\nline 300\n[exit status 1]"
	for rules := 2; rules <= 3; rules++ {
		b := setup(t, say("a"), say("b"))
		b.rules = rules
		b.tools.add(effect.CommandTool, `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
			return effect.ToolResult{Failed: true, Kind: "exit_status", Parts: echo.Text(printed.String())}, nil
		})
		_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","rules":{"loop_until":"command:make test","max_attempts":2}}]}`, nil)
		told := lastOf(b, 1)
		var verdict echo.Verdict
		require.NoError(t, json.Unmarshal(b.entries.of(echo.NodeVerdict)[0].Data, &verdict))
		kept := b.entries.of(echo.NodeToolCall)[0].Message.Text()
		require.Equal(t, printed.String(), kept, "the record has all of it")
		if rules < 3 {
			require.Equal(t, printed.String(), verdict.Reason)
			require.Contains(t, told, "not accepted: line 1\nline 2\n")
			require.ErrorContains(t, err, "in 2 attempts: line 1\n")
			require.ErrorContains(t, err, "[... 281 lines left out ...]\n")
			continue
		}
		require.Equal(t, 100, strings.Count(verdict.Reason, "\n")+1)
		require.True(t, strings.HasPrefix(verdict.Reason, "[... 202 lines left out ...]\nline 203\n"), verdict.Reason)
		require.True(t, strings.HasSuffix(verdict.Reason, end), verdict.Reason)
		require.Equal(t, "Your answer was not accepted: "+verdict.Reason+"\n\nCorrect this and give the complete answer again.", told)
		require.ErrorContains(t, err, "in 2 attempts: [... 282 lines left out ...]\nline 283\n")
		require.ErrorContains(t, err, end)
	}
}

// TestCommandIsAskedOnce: a command runs once, at the end of an attempt, however many turns it has;
// with every_turn also after turns before.
func TestCommandIsAskedOnce(t *testing.T) {
	t.Parallel()
	for check, want := range map[string]int{"": 1, `,"check":"attempt"`: 1, `,"check":"every_turn"`: 4} {
		b := setup(t, call("echo", `{}`), call("echo", `{"a":1}`), call("echo", `{"a":2}`), say("done"))
		b.tools.addEcho("echo")
		runs := 0
		b.tools.add(effect.CommandTool, `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
			runs++
			return effect.ToolResult{Failed: runs < 4, Kind: "exit_status", Parts: echo.Text("[exit status 1]")}, nil
		})
		_, err := b.run(checking(`"loop_until":"command:make test"`+check, `,"tackle":["echo"]`), nil)
		require.Equal(t, want == 4, err == nil, check)
		require.Equal(t, want, runs, check)
	}
}
