package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/toolset"
)

func TestOnePhase(t *testing.T) {
	t.Parallel()
	b := setup(t, say("Hello Ada"))
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"greet","instructions":"Greet {{ input.name }}."}]}`, map[string]any{"name": "Ada"})
	require.NoError(t, err)
	require.Equal(t, echo.StatusCompleted, res.Status)
	require.Equal(t, echo.StopEndOfCascade, res.Reason)
	require.Equal(t, "Hello Ada", res.Output)
	require.Equal(t, []string{"user: Greet Ada."}, roles(b.model.requests[0]), "instructions that use the input are not followed by it")
	require.Equal(t, "m", b.model.requests[0].Model)
	require.Equal(t, effect.Site{Cascade: "c", Phase: "greet", Visit: 1, Attempt: 1, Turn: 1}, b.model.requests[0].Site)
	require.InDelta(t, callCost, res.CostUSD, 1e-9)
	require.Equal(t, echo.Usage{In: 100, Cached: 40, Out: 10}, res.Usage)

	var nodes []string
	for _, e := range b.entries.list {
		nodes = append(nodes, string(e.NodeType)+" "+e.Key.String())
	}
	require.Equal(t, []string{
		"run_start run/start", "route run/route", "phase_start greet/start", "message greet/task",
		"context_selection greet/attempt1/turn1/context", "model_call greet/attempt1/turn1/model",
		"handoff greet/attempt1/turn1/handoff", "phase_end greet/end", "route greet/route", "run_end run/end",
	}, nodes)
	sel := b.entries.of(echo.NodeSelection)[0].Selection
	require.Len(t, sel.Spans, 1)
	require.Equal(t, []any{0, 1, "full", "no_policy"}, []any{sel.Spans[0].From, sel.Spans[0].Count, sel.Spans[0].Form, sel.Spans[0].Reason})
	require.Equal(t, sel.FullHistorySize, sel.ContextSize)
}

func TestInputIsAddedUnlessInstructionsUseIt(t *testing.T) {
	t.Parallel()
	const block = "\n\nInput:\n```json\n{\n  \"a\": 1\n}\n```"
	for name, tc := range map[string]struct{ phase, want string }{
		"added":   {`"instructions":"Go."`, "Go." + block},
		"used":    {`"instructions":"Go {{ input.a }}."`, "Go 1."},
		"refused": {`"instructions":"Go.","context":{"include_input":false}`, "Go."},
		"forced":  {`"instructions":"Go {{ input.a }}.","context":{"include_input":true}`, "Go 1." + block},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, say("ok"))
			_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p",`+tc.phase+`}]}`, map[string]any{"a": 1})
			require.NoError(t, err)
			require.Equal(t, "user: "+tc.want, roles(b.model.requests[0])[0])
		})
	}
}

func TestToolsRunAndAnswerInOrderOfTheCalls(t *testing.T) {
	t.Parallel()
	b := setup(t, call("slow", `{"n":1}`, "fast", `{"n":2}`), say("done"))
	fastDone := make(chan struct{})
	b.tools.add("slow", `{"type":"object"}`, func(ctx context.Context, _ effect.ToolRequest) (effect.ToolResult, error) {
		select { // the calls run in parallel, or this never ends
		case <-fastDone:
			return effect.ToolResult{Parts: echo.Text("slow result")}, nil
		case <-ctx.Done():
			return effect.ToolResult{}, ctx.Err()
		}
	})
	b.tools.add("fast", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		close(fastDone)
		return effect.ToolResult{Parts: echo.Text("fast result"), Failed: true, Kind: "exit_status"}, nil
	})
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["slow","fast"]}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "done", res.Output)
	require.Equal(t, []string{"user: Go.", "assistant:  +slow +fast", "tool: slow result", "tool: fast result"}, roles(b.model.requests[1]))
	require.ElementsMatch(t, []string{"p/attempt1/turn1/tool1", "p/attempt1/turn1/tool2"}, b.entries.keys(echo.NodeToolCall))
	for _, e := range b.entries.of(echo.NodeToolCall) {
		if e.Tool.Name == "fast" {
			require.Equal(t, "exit_status", e.Error.Kind)
			require.JSONEq(t, `{"n":2}`, e.Tool.Arguments)
		}
	}
	require.Equal(t, 2, res.Phases[0].Turns)
}

