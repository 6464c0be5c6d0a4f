package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/verdict"
)

// What a validator says is read in one way, whoever says it.
func TestVerdictTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]echo.Verdict{
		`{"valid":true}`: {Valid: true},
		`{"valid":true,"reason":"fine","score":7}`:                            {Valid: true, Reason: "fine"},
		`{"valid":false,"reason":"too short"}`:                                {Reason: "too short"},
		`{"valid":false}`:                                                     {Reason: "no reason was given"},
		`{"valid":false,"reason":" "}`:                                        {Reason: "no reason was given"},
		`{"valid":false,"reason":null}`:                                       {Reason: "no reason was given"},
		`{"valid":false,"reason":["a","b"]}`:                                  {Reason: `["a","b"]`},
		`{"valid":false,"reason":3}`:                                          {Reason: "3"},
		`{"valid":"true"}`:                                                    {Valid: true},
		`{"valid":"False","reason":"no"}`:                                     {Reason: "no"},
		"Sure!\n```json\n{\"valid\": true}\n```\nBye.":                        {Valid: true},
		`I think {x} of {"a":1}. {"valid":false,"reason":"b"} {"valid":true}`: {Reason: "b"},
		`{"result":{"valid":true,"reason":"inside"}}`:                         {Valid: true, Reason: "inside"},
		`[{"n":1},{"valid":true}]`:                                            {Valid: true},
		`"{\"valid\":true}"`:                                                  {Reason: `"{\"valid\":true}"`},
		`{"valid":1}`:                                                         {Reason: `{"valid":1}`},
		`{"valid":null,"reason":"x"}`:                                         {Reason: `{"valid":null,"reason":"x"}`},
		`{"Valid":true}`:                                                      {Reason: `{"Valid":true}`},
		`{"valid":true`:                                                       {Reason: `{"valid":true`},
		`true`:                                                                {Reason: "true"},
		`yes, it is valid`:                                                    {Reason: "yes, it is valid"},
		"\x00\xff":                                                            {Reason: "\x00\uFFFD"},
		"":                                                                    {Reason: "the validator lint did not give a verdict"},
		" \n ":                                                                {Reason: "the validator lint did not give a verdict"},
		strings.Repeat(`{"a":`, 20_000) + "1":                                 {Reason: "…"},
		strings.Repeat("{", 200_000) + `"valid":true}`:                        {Valid: true},
		strings.Repeat("line\n", 300) + `{"valid":false,"reason":"at last"}`:      {Reason: "at last"},
		`{"valid":false,"reason":"` + strings.Repeat(`line\n`, 300) + `the end"}`: {Reason: "[... 202 lines left out ...]\n" + strings.Repeat("line\n", 98) + "the end"},
	} {
		t.Run(fmt.Sprintf("%.60q", text), func(t *testing.T) {
			t.Parallel()
			b := setup(t, say("hello"))
			b.lints(text)
			_, err := b.run(warded(`{"post":[{"validator":"lint","mode":"advisory"}]}`, ""), atHome)
			require.NoError(t, err)
			var got echo.Verdict
			require.NoError(t, json.Unmarshal(b.entries.of(echo.NodeVerdict)[0].Data, &got))
			require.Equal(t, want.Valid, got.Valid)
			if strings.HasPrefix(want.Reason, "…") {
				require.Less(t, len(got.Reason), 9_000)
				return
			}
			require.Equal(t, want.Reason, got.Reason)
		})
	}
}

// A person is told of a validator that gives no verdict.
func TestNoVerdictIsAWarning(t *testing.T) {
	t.Parallel()
	b := setup(t, say("hello"))
	b.lints("fine\nby me")
	_, err := b.run(checking(`"loop_until":"lint"`, ""), nil)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): no answer passed loop_until lint in 1 attempt: fine\nby me")
	require.Equal(t, []string{
		`p/attempt1/turn1/validate/lint/warning: validator lint answered without {"valid": true or false, "reason": "..."}, so its text is why it rejects: fine by me`,
	}, b.warnings())
}

