package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// warded is a cascade of one phase with wards; fair and safe are validators that ask the models of
// these names.
func warded(wards, more string) string {
	return fmt.Sprintf(`{"cascade_id":"c","validators":{
		"fair":{"instructions":"Fair? {{ content }}","model":"fair"},"safe":{"instructions":"Safe? {{ content }}","model":"safe"}},
		"tools":[{"tool_id":"lint","type":"shell","command":"true"}],
		"phases":[{"name":"p","instructions":"Go to {{ input.where }}.","wards":%s%s}]}`, wards, more)
}

// verdicts are what wards and checks have said, as "KEY MODE VALID".
func (b *testBundle) verdicts() []string {
	b.t.Helper()
	var out []string
	for _, e := range b.entries.of(echo.NodeVerdict) {
		d, err := echo.Read[echo.Verdict](e)
		require.NoError(b.t, err)
		out = append(out, fmt.Sprintf("%s %s %s %v", e.Key, d.Ward, d.Mode, d.Valid))
	}
	return out
}

func (b *testBundle) warnings() []string {
	b.t.Helper()
	var out []string
	for _, e := range b.entries.of(echo.NodeWarning) {
		d, err := echo.Read[echo.Warning](e)
		require.NoError(b.t, err)
		out = append(out, e.Key.String()+": "+d.Message)
	}
	return out
}