func TestBadCallsGoBackToTheModel(t *testing.T) {
	t.Parallel()
	b := setup(t, call("nope", `{}`, "read", `{"path":`, "read", `[]`, "read", `{"path":1,"x":2}`, "read", ``), say("done"))
	b.tools.add("read", `{"type":"object","additionalProperties":false,"required":["path"],"properties":{"path":{"type":"string"}}}`,
		func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
			return effect.ToolResult{}, errors.New("must not run")
		})
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["read"]}]}`, nil)
	require.NoError(t, err)
	require.Empty(t, b.tools.calls)
	var texts []string
	for _, m := range b.model.requests[1].Messages {
		if m.Role() == echo.RoleTool {
			require.True(t, m.Failed())
			texts = append(texts, m.Text())
		}
	}
	require.Len(t, texts, 5)
	require.Equal(t, `There is no tool named "nope". The tools are: read.`, texts[0])
	require.Contains(t, texts[1], "are not valid JSON")
	require.Contains(t, texts[2], "must be a JSON object")
	require.Contains(t, texts[3], "/path")
	require.Contains(t, texts[3], "x")
	require.Contains(t, texts[4], "path")
	kinds := map[string]int{}
	for _, e := range b.entries.of(echo.NodeToolCall) {
		kinds[e.Error.Kind]++
	}
	require.Equal(t, map[string]int{"unknown_tool": 1, "invalid_arguments": 4}, kinds)
}

// After the last allowed turn the model is asked once more, with its tools declared but not to be
// called. Calls that it makes all the same are answered, so that the history stays valid.
func TestLastTurnIsFollowedByOneAnswerWithoutTools(t *testing.T) {
	t.Parallel()
	b := setup(t, call("echo", `{"n":1}`), call("echo", `{"n":2}`), call("echo", `{"n":3}`))
	b.tools.addEcho("echo")
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["echo"],"rules":{"max_turns":2,"allow_empty":true}},
		{"name":"q","instructions":"Go on.","context":{"from":[{"phase":"p","include":["messages"]}]}}]}`, nil)
	require.ErrorContains(t, err, "no more answers")
	require.Equal(t, echo.StopMaxTurns, res.Phases[0].Reason)
	last := b.model.requests[2]
	require.True(t, last.NoToolCalls)
	require.NotEmpty(t, last.Tools, "the prefix of the request stays the same")
	require.Contains(t, last.Messages[len(last.Messages)-1].Text(), "No more tool calls")
	require.Len(t, b.tools.calls, 2)
	require.NoError(t, checkSequence(b.model.requests[3].Messages))
	require.Contains(t, strings.Join(roles(b.model.requests[3]), "\n"), "No more tool calls are possible in this phase.")
}

func TestRepeatedCallWithTheSameResultIsNoticed(t *testing.T) {
	t.Parallel()
	b := setup(t, call("echo", `{"a": 1, "b": 2}`), call("echo", `{"a":1,"b":2}`), call("echo", `{"a":2}`), say("done"))
	b.tools.addEcho("echo")
	b.tools.fns["echo"] = func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text("same")}, nil
	}
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["echo"]}]}`, nil)
	require.NoError(t, err)
	notice := func(i int) string {
		ms := b.model.requests[i].Messages
		return ms[len(ms)-1].Text()
	}
	require.Equal(t, "same", notice(1))
	require.Contains(t, notice(2), "You made the same call with the same result before: echo (as in turn 1)")
	require.Equal(t, "same", notice(3), "another call with that result is no repetition")
}

func TestLoopUntil(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rules   string
		answers []answerFunc
		output  any
		wantErr string
	}{
		"passes":             {`"loop_until":"regex:^ok"`, []answerFunc{say("ok")}, "ok", ""},
		"retries":            {`"loop_until":"min_words:3","max_attempts":2`, []answerFunc{say("too few"), say("now enough words")}, "now enough words", ""},
		"exhausted":          {`"loop_until":"max_words:1","max_attempts":2`, []answerFunc{say("a b"), say("a b c")}, nil, "c/p (attempt 2, turn 1): no answer passed loop_until max_words:1 in 2 attempts: the answer has 3 words, at most 1 are allowed"},
		"one attempt only":   {`"loop_until":"non_empty","allow_empty":true`, []answerFunc{say(" ")}, nil, "no answer passed loop_until non_empty in 1 attempt: the answer is empty"},
		"json":               {`"loop_until":"json","max_attempts":2`, []answerFunc{say("{"), say("```json\n{}\n```")}, "```json\n{}\n```", ""},
		"turn_prompt":        {`"loop_until":"regex:42","check":"every_turn","max_turns":3,"turn_prompt":"turn {{ turn }} of {{ max_turns }}: {{ validation_error }}"`, []answerFunc{say("1"), say("42")}, "42", ""},
		"turns are used up":  {`"loop_until":"regex:42","max_turns":2,"turn_prompt":"again","max_attempts":2`, []answerFunc{say("1"), say("2"), say("3"), say("42")}, "42", ""},
		"turns without test": {`"max_turns":3,"turn_prompt":"more"`, []answerFunc{say("1"), say("2"), say("3")}, "3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tc.answers...)
			res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","rules":{`+tc.rules+`}}]}`, nil)
			require.Len(t, b.model.requests, len(tc.answers))
			if tc.wantErr != "" {
				require.ErrorContains(t, err, tc.wantErr)
				require.Equal(t, echo.StatusFailed, res.Status)
				require.Equal(t, echo.StopExhausted, res.Reason)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.output, res.Output)
		})
	}
}