// A validator that fails rejects what it was to judge; what it says of itself is told as its own failure.
func TestValidatorsThatFail(t *testing.T) {
	t.Parallel()
	result := func(text string, failed bool) func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
			return effect.ToolResult{Parts: echo.Text(text), Failed: failed}, nil
		}
	}
	for name, tc := range map[string]struct {
		validator, printed, want string
		failed                   bool
	}{
		"a command that passes":         {"command:true", "ok", "", false},
		"a command that says otherwise": {"command:true", no, "no good", false},
		"a command that fails":          {"command:false", "[exit status 1]", "[exit status 1]", true},
		"a command that is not found":   {"command:mkae", "sh: mkae: not found\n[exit status 127]", "the validator could not run: sh: mkae: not found\n[exit status 127]", true},
		"a command that cannot be run":  {"command:./x", "sh: ./x: Permission denied\n[exit status 126]", "the validator could not run: sh: ./x: Permission denied\n[exit status 126]", true},
		"a template that fails":         {"command:x {{ input.nothing }}", "", "the validator could not run: loop_until: template, line 1, column 6: variable \"input.nothing\" is missing", false},
		"a tool that fails":             {"lint", yes, yes, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, say("a"), say("b"))
			b.tools.add("lint", `{"type":"object"}`, result(tc.printed, tc.failed))
			b.tools.add(effect.CommandTool, `{"type":"object"}`, result(tc.printed, tc.failed))
			_, err := b.run(checking(fmt.Sprintf(`"loop_until":%q,"max_attempts":2`, tc.validator), ""), nil)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "c/p (attempt 2, turn 1): no answer passed loop_until "+tc.validator+" in 2 attempts: "+tc.want)
			require.Contains(t, lastOf(b, 1), "Your answer was not accepted: "+tc.want)
		})
	}
}

// The model of a validator that cannot be reached rejects, and a run that fails of it can be resumed. A
// script without an answer ends the run, and so does a failed call where money is limited and nobody
// knows what it cost.
func TestValidatorWhoseModelFails(t *testing.T) {
	t.Parallel()
	fails := func(kind echo.ModelErrorKind, unpaid bool) byModel {
		return byModel{"m": say("hello"), "fair": refuse(&effect.ModelError{Kind: kind, Model: "fair", Provider: "p", Message: "away", Unpaid: unpaid})}
	}
	const rules = `,"rules":{"loop_until":"fair","max_attempts":2}`
	for name, tc := range map[string]struct {
		model  byModel
		budget string
		calls  int
		want   string
	}{
		"unpaid":             {fails(echo.ModelErrServer, true), `"max_usd":1`, 2, "no answer passed loop_until fair in 2 attempts: the validator could not run: model fair at p: away"},
		"perhaps paid":       {fails(echo.ModelErrTimeout, false), `"max_tokens":100000`, 2, "no answer passed loop_until fair in 2 attempts: the validator could not run: model fair at p: away"},
		"perhaps paid, USD":  {fails(echo.ModelErrTimeout, false), `"max_usd":1`, 1, "validator fair: model fair at p: away"},
		"a script's mistake": {fails(echo.ModelErrScript, true), `"max_usd":1`, 1, "validator fair: model fair at p: away"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.runner.Model = tc.model
			source := `{"budget":{` + tc.budget + `},` + warded("{}", rules)[1:]
			res, err := b.run(source, atHome)
			require.ErrorContains(t, err, "): "+tc.want)
			require.Equal(t, []any{echo.StopError, tc.calls}, []any{res.Reason, res.Calls})
			past := b.entries.asRead(t)
			require.NoError(t, CheckResumable(past))

			c := &cascade.Cascade{}
			require.NoError(t, json.Unmarshal([]byte(source), c))
			b.runner.Model = byModel{"m": refuse(errors.New("its answers are recorded")), "fair": say(yes)}
			log := echo.ContinueLog("s1", uint64(len(past)), nil, nil, b.entries)
			res, err = b.runner.Run(t.Context(), Spec{Cascade: c, Input: atHome, Log: log, WorkDir: "/scratch", Recording: past})
			require.NoError(t, err)
			require.Equal(t, "hello", res.Output)
			b.checkReplay(c, atHome, res, nil)
		})
	}
}