// lints adds the tool lint, a validator that gives these verdicts and keeps what it was asked.
func (b *testBundle) lints(verdicts ...string) (asked *[]string) {
	asked = &[]string{}
	b.tools.add("lint", `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		*asked = append(*asked, string(req.Arguments))
		return effect.ToolResult{Parts: echo.Text(verdicts[min(len(*asked), len(verdicts))-1])}, nil
	})
	return asked
}

const (
	yes = `{"valid":true}`
	no  = `{"valid":false,"reason":"no good"}`
)

var atHome = map[string]any{"where": "home"}

// contents returns what a validator was asked to judge.
func contents(t *testing.T, asked []string) []string {
	t.Helper()
	out := make([]string, len(asked))
	for i, a := range asked {
		var in struct{ Content string }
		require.NoError(t, json.Unmarshal([]byte(a), &in))
		out[i] = in.Content
	}
	return out
}

// What the wards of each moment see, and where their verdicts stand.
func TestWardsSee(t *testing.T) {
	t.Parallel()
	b := setup(t, call("look", `{"n":1}`), say(`{"n": 7}`))
	b.tools.addEcho("look")
	asked := b.lints(yes)
	res, err := b.run(warded(`{"pre":[{"validator":"lint"}],"turn":[{"validator":"non_empty"},{"validator":"lint"}],"post":[{"validator":"lint"}]}`,
		`,"tackle":["look"],"output_schema":{"type":"object"}`), atHome)
	require.NoError(t, err)
	require.Equal(t, echo.StatusCompleted, res.Status)
	require.Equal(t, []string{
		`{"input":{"where":"home"},"instructions":"Go to home."}`, "[Result of look]\nlook:{\"n\":1}", `{"n": 7}`, `{"n":7}`,
	}, contents(t, *asked))
	require.Equal(t, []string{
		"p/ward1/verdict/lint pre blocking true",
		"p/attempt1/turn1/ward2/verdict/non_empty turn blocking true", "p/attempt1/turn1/ward3/verdict/lint turn blocking true",
		"p/attempt1/turn2/ward2/verdict/non_empty turn blocking true", "p/attempt1/turn2/ward3/verdict/lint turn blocking true",
		"p/attempt1/turn2/verdict/output_schema   true",
		"p/attempt1/turn2/ward4/verdict/lint post blocking true",
	}, b.verdicts())
}

// A ward that blocks ends the phase, before anything more is paid.
func TestBlockingWards(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wards, want string
		calls       int
	}{
		"pre":                 {`{"pre":[{"validator":"lint"}]}`, "c/p: ward lint (pre) rejected the input: no good", 0},
		"pre, as retry":       {`{"pre":[{"validator":"lint","mode":"retry"}]}`, "c/p: ward lint (pre) rejected the input: no good", 0},
		"turn":                {`{"turn":[{"validator":"lint"}]}`, "c/p (attempt 1, turn 1): ward lint (turn) rejected the answer: no good", 1},
		"post":                {`{"post":[{"validator":"lint","mode":"blocking"}]}`, "c/p (attempt 1, turn 1): ward lint (post) rejected the output: no good", 1},
		"the first of two":    {`{"post":[{"validator":"min_words:9"},{"validator":"lint"}]}`, "c/p (attempt 1, turn 1): ward min_words:9 (post) rejected the output: the answer has 1 word, at least 9 are needed", 1},
		"beside one to retry": {`{"post":[{"validator":"min_words:9","mode":"retry"},{"validator":"lint"}]}`, "c/p (attempt 1, turn 1): ward lint (post) rejected the output: no good", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, say("hello"))
			b.lints(no)
			res, err := b.run(warded(tc.wards, ""), atHome)
			require.EqualError(t, err, tc.want)
			var ward *core.WardError
			require.ErrorAs(t, err, &ward)
			require.Equal(t, []any{echo.StatusFailed, echo.StopWard, tc.calls}, []any{res.Status, res.Reason, res.Calls})
			require.Equal(t, echo.StopWard, res.Phases[0].Reason)
			require.ErrorContains(t, CheckResumable(b.entries.list), "the run failed (ward)")
		})
	}
}

// A phase that a ward has failed goes to on_error.
func TestOnErrorOfAWard(t *testing.T) {
	t.Parallel()
	b := setup(t, say("sorry"))
	b.lints(no)
	res, err := b.run(warded(`{"pre":[{"validator":"lint"}]}`, `,"on_error":{"name":"mend","instructions":"Mend."}`), atHome)
	require.NoError(t, err)
	require.Equal(t, "sorry", res.Output)
}

// A ward that retries begins attempts of its own, which no other check counts.
func TestRetryingWards(t *testing.T) {
	t.Parallel()
	b := setup(t, say("a"), say("b"), say("c"))
	b.lints(no, no, yes)
	res, err := b.run(warded(`{"post":[{"validator":"lint","mode":"retry","max_attempts":2}]}`, ""), atHome)
	require.NoError(t, err)
	require.Equal(t, []any{"c", 3, echo.StopAnswered}, []any{res.Output, res.Phases[0].Attempts, res.Phases[0].Reason})
	require.Equal(t, "Your answer was not accepted: no good\n\nCorrect this and give the complete answer again.", lastOf(b, 1))

	// Once, if nothing else is said; then it blocks.
	b = setup(t, say("a"), say("b"))
	b.lints(no)
	_, err = b.run(warded(`{"turn":[{"validator":"lint","mode":"retry"}]}`, ""), atHome)
	require.EqualError(t, err, "c/p (attempt 2, turn 1): ward lint (turn) rejected the answer 2 times: no good")

	// The attempts of loop_until are its own, too.
	b = setup(t, say("a"), say("b x"), say("c"), say("d x"))
	b.lints(no, yes)
	res, err = b.run(warded(`{"post":[{"validator":"lint","mode":"retry"}]}`, `,"rules":{"loop_until":"min_words:2","max_attempts":3}`), atHome)
	require.NoError(t, err)
	require.Equal(t, []any{"d x", 4}, []any{res.Output, res.Phases[0].Attempts})
	b = setup(t, say("a"), say("b x"), say("c"))
	b.lints(no, yes)
	_, err = b.run(warded(`{"post":[{"validator":"lint","mode":"retry"}]}`, `,"rules":{"loop_until":"min_words:2","max_attempts":2}`), atHome)
	require.EqualError(t, err, "c/p (attempt 3, turn 1): no answer passed loop_until min_words:2 in 3 attempts: the answer has 1 word, at least 2 are needed")

	// Several at once: the model is told of all, and each counts for itself.
	b = setup(t, say("a"), say("b c d"))
	b.lints(no, yes)
	_, err = b.run(warded(`{"turn":[{"validator":"lint","mode":"retry"},{"validator":"min_words:3","mode":"retry"}]}`, ""), atHome)
	require.NoError(t, err)
	require.Contains(t, lastOf(b, 1), "not accepted: no good\n\nthe answer has 1 word, at least 3 are needed\n\nCorrect")
}

// A ward in the middle of an attempt ends it: tools are called anew.
func TestRetryingWardOfATurn(t *testing.T) {
	t.Parallel()
	b := setup(t, call("look", `{}`), say("done"))
	b.tools.addEcho("look")
	b.lints(no, yes)
	res, err := b.run(warded(`{"turn":[{"validator":"lint","mode":"retry"}]}`, `,"tackle":["look"]`), atHome)
	require.NoError(t, err)
	require.Equal(t, []any{"done", 2, 2}, []any{res.Output, res.Phases[0].Attempts, res.Phases[0].Turns})
	require.Equal(t, []string{"p/attempt1/turn1/model", "p/attempt2/turn1/model"}, b.entries.keys(echo.NodeModelCall))
}

// A ward that advises is a warning, and nothing else.
func TestAdvisoryWards(t *testing.T) {
	t.Parallel()
	b := setup(t, say("a"))
	b.lints(no)
	res, err := b.run(warded(`{"pre":[{"validator":"lint","mode":"advisory"}],"post":[{"validator":"lint","mode":"advisory"}]}`, ""), atHome)
	require.NoError(t, err)
	require.Equal(t, "a", res.Output)
	require.Equal(t, []string{
		"p/ward1/warning: ward lint (pre) advises against the input: no good",
		"p/attempt1/turn1/ward2/warning: ward lint (post) advises against the output: no good",
	}, b.warnings())
}

// Wards of a phase without a model see its inputs, before it runs, and its result.
func TestWardsOfAToolPhase(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","tools":[{"tool_id":"lint","type":"shell","command":"true"}],"phases":[
		{"name":"p","tool":"look","inputs":{"at":"{{ input.where }}"},"wards":%s}]}`
	b := setup(t)
	b.tools.addEcho("look")
	asked := b.lints(yes, no, yes)
	res, err := b.run(fmt.Sprintf(source, `{"pre":[{"validator":"lint"}],"post":[{"validator":"lint","mode":"retry"}]}`), atHome)
	require.NoError(t, err)
	require.Equal(t, []string{`{"input":{"where":"home"},"inputs":{"at":"home"}}`, `look:{"at":"home"}`, `look:{"at":"home"}`}, contents(t, *asked))
	require.Equal(t, []any{2, echo.StopToolResult}, []any{res.Phases[0].Attempts, res.Phases[0].Reason})
	require.Equal(t, []string{"p/ward1/verdict/lint pre blocking true", "p/attempt1/ward2/verdict/lint post retry false", "p/attempt2/ward2/verdict/lint post retry true"}, b.verdicts())

	b = setup(t)
	b.tools.addEcho("look")
	b.lints(no)
	res, err = b.run(fmt.Sprintf(source, `{"pre":[{"validator":"lint"}]}`), atHome)
	require.EqualError(t, err, "c/p: ward lint (pre) rejected the input: no good")
	require.Equal(t, echo.StopWard, res.Reason)
	require.Len(t, b.tools.calls, 1, "the tool did not run")
}

// The wards of an element see that element and no other.
func TestWardsOfAnElement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.runner.Model = byModel{"m": say("hello")}
	var mu sync.Mutex
	var asked []string
	b.tools.add("lint", `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, string(req.Arguments))
		return effect.ToolResult{Parts: echo.Text(yes)}, nil
	})
	res, err := b.run(`{"cascade_id":"c","tools":[{"tool_id":"lint","type":"shell","command":"true"}],"phases":[
		{"name":"p","instructions":"Go to {{ place }}.","for_each":{"items":"input.places","as":"place"},"wards":{"pre":[{"validator":"lint"}],"post":[{"validator":"lint"}]}}]}`,
		map[string]any{"places": []any{"Rome", "Oslo"}})
	require.NoError(t, err)
	require.Equal(t, []any{"hello", "hello"}, res.Output)
	require.ElementsMatch(t, []string{`{"instructions":"Go to Rome.","item":"Rome"}`, `{"instructions":"Go to Oslo.","item":"Oslo"}`, "hello", "hello"}, contents(t, asked))
	require.ElementsMatch(t, []string{
		"p/item1/ward1/verdict/lint pre blocking true", "p/item1/attempt1/turn1/ward2/verdict/lint post blocking true",
		"p/item2/ward1/verdict/lint pre blocking true", "p/item2/attempt1/turn1/ward2/verdict/lint post blocking true",
	}, b.verdicts())
}

// An inline validator of a phase without a model asks the model of the run.
func TestInlineWardOfAToolPhase(t *testing.T) {
	t.Parallel()
	b := setup(t, say(yes))
	b.tools.addEcho("look")
	_, err := b.run(`{"cascade_id":"c","validators":{"v":{"instructions":"Good?"}},"phases":[{"name":"p","tool":"look","wards":{"post":[{"validator":"v"}]}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "m", b.model.requests[0].Model)
	require.Contains(t, lastOf(b, 0), "The output to judge:\nlook:{}")
}

// What wards cost is in their verdicts, and in the sums of the phase and the run.
func TestCostOfWards(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.runner.Model = byModel{"m": say("hello"), "fair": say(yes), "safe": say(yes)}
	res, err := b.run(warded(`{"pre":[{"validator":"fair"}],"post":[{"validator":"safe"},{"validator":"non_empty"}]}`, ""), atHome)
	require.NoError(t, err)
	require.Equal(t, 3, res.Calls)
	require.Equal(t, res.Totals, res.Phases[0].Totals)
	var costs []float64
	for _, e := range b.entries.of(echo.NodeVerdict) {
		d, err := echo.Read[echo.Verdict](e)
		require.NoError(t, err)
		costs = append(costs, *d.CostUSD)
	}
	require.Equal(t, []float64{callCost, callCost, 0}, costs)
	require.ElementsMatch(t, []string{"p/ward1/validate/fair/model", "p/attempt1/turn1/model", "p/attempt1/turn1/ward2/validate/safe/model"}, b.entries.keys(echo.NodeModelCall))
	for _, e := range b.entries.of(echo.NodeModelCall) {
		if e.Key.Validator() != "" {
			require.Equal(t, echo.PurposeValidator, e.Key.Purpose())
		}
	}
}

// byModel answers each model in its own way, in any order.
type byModel map[string]answerFunc

func (m byModel) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	return m[req.Model](req)
}

// A budget stops a run inside of a ward, and the run continues there.
func TestBudgetStopsInsideAWard(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.runner.Model = byModel{"m": say("hello"), "fair": say(yes)}
	res, err := b.run(`{"budget":{"max_tokens":600},`+warded(`{"post":[{"validator":"fair"}]}`, "")[1:], atHome)
	var over *budget.Error
	require.ErrorAs(t, err, &over)
	require.Equal(t, []any{echo.StatusOverBudget, 1}, []any{res.Status, res.Calls})
	require.NoError(t, CheckResumable(b.entries.list))
}

// A ward whose model cannot be reached rejects; the run that fails of it asks again when it is resumed.
func TestWardThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	down := &effect.ModelError{Kind: echo.ModelErrServer, Model: "fair", Provider: "p", Message: "overloaded", Unpaid: true}
	b := setup(t)
	b.runner.Model = byModel{"m": say("hello"), "fair": refuse(down)}
	res, err := b.run(warded(`{"post":[{"validator":"fair"}]}`, ""), atHome)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): ward fair (post) rejected the output: the validator could not run: model fair at p: overloaded")
	require.Equal(t, echo.StopError, res.Reason, "it was not the ward")
	require.True(t, errors.As(err, new(*effect.ModelError)))
	past := b.entries.asRead(t)
	require.NoError(t, CheckResumable(past))
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(warded(`{"post":[{"validator":"fair"}]}`, "")), c))
	b.runner.Model = byModel{"m": refuse(errors.New("its answer is recorded")), "fair": say(yes)}
	res, err = b.runner.Run(t.Context(), Spec{Cascade: c, Input: atHome, Log: echo.ContinueLog("s1", uint64(len(past)), nil, nil, b.entries), WorkDir: "/scratch", Recording: past})
	require.NoError(t, err)
	require.Equal(t, "hello", res.Output)
	b.checkReplay(c, atHome, res, nil)

	b = setup(t)
	b.runner.Model = byModel{"m": say("hello"), "fair": refuse(down)}
	_, err = b.run(warded(`{"post":[{"validator":"fair","mode":"advisory"}]}`, ""), atHome)
	require.NoError(t, err)
	require.Equal(t, []string{"p/attempt1/turn1/ward1/warning: ward fair (post) advises against the output: the validator could not run: model fair at p: overloaded"}, b.warnings())
}