func TestRetryQuotesTheVerdict(t *testing.T) {
	t.Parallel()
	b := setup(t, say("x"), say("y"), say("a b c"))
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","rules":{"loop_until":"min_words:3","max_attempts":3,
		"retry_instructions":"Attempt {{ attempt }}/{{ max_attempts }}: {{ validation_error }}"}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{
		"system: Your work will be checked: your answer must have at least 3 words.", "user: Go.", "assistant: x",
		"user: Attempt 2/3: the answer has 1 word, at least 3 are needed", "assistant: y",
		"user: Attempt 3/3: the answer has 1 word, at least 3 are needed",
	}, roles(b.model.requests[2]))

	b = setup(t, say("x"), say("a b c"))
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","rules":{"loop_until":"min_words:3","max_attempts":2,
		"loop_until_silent":true,"retry_instructions":"Think."}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{
		"user: Go.", "assistant: x",
		"user: Think.\n\nYour last answer was not accepted: the answer has 1 word, at least 3 are needed",
	}, roles(b.model.requests[1]))
}

func TestInlineValidator(t *testing.T) {
	t.Parallel()
	b := setup(t, say("draft"), say(`{"valid": false, "reason": "too short"}`), say("long draft"), say("Sure!\n```json\n{\"valid\": true, \"reason\": \"\"}\n```"))
	res, err := b.run(`{"cascade_id":"c","validators":{"judge":{"instructions":"Judge {{ content }} for {{ original_input.who }}","model":"cheap"}},
		"phases":[{"name":"p","instructions":"Go {{ input.who }}.","rules":{"loop_until":"judge","max_attempts":2}}]}`, map[string]any{"who": "Ada"})
	require.NoError(t, err)
	require.Equal(t, "long draft", res.Output)
	require.Equal(t, "cheap", b.model.requests[1].Model)
	require.Equal(t, "judge", b.model.requests[1].Site.Validator)
	require.Contains(t, roles(b.model.requests[1])[1], "Judge draft for Ada")
	require.Equal(t, 4, res.Calls, "a validator's calls are paid for and counted")
	require.Contains(t, b.entries.keys(echo.NodeModelCall), "p/attempt1/turn1/validate/judge/model")

	// A validator that gives no verdict is asked again as often as it may, then its text is the reason.
	b = setup(t, say("draft"), say("hm"), say("hm"))
	_, err = b.run(`{"cascade_id":"c","validators":{"judge":{"instructions":"Judge","max_turns":2}},
		"phases":[{"name":"p","instructions":"Go.","rules":{"loop_until":"judge"}}]}`, nil)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): no answer passed loop_until judge in 1 attempt: hm")
	require.Contains(t, roles(b.model.requests[1])[1], "The answer to judge:\ndraft")
	require.Contains(t, roles(b.model.requests[2])[3], "That is not a verdict")
}