// An inline validator sees what it judges by each of its names, and the newest images.
func TestWhatInlineValidatorsSee(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ instructions, want string }{
		"by its name":          {"{{ content }}/{{ original_input.where }}/{{ image_count }}", "hello/home/4"},
		"as input":             {"{{ input.content }}/{{ input.original_input.where }}/{{ input.has_images }}", "hello/home/true"},
		"the run's input":      {"{{ input.where }}", "home\n\nThe answer to judge:\nhello"},
		"not at all":           {"Judge.", "Judge.\n\nThe answer to judge:\nhello"},
		"with all of input":    {"{{ input | length }}", "5"},
		"in a branch of an if": {"{% if has_images %}{{ input.content }}{% endif %}", "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, call("see", `{"n":1}`), call("see", `{"n":2}`), say("hello"), say(yes))
			b.tools.add("see", `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
				image := echo.Part{Type: echo.PartImage, URL: "data:image/png;base64,AA" + string(req.Arguments[5]) + "="}
				return effect.ToolResult{Parts: append(echo.Text("here"), image, image)}, nil
			})
			_, err := b.run(fmt.Sprintf(`{"cascade_id":"c","validators":{"v":{"instructions":%q}},"phases":[
				{"name":"p","instructions":"Go.","tackle":["see"],"rules":{"loop_until":"v"}}]}`, tc.instructions), atHome)
			require.NoError(t, err)
			sent := b.model.requests[3].Messages
			require.Len(t, sent, 3)
			require.Equal(t, tc.want, sent[2].Text())
			require.Equal(t, "The newest 3 of 4 images:", sent[1].Text())
			var urls []string
			for _, p := range verdict.Images(sent[1]) {
				urls = append(urls, p.URL[len("data:image/png;base64,"):])
			}
			require.Equal(t, []string{"AA1=", "AA2=", "AA2="}, urls)
		})
	}
}

// A model that is known to take no images is sent none, and still told that there are some.
func TestValidatorWithoutImages(t *testing.T) {
	t.Parallel()
	b := setup(t, call("see", `{}`), say("hello"), say(yes))
	b.runner.Facts = func(model string) effect.ModelFacts { return effect.ModelFacts{NoImages: model == "reader"} }
	b.tools.add("see", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: []echo.Part{{Type: echo.PartImage, URL: "data:image/png;base64,AAAA"}}}, nil
	})
	_, err := b.run(`{"cascade_id":"c","validators":{"v":{"instructions":"{{ content }} {{ image_count }}","model":"reader"}},"phases":[
		{"name":"p","instructions":"Go.","tackle":["see"],"rules":{"loop_until":"v"}}]}`, nil)
	require.NoError(t, err)
	require.Len(t, b.model.requests[2].Messages, 2)
	require.Equal(t, "hello 1", lastOf(b, 2))
}

// Tools see what their schema names; what tools answered in a turn is cut where it is long.
func TestWhatToolsAreAsked(t *testing.T) {
	t.Parallel()
	b := setup(t, call("look", `{}`, "look", `{"n":1}`, "fails", `{}`), say("done"))
	b.tools.add("look", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text(strings.Repeat("x", 10_000))}, nil
	})
	b.tools.add("fails", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text("broken"), Failed: true}, nil
	})
	asked := b.lints(yes)
	_, err := b.run(warded(`{"turn":[{"validator":"lint"}]}`, `,"tackle":["look","fails"]`), atHome)
	require.NoError(t, err)
	long := "[Result of look]\n" + strings.Repeat("x", 8_000) + "…\n\n"
	require.Equal(t, []string{long + long + "[Result of fails, which failed]\nbroken", "done"}, contents(t, *asked))
	require.Contains(t, (*asked)[1], `{"content":"done","has_images":false,"image_count":0,"original_input":{"where":"home"}}`)

	var many []string
	for range 12 {
		many = append(many, "look", `{}`)
	}
	b = setup(t, call(many...), say("done"))
	b.tools.add("look", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text(strings.Repeat("x", 10_000))}, nil
	})
	asked = b.lints(yes)
	_, err = b.run(warded(`{"turn":[{"validator":"lint"}]}`, `,"tackle":["look"]`), atHome)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(contents(t, *asked)[0], "x…\n\n[4 more results left out]"))
}

// When no attempt has passed, the last answer is the output where the phase says so.
func TestOnExhausted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rules, more string
		answers     []answerFunc
		want        any
		warning     string
	}{
		"loop_until": {
			`"on_exhausted":"continue","loop_until":"regex:42","max_attempts":2`, "",
			[]answerFunc{say("1"), say("2")},
			"2",
			`p/attempt2/turn1/verdict/regex:42/warning: no answer passed loop_until regex:42 in 2 attempts, and the last one is the output, as on_exhausted is continue: the answer does not match the regular expression 42`,
		},
		"a value that its schema refuses": {
			`"on_exhausted":"continue","max_attempts":1`, `,"output_schema":{"type":"object","required":["a"]}`,
			[]answerFunc{say("It is\n```json\n{\"b\":1}\n```")},
			map[string]any{"b": json.Number("1")},
			"p/attempt1/turn1/verdict/output_schema/warning: no answer passed output_schema in 1 attempt, and the last one is the output, as on_exhausted is continue: it does not match the schema:\n- missing required property \"a\"",
		},
		"no value": {
			`"on_exhausted":"continue","max_attempts":1`, `,"output_schema":{"type":"object"}`,
			[]answerFunc{say("no JSON")},
			"no JSON",
			"p/attempt1/turn1/verdict/output_schema/warning: no answer passed output_schema in 1 attempt, and the last one is the output, as on_exhausted is continue: it is not JSON: there is no JSON value in the text. Answer with one JSON value that matches the schema, and nothing else.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tc.answers...)
			res, err := b.run(checking(tc.rules, tc.more), nil)
			require.NoError(t, err)
			require.Equal(t, tc.want, res.Output)
			require.Equal(t, []any{echo.StatusCompleted, echo.StopExhausted}, []any{res.Phases[0].Status, res.Phases[0].Reason})
			require.Equal(t, []string{tc.warning}, b.warnings())
			require.Equal(t, echo.StopEndOfCascade, res.Reason)
		})
	}

	// An empty answer is none, and wards see what is taken.
	b := setup(t, say(""), say(""))
	_, err := b.run(checking(`"on_exhausted":"continue"`, ""), nil)
	require.ErrorContains(t, err, "the answer is empty in 2 attempts")
	b = setup(t, say("1"), say("2"), say("3"))
	b.lints(no, yes)
	res, err := b.run(warded(`{"post":[{"validator":"lint","mode":"retry"}]}`, `,"rules":{"loop_until":"regex:42","on_exhausted":"continue"}`), atHome)
	require.NoError(t, err)
	require.Equal(t, []any{"2", 2}, []any{res.Output, res.Phases[0].Attempts})
	b = setup(t, say("1"))
	b.lints(no)
	_, err = b.run(warded(`{"post":[{"validator":"lint"}]}`, `,"rules":{"loop_until":"regex:42","on_exhausted":"continue"}`), atHome)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): ward lint (post) rejected the output: no good")
}