// Complete answers by model and place: a run that is killed anywhere gets the same answers again.
func (w *wardedWorld) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	s := req.Site
	place := fmt.Sprintf("%s %s %d.%d %s", req.Model, s.Phase, s.Attempt, s.Turn, s.Validator)
	w.mu.Lock()
	w.asked[place]++
	w.mu.Unlock()
	switch {
	case s.Validator == "" && s.Attempt == 1 && s.Turn == 1:
		return call("set_state", `{"key":"n","value":1}`)(req)
	case s.Validator == "":
		return say("an answer " + place)(req)
	case s.Validator == "safe" && s.Attempt == 1:
		return say(no)(req)
	}
	return say(yes)(req)
}

// wardedWorld counts the calls by their places.
type wardedWorld struct {
	mu    sync.Mutex
	asked map[string]int
}

// Wherever a process dies, within wards too, the run comes to the same end, and nothing is asked twice.
func TestResumeAmongWards(t *testing.T) {
	t.Parallel()
	source := warded(`{"pre":[{"validator":"fair"},{"validator":"safe","mode":"advisory"}],"turn":[{"validator":"fair"},{"validator":"lint","mode":"advisory"}],
		"post":[{"validator":"safe","mode":"retry"},{"validator":"fair","mode":"advisory"}]}`, `,"tackle":["set_state"],"rules":{"loop_until":"fair","max_attempts":2}`)
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	run := func(t *testing.T, past []*echo.Entry) (*wardedWorld, *inMemory, *Result) {
		t.Helper()
		b := setup(t)
		b.lints(no)
		w := &wardedWorld{asked: map[string]int{}}
		b.runner.Model = w
		b.entries.list = append(b.entries.list, past...)
		now := ticking()
		b.runner.Seams.Now = now
		log := echo.ContinueLog("s1", uint64(len(past)), now, nil, b.entries)
		res, err := b.runner.Run(t.Context(), Spec{Cascade: c, Input: atHome, Log: log, WorkDir: "/scratch", Recording: past})
		require.NoError(t, err)
		checkFold(t, b.entries.asRead(t), res)
		b.checkReplay(c, atHome, res, nil)
		return w, b.entries, res
	}
	first, whole, res := run(t, nil)
	require.Equal(t, 2, res.Phases[0].Attempts)
	entries := whole.asRead(t)
	for cut := 1; cut < len(entries); cut++ {
		past := (&inMemory{list: entries[:cut]}).asRead(t)
		second, sink, again := run(t, past)
		require.Equal(t, shape(entries), shape(sink.list), "after entry %d", cut)
		require.Equal(t, res.Totals, again.Totals)
		require.Equal(t, sum(first.asked), sum(second.asked)+len((&inMemory{list: past}).of(echo.NodeModelCall)), "after entry %d", cut)
	}
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// judges is a program that runs validators that are cascades: all it knows of one is its outcome.
type judges struct {
	mu    sync.Mutex
	out   func(c *Child) (*effect.ChildOutcome, error)
	asked []*Child
}

func (j *judges) Begin(context.Context, *Child) {}

func (j *judges) Wait(_ context.Context, c *Child) (*effect.ChildOutcome, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, c)
	return j.out(c)
}