func TestToolAndCommandValidators(t *testing.T) {
	t.Parallel()
	b := setup(t, call("check", `{}`), say("finished"))
	b.tools.addEcho("check")
	var stdin []string
	b.tools.add(effect.CommandTool, `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		var in struct{ Command, Stdin string }
		require.NoError(t, json.Unmarshal(req.Arguments, &in))
		require.Equal(t, "test -f '/scratch/it'\\''s'", in.Command)
		stdin = append(stdin, in.Stdin)
		return effect.ToolResult{Parts: echo.Text("exit"), Failed: len(stdin) < 1}, nil
	})
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go {{ input.f }}.","tackle":["check"],
		"rules":{"check":"every_turn","loop_until":"command:test -f {{ session.work_dir ~ '/' ~ input.f }}"}}]}`, map[string]any{"f": "it's"})
	require.NoError(t, err)
	require.Equal(t, "finished", res.Output)
	require.Equal(t, echo.StopLoopUntil, res.Phases[0].Reason, "a command is asked after a turn of tool calls, too")
	require.JSONEq(t, `{"content":"[Result of check]\ncheck:{}","has_images":false,"image_count":0,"original_input":{"f":"it's"}}`, stdin[0])
	require.True(t, b.model.requests[1].NoToolCalls)
	require.Contains(t, roles(b.model.requests[1])[4], "The checks pass now.")

	b = setup(t, say("a"), say("b"))
	b.tools.add("lint", `{"type":"object","properties":{"content":{"type":"string"}}}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		if string(req.Arguments) == `{"content":"a"}` {
			return effect.ToolResult{Parts: echo.Text(`{"valid":false,"reason":"not a"}`)}, nil
		}
		return effect.ToolResult{Parts: echo.Text(`{"valid":true}`)}, nil
	})
	res, err = b.run(`{"cascade_id":"c","tools":[{"tool_id":"lint","type":"shell","command":"true"}],
		"phases":[{"name":"p","instructions":"Go.","rules":{"loop_until":"lint","max_attempts":2}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "b", res.Output)
	require.Contains(t, strings.Join(roles(b.model.requests[1]), "\n"), "not a")
}

func TestOutputSchema(t *testing.T) {
	t.Parallel()
	const phase = `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","output_schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}%s},
		{"name":"q","instructions":"{{ outputs.p.n + 1 }} {{ state.validated_output.n }} {{ state.output_p.n }}"}]}`
	b := setup(t, say("no"), say(`{"n":"x"}`), say("Here: ```json\n{\"n\": 41}\n```"), say("end"))
	res, err := b.run(fmt.Sprintf(phase, ""), nil)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"n": json.Number("41")}, res.Phases[0].Output)
	require.Equal(t, "user: 42 41 41", roles(b.model.requests[3])[0])
	require.Contains(t, roles(b.model.requests[0])[0], "matches this JSON Schema")
	require.Contains(t, strings.Join(roles(b.model.requests[1]), "\n"), "it is not JSON")
	require.Contains(t, strings.Join(roles(b.model.requests[2]), "\n"), "/n")

	b = setup(t, say("no"))
	res, err = b.run(fmt.Sprintf(phase, `,"rules":{"max_attempts":1}`), nil)
	require.ErrorContains(t, err, "no answer passed output_schema in 1 attempt")
	require.Equal(t, echo.StopExhausted, res.Phases[0].Reason)
	require.Len(t, res.Phases, 1, "what comes after a failed phase does not run")
}

func TestRouting(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"a","instructions":"A","handoffs":["b",{"target":"d","description":"when it is done"}]},
		{"name":"b","instructions":"B","handoffs":["a"]},
		{"name":"d","instructions":"D"},
		{"name":"e","instructions":"never"}]}`
	b := setup(t, say("no choice"), say("back"), call(toolset.ToolRouteTo, `{"target":"d","reason":"done"}`), say("off to d"), say("end"))
	res, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, "end", res.Output)
	var path []string
	for _, p := range res.Phases {
		path = append(path, fmt.Sprintf("%s%d", p.Phase, p.Visit))
	}
	require.Equal(t, []string{"a1", "b1", "a2", "d1"}, path)
	require.Equal(t, echo.StopAnswered, res.Phases[2].Reason, "a phase that chooses its route has turns for the choice and the answer")
	require.Contains(t, b.entries.keys(echo.NodeModelCall), "a~2/attempt1/turn2/model")
	require.Contains(t, b.model.requests[0].Tools[0].Description, "- d: when it is done")
	require.JSONEq(t, `{"from":"a","to":"d","reason":"route_to"}`, string(b.entries.of(echo.NodeRoute)[3].Data))
	require.Len(t, b.model.requests[1].Tools, 0, "one hand-off without a description leaves no choice")

	b = setup(t, call(toolset.ToolRouteTo, `{"target":"nowhere"}`), say("x"), say("y"), say("z"))
	_, err = b.run(source, nil)
	require.Error(t, err)
	require.Contains(t, strings.Join(roles(b.model.requests[1]), "\n"), "do not match its schema")
}

func TestRouteThatLeadsBackForeverEnds(t *testing.T) {
	t.Parallel()
	answers := make([]answerFunc, 2*maxVisits)
	for i := range answers {
		answers[i] = say("x")
	}
	b := setup(t, answers...)
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A","handoffs":["a"]}]}`, nil)
	require.ErrorContains(t, err, "c/a: the phase was entered 100 times, the limit of one run")
	require.Equal(t, echo.StopVisitLimit, res.Reason)
}

func TestDeterministicPhase(t *testing.T) {
	t.Parallel()
	b := setup(t, say("handled"))
	tries := 0
	b.tools.add("fetch", `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"},"l":{"type":"array"}},"required":["n"]}`,
		func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
			require.JSONEq(t, `{"n":3,"s":"3","l":["x 3",{"k":"3"}]}`, string(req.Arguments))
			require.Equal(t, 5*time.Second, req.Timeout)
			if tries++; tries < 3 {
				return effect.ToolResult{Parts: echo.Text("busy"), Failed: true, Kind: "http_status"}, nil
			}
			return effect.ToolResult{Parts: echo.Text(`{"status":"found","n":7}`)}, nil
		})
	res, err := b.run(`{"cascade_id":"c","phases":[
		{"name":"a","tool":"fetch","inputs":{"n":"{{ input.n }}","s":"{{ input.n }}","l":["x {{ input.n }}",{"k":"{{ input.n }}"}]},"timeout":5,
		 "retry":{"max_attempts":3,"backoff":"exponential","backoff_base_seconds":0.001},"routing":{"found":"c","missing":"b"}},
		{"name":"b","instructions":"B"},{"name":"c","instructions":"n is {{ outputs.a.n }}"}]}`, map[string]any{"n": 3})
	require.NoError(t, err)
	require.Equal(t, "handled", res.Output)
	require.Equal(t, 3, res.Phases[0].Attempts)
	require.Equal(t, echo.StopToolResult, res.Phases[0].Reason)
	require.Contains(t, roles(b.model.requests[0])[0], "n is 7")
	require.JSONEq(t, `{"from":"a","to":"c","reason":"routing: \"found\""}`, string(b.entries.of(echo.NodeRoute)[1].Data))
}