func (j *judges) Settle(context.Context) {}

func (j *judges) Find(context.Context, string) echo.FoundCascade { return echo.FoundCascade{} }

func (j *judges) Read(*echo.FoundCascade) (*cascade.Reached, error) { return nil, errors.New("unused") }

func judged(output any) func(c *Child) (*effect.ChildOutcome, error) {
	return func(c *Child) (*effect.ChildOutcome, error) {
		return &effect.ChildOutcome{
			ChildEnd: echo.ChildEnd{Session: c.Session, Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: output},
			Totals:   effect.Totals{Calls: 2, CostUSD: 0.25},
		}, nil
	}
}

// runJudged runs a phase whose loop_until, or ward, is the cascade judge, which wants these inputs.
func (b *testBundle) runJudged(phase, inputs string) (*Result, error) {
	b.t.Helper()
	reached := &cascade.Reached{File: "judge.json", Hash: "0123456789abcdef", Cascade: &cascade.Cascade{}}
	require.NoError(b.t, json.Unmarshal([]byte(`{"cascade_id":"judge","description":"judges twice","inputs_schema":`+inputs+`,"phases":[{"name":"j","instructions":"J"}]}`), reached.Cascade))
	c := &cascade.Cascade{}
	source := `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.",` + phase + `}]}`
	require.NoError(b.t, json.Unmarshal([]byte(source), c))
	c.Reaches = map[string]*cascade.Reached{"judge": reached}
	log := echo.NewLog("s1", nil, nil, b.entries)
	res, err := b.runner.Run(b.t.Context(), Spec{Cascade: c, Input: atHome, Log: log, WorkDir: "/scratch"})
	b.entries.checkKeys(b.t)
	b.checkReplay(c, atHome, res, err)
	return res, err
}