func TestOnError(t *testing.T) {
	t.Parallel()
	broken := func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text("no such host"), Failed: true}, nil
	}
	b := setup(t, say("recovered"), say("after"))
	b.tools.add("fetch", `{"type":"object"}`, broken)
	res, err := b.run(`{"cascade_id":"c","phases":[
		{"name":"a","tool":"fetch","inputs":{"u":"x"},"on_error":{"name":"mend","instructions":"{{ state.last_deterministic_error.tool }}/{{ state.last_deterministic_error.inputs.u }}: {{ state.last_deterministic_error.error }}"}},
		{"name":"b","instructions":"B"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "after", res.Output)
	require.Contains(t, roles(b.model.requests[0])[0], "fetch/x: tool fetch failed: no such host")
	require.Equal(t, echo.StatusFailed, res.Phases[0].Status)

	b = setup(t, say("recovered"))
	b.tools.add("fetch", `{"type":"object"}`, broken)
	res, err = b.run(`{"cascade_id":"c","phases":[{"name":"a","tool":"fetch","on_error":"m"},{"name":"skipped","instructions":"B"},{"name":"m","instructions":"M"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "recovered", res.Output)

	b = setup(t)
	b.tools.add("fetch", `{"type":"object"}`, broken)
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"a","tool":"fetch"}]}`, nil)
	require.ErrorContains(t, err, "c/a (attempt 1): tool fetch failed: no such host")
}

func TestContextFrom(t *testing.T) {
	t.Parallel()
	const head = `{"cascade_id":"c","phases":[
		{"name":"a","instructions":"A","tackle":["echo","set_state"],"handoffs":["b"]},
		{"name":"b","instructions":"B","handoffs":["d"]},
		{"name":"d","instructions":"D","context":%s}]}`
	image := echo.Part{Type: echo.PartImage, URL: "data:image/png;base64,AA=="}
	// The phase that asks has no tools, and providers refuse calls in a request that declares none.
	const asText = "\n```json\n{\"tool\": \"echo\", \"arguments\": {}}\n```\n```json\n{\"tool\": \"set_state\", \"arguments\": {\"key\":\"k\",\"value\":[1]}}\n```"
	for name, tc := range map[string]struct {
		context string
		want    []string
	}{
		"nothing":        {`{}`, []string{"user: D"}},
		"by name":        {`{"from":["a"]}`, []string{`user: From phase "a", output:` + "\nout a", `user: From phase "a", images:`, "user: D"}},
		"all":            {`{"from":["all"]}`, []string{`user: From phase "a", output:` + "\nout a", `user: From phase "a", images:`, `user: From phase "b", output:` + "\nout b", "user: D"}},
		"all but one":    {`{"from":["all"],"exclude":["a"]}`, []string{`user: From phase "b", output:` + "\nout b", "user: D"}},
		"first":          {`{"from":["first"]}`, []string{`user: From phase "a", output:` + "\nout a", `user: From phase "a", images:`, "user: D"}},
		"previous":       {`{"from":["previous"]}`, []string{`user: From phase "b", output:` + "\nout b", "user: D"}},
		"state":          {`{"from":[{"phase":"a","include":["state"]}]}`, []string{`user: From phase "a", state:` + "\n" + `{"k":[1]}`, "user: D"}},
		"as system":      {`{"from":[{"phase":"b","as_role":"system"}]}`, []string{`system: From phase "b", output:` + "\nout b", "user: D"}},
		"condition":      {`{"from":[{"phase":"a","condition":"{{ state.k | length > 5 }}"},{"phase":"b","condition":"{{ state.k }}"}]}`, []string{`user: From phase "b", output:` + "\nout b", "user: D"}},
		"messages":       {`{"from":[{"phase":"a","include":["messages"]}]}`, []string{`user: From phase "a", its messages begin:`, "user: A", "assistant: thinking" + asText, "user: Tool result of echo (a1t1#0):\nr", "user: Tool result of set_state (a1t1#1):\nStored.", "assistant: out a", `user: From phase "a", its messages end.`, "user: D"}},
		"assistant only": {`{"from":[{"phase":"a","include":["messages"],"messages_filter":"assistant_only"}]}`, []string{`user: From phase "a", its messages begin:`, "assistant: thinking", "assistant: out a", `user: From phase "a", its messages end.`, "user: D"}},
		"last turn":      {`{"from":[{"phase":"a","include":["messages"],"messages_filter":"last_turn"}]}`, []string{`user: From phase "a", its messages begin:`, "assistant: out a", `user: From phase "a", its messages end.`, "user: D"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
				resp, err := call("echo", `{}`, "set_state", `{"key":"k","value":[1]}`)(req)
				d := resp.Message.Draft()
				d.Parts = echo.Text("thinking")
				resp.Message = echo.Seal(d)
				return resp, err
			}
			b := setup(t, first, say("out a"), say("out b"), say("end"))
			b.tools.add("echo", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
				return effect.ToolResult{Parts: []echo.Part{{Type: echo.PartText, Text: "r"}, image}}, nil
			})
			_, err := b.run(fmt.Sprintf(head, tc.context), nil)
			require.NoError(t, err)
			require.Equal(t, tc.want, roles(b.model.requests[3]))
		})
	}
}

func TestPromptedTools(t *testing.T) {
	t.Parallel()
	b := setup(t,
		say("Let me look.\n```json\n{\"tool\": \"echo\", \"arguments\": {\"a\": 1}}\n```\nand\n```json\n[{\"tool\":\"echo\",\"arguments\":{\"a\":2}}]\n```"),
		say("```json\n{\"tool\": \"echo\", \"arguments\": {broken}\n```"),
		say("The answer:\n```json\n{\"result\": 3}\n```"))
	b.tools.addEcho("echo")
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["echo"],"use_native_tools":false}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, res.Output, `{"result": 3}`)
	require.Empty(t, b.model.requests[0].Tools)
	require.Contains(t, roles(b.model.requests[0])[0], "Tool echo: test")
	got := roles(b.model.requests[1])
	require.True(t, strings.HasPrefix(got[2], "assistant: Let me look."))
	require.Equal(t, []string{
		"user: Tool result of echo (call_1_1_1):\necho:{\"a\": 1}", "user: Tool result of echo (call_1_1_2):\necho:{\"a\":2}",
	}, got[3:])
	require.Contains(t, strings.Join(roles(b.model.requests[2]), "\n"), "Tool error of echo (call_1_2_1):\nThe arguments of echo are not valid JSON")
	require.Len(t, b.tools.calls, 2)
}

func TestBudget(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","budget":{%s},"phases":[{"name":"a","instructions":"A","max_output_tokens":10},{"name":"b","instructions":"B"}]}`
	for name, tc := range map[string]struct{ budget, want string }{
		"usd":     {`"max_usd":0.01`, "budget reached: max_usd is $0.0100, used $0.0100"},
		"tokens":  {`"max_tokens":110`, "budget reached: max_tokens is 110 tokens, used 110 tokens"},
		"seconds": {`"max_seconds":60`, "budget reached: max_seconds is 60.0 s, used 90.0 s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := time.Unix(0, 0)
			b := setup(t, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
				clock = clock.Add(90 * time.Second)
				return say("a")(req)
			})
			b.runner.Seams.Now = func() time.Time { return clock }
			res, err := b.run(fmt.Sprintf(source, tc.budget), nil)
			var be *budget.Error
			require.ErrorAs(t, err, &be)
			require.ErrorContains(t, err, "c/b (attempt 1, turn 1): "+tc.want)
			require.Equal(t, echo.StatusOverBudget, res.Status)
			require.Equal(t, echo.StopBudget, res.Reason)
			require.Equal(t, "a", res.Output, "what was paid for is not lost")
			require.Len(t, b.model.requests, 1)
		})
	}
	b := setup(t, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := say("a")(req)
		resp.CostUSD = nil
		return resp, err
	})
	res, err := b.run(fmt.Sprintf(source, `"max_usd":5`), nil)
	require.ErrorContains(t, err, "budget max_usd $5.0000 cannot be kept: the cost of 1 call is unknown")
	require.Nil(t, res.Cost(), "unknown is not zero")
}

func TestFailuresEndTheRunWithTheirPlace(t *testing.T) {
	t.Parallel()
	provider := &effect.ModelError{Kind: echo.ModelErrAuth, Provider: "api.example.com", Model: "m", Status: 401, Unpaid: true, Message: "wrong key", Hint: "set OPENAI_API_KEY"}
	b := setup(t, refuse(provider))
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go."}]}`, nil)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): model m at api.example.com: wrong key")
	require.ErrorIs(t, err, provider)
	require.Equal(t, echo.StatusFailed, res.Status)
	e := b.entries.of(echo.NodeModelCall)[0]
	require.Zero(t, *res.Cost())
	require.Equal(t, &echo.Failure{Kind: "auth", Message: "wrong key"}, e.Error)
	require.Zero(t, *e.CostUSD, "what was refused cost nothing")
	require.Equal(t, "error", b.entries.of(echo.NodeRunEnd)[0].Error.Kind)

	b = setup(t, refuse(&effect.ModelError{Kind: echo.ModelErrTimeout, Model: "m", Message: "no answer", Err: context.DeadlineExceeded}))
	res, err = b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go."}]}`, nil)
	require.Error(t, err)
	require.Equal(t, echo.StatusFailed, res.Status, "a provider that timed out is not an interrupted run")
	require.Nil(t, b.entries.of(echo.NodeModelCall)[0].CostUSD, "an answer may have been under way")
	require.Nil(t, res.Cost(), "and so the cost of the run is unknown, too")
	require.Nil(t, b.entries.of(echo.NodePhaseEnd)[0].CostUSD)
	require.Zero(t, res.Calls, "calls are those that were answered")

	b = setup(t)
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go {{ input.service }}."}]}`, map[string]any{"servise": "x"})
	require.ErrorContains(t, err, "c/p: instructions: ")
	require.ErrorContains(t, err, "input.service")

	b = setup(t, say("x"))
	b.entries.fail = func(e *echo.Entry) error {
		if e.NodeType == echo.NodeModelCall {
			return syscall.ENOSPC
		}
		return nil
	}
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go."}]}`, nil)
	var re *effect.RecordError
	require.ErrorAs(t, err, &re)
	require.ErrorIs(t, err, syscall.ENOSPC)
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	b := setup(t, call("wait", `{}`))
	b.tools.add("wait", `{"type":"object"}`, func(ctx context.Context, _ effect.ToolRequest) (effect.ToolResult, error) {
		cancel()
		<-ctx.Done()
		return effect.ToolResult{}, ctx.Err()
	})
	res, err := b.runCtx(ctx, `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["wait"],"on_error":"p"}]}`, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, echo.StatusInterrupted, res.Status)
	require.Empty(t, b.entries.of(echo.NodeToolCall), "an effect that was cut off has no outcome")
	require.Equal(t, "interrupted", b.entries.of(echo.NodeRunEnd)[0].Error.Kind)
}