const anyInputs = `{"content":"what is judged","original_input":"of the run"}`

// A validator may be a cascade: its output is the verdict.
func TestCascadeAsValidator(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		output any
		want   string
	}{
		"an object": {map[string]any{"valid": false, "reason": "dull"}, "dull"},
		"a text":    {`I say: {"valid": false, "reason": "dull"}`, "dull"},
		"nonsense":  {"dull", "dull"},
		"accepted":  {map[string]any{"valid": true}, ""},
		"no output": {nil, "the validator judge did not give a verdict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, say("hello"))
			j := &judges{out: judged(tc.output)}
			b.runner.Children = j
			res, err := b.runJudged(`"rules":{"loop_until":"judge"}`, anyInputs)
			if tc.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, "c/p (attempt 1, turn 1): no answer passed loop_until judge in 1 attempt: "+tc.want)
			}
			require.Equal(t, []string{"p/attempt1/turn1/validate/judge"}, b.entries.keys(echo.NodeChildEnd))
			require.Equal(t, map[string]any{"content": "hello", "original_input": atHome}, j.asked[0].Input)
			require.Equal(t, echo.ChildValidator, j.asked[0].How)
			require.Equal(t, []any{1, 2}, []any{res.Calls, res.Children.Calls}, "its calls are its own")
			require.Contains(t, roles(b.model.requests[0])[0], "Your work will be checked: the cascade judge must accept your answer (judges twice).")
		})
	}
}

// It is given what its inputs_schema names of the question, all of it when that names nothing.
func TestInputOfACascadeAsValidator(t *testing.T) {
	t.Parallel()
	for inputs, want := range map[string]map[string]any{
		`{"content":"x"}`: {"content": "hello"},
		`{"type":"object","properties":{"content":{"type":"string"},"image_count":{"type":"integer"}},"additionalProperties":false}`: {"content": "hello", "image_count": 0},
		`{"type":"object"}`: {"content": "hello", "original_input": atHome, "has_images": false, "image_count": 0},
	} {
		b := setup(t, say("hello"))
		j := &judges{out: judged(map[string]any{"valid": true})}
		b.runner.Children = j
		_, err := b.runJudged(`"rules":{"loop_until":"judge"}`, inputs)
		require.NoError(t, err)
		require.Equal(t, want, j.asked[0].Input, inputs)
	}
}

// A cascade that fails rejects, as any validator; one that a limit stopped stops the run.
func TestCascadeAsValidatorThatFails(t *testing.T) {
	t.Parallel()
	b := setup(t, say("hello"))
	b.runner.Children = &judges{out: func(c *Child) (*effect.ChildOutcome, error) {
		return &effect.ChildOutcome{
			ChildEnd: echo.ChildEnd{Session: "kid", Status: echo.StatusFailed, Reason: echo.StopExhausted}, Error: &echo.Failure{Kind: "attempts_exhausted", Message: "judge/j: no"},
		}, nil
	}}
	_, err := b.runJudged(`"rules":{"loop_until":"judge"}`, anyInputs)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): no answer passed loop_until judge in 1 attempt: "+
		"the validator could not run: the cascade judge (session kid) ended failed: judge/j: no")

	b = setup(t, say("hello"))
	b.runner.Children = &judges{out: func(*Child) (*effect.ChildOutcome, error) {
		return nil, &budget.Error{Limit: budget.LimitUSD, Max: 1, Used: 2}
	}}
	res, err := b.runJudged(`"wards":{"post":[{"validator":"judge"}]}`, anyInputs)
	require.ErrorContains(t, err, "budget reached")
	require.Equal(t, echo.StatusOverBudget, res.Status)
}

// A ward may be a cascade; what that took is in the verdict.
func TestCascadeAsWard(t *testing.T) {
	t.Parallel()
	b := setup(t, say("hello"))
	b.runner.Children = &judges{out: judged(map[string]any{"valid": false, "reason": "dull"})}
	res, err := b.runJudged(`"wards":{"pre":[{"validator":"judge","mode":"advisory"},{"validator":"non_empty"}],"post":[{"validator":"judge","mode":"advisory"}]}`, anyInputs)
	require.NoError(t, err)
	require.Equal(t, []string{"p/ward1/validate/judge", "p/attempt1/turn1/ward3/validate/judge"}, b.entries.keys(echo.NodeChildStart))
	require.Equal(t, 4, res.Children.Calls)
	d, err := echo.Read[echo.Verdict](b.entries.of(echo.NodeVerdict)[0])
	require.NoError(t, err)
	require.InDelta(t, 0.25, *d.CostUSD, 1e-12)
}