// A model call that an interrupt cuts off is not a failure of the provider, whatever the adapter
// wraps it in.
func TestInterruptedModelCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	b := setup(t, func(*effect.ModelRequest) (*effect.ModelResponse, error) {
		cancel()
		return nil, &effect.ModelError{Kind: echo.ModelErrTimeout, Message: "the call was ended", Err: ctx.Err()}
	})
	res, err := b.runCtx(ctx, `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go."}]}`, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, echo.StatusInterrupted, res.Status)
	require.Empty(t, b.entries.of(echo.NodeModelCall))
}

func TestVerdictErrorHoldsAnExcerpt(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("y\n", 1000) + "[timed out]"
	require.ErrorContains(t, &core.VerdictError{Check: "loop_until command:x", Attempts: 1, Reason: lines}, "[... 981 lines left out ...]")
}

func TestCallouts(t *testing.T) {
	t.Parallel()
	b := setup(t, say("found it"), say("end"))
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","callouts":"Finding {{ input.n }}","context":{"include_input":false}},
		{"name":"q","instructions":"End.","callouts":{"messages":"step","messages_filter":"assistant_only"},"context":{"include_input":false}}]}`, map[string]any{"n": 1})
	require.NoError(t, err)
	calls := b.entries.of(echo.NodeCallout)
	require.Len(t, calls, 2)
	require.JSONEq(t, `{"name":"Finding 1"}`, string(calls[0].Data))
	require.Equal(t, b.entries.of(echo.NodeModelCall)[0].ContentHash, calls[0].ContentHash)
	require.Equal(t, b.entries.of(echo.NodeModelCall)[1].ContentHash, calls[1].ContentHash)
}

func TestModelChoice(t *testing.T) {
	t.Parallel()
	b := setup(t, say("a"), say("b"), say("d"))
	b.runner.PhaseModels = map[string]string{"d": "forced"}
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A"},{"name":"b","instructions":"B","model":"own"},{"name":"d","instructions":"D","model":"own"}]}`, nil)
	require.NoError(t, err)
	var models []string
	for _, r := range b.model.requests {
		models = append(models, r.Model)
	}
	require.Equal(t, []string{"m", "own", "forced"}, models)
}

func TestRequestHashCoversWhatIsSent(t *testing.T) {
	t.Parallel()
	base := func() *effect.ModelRequest {
		return &effect.ModelRequest{
			Model: "m", Messages: []*echo.Message{echo.NewText(echo.RoleUser, echo.KindTask, "x")},
			Tools: []effect.ToolSpec{{Name: "t", Parameters: json.RawMessage(`{}`)}},
		}
	}
	want := base().Hash()
	require.Len(t, want, 64)
	half := 0.5
	for name, change := range map[string]func(*effect.ModelRequest){
		"model":       func(r *effect.ModelRequest) { r.Model = "n" },
		"message":     func(r *effect.ModelRequest) { r.Messages[0] = echo.NewText(echo.RoleUser, echo.KindTask, "y") },
		"tools":       func(r *effect.ModelRequest) { r.Tools[0].Description = "d" },
		"tool choice": func(r *effect.ModelRequest) { r.NoToolCalls = true },
		"temperature": func(r *effect.ModelRequest) { r.Temperature = &half },
		"limit":       func(r *effect.ModelRequest) { r.MaxOutputTokens = 1 },
		"options":     func(r *effect.ModelRequest) { r.Options = map[string]json.RawMessage{"top_p": json.RawMessage(`1`)} },
	} {
		r := base()
		change(r)
		require.NotEqual(t, want, r.Hash(), name)
	}
	r := base()
	r.Site = effect.Site{Phase: "elsewhere"}
	require.Equal(t, want, r.Hash(), "the place is not sent")
	r.ToolsDigest = effect.DigestTools(r.Tools)
	require.Equal(t, want, r.Hash(), "the digest made beforehand is the same")
}
