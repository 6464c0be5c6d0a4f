package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/views"
)

// addBig adds a tool whose every result is n characters, and different by its arguments.
func (f *fakeTools) addBig(name string, n int) {
	f.add(name, `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		line := fmt.Sprintf("result of %s; ", req.Arguments)
		return effect.ToolResult{Parts: echo.Text(strings.Repeat(line, n/len(line)+1)[:n])}, nil
	})
}

// estimated makes an answer's usage one that teaches nothing.
func estimated(f answerFunc) answerFunc {
	return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := f(req)
		if resp != nil {
			resp.Usage.Estimated = true
		}
		return resp, err
	}
}

// readBig answers with n turns of one call of "big" each, and then with a text.
func readBig(n int) []answerFunc {
	var out []answerFunc
	for i := range n {
		out = append(out, estimated(call("big", fmt.Sprintf(`{"n":%d}`, i))))
	}
	return append(out, estimated(say("done")))
}

func toolNames(req *effect.ModelRequest) []string {
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return names
}

// bytesOf is what a request's messages are on the wire.
func bytesOf(ms []*echo.Message) string {
	var b bytes.Buffer
	for _, m := range ms {
		b.Write(m.JSON())
	}
	return b.String()
}

func tokensOf(requests []*effect.ModelRequest) (n int64) {
	for _, r := range requests {
		for _, m := range r.Messages {
			n += autocontext.Tokens(m)
		}
	}
	return n
}

// Without settings every request is the history so far, byte for byte, and the tools are those of
// the phase.
func TestOffByDefaultIsFullHistory(t *testing.T) {
	t.Parallel()
	b := setup(t, readBig(8)...)
	b.tools.addBig("big", 3000)
	b.runner.Facts = func(string) effect.ModelFacts { return effect.ModelFacts{Window: 1_000_000} }
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["big","set_state"]}]}`, nil)
	require.NoError(t, err)
	last := b.model.requests[8].Messages
	require.Len(t, last, 1+2*8)
	for i, req := range b.model.requests {
		require.Equal(t, bytesOf(last[:1+2*i]), bytesOf(req.Messages))
		require.Equal(t, []string{"big", "set_state"}, toolNames(req))
	}
	for _, e := range b.entries.of(echo.NodeSelection) {
		require.Zero(t, e.Selection.MaskedCount)
		require.Zero(t, e.Selection.TokensSaved)
	}
	require.Empty(t, b.entries.of(echo.NodeGuard))
}

const everyTurn = `"intra_context":{"advance":"every_turn","mask_observations_after":2}`

// Under a policy recall is offered from the first turn, so that the tools never change; old results
// give way to placeholders, and every selection says what was sent and with which carry.
func TestPolicyMasksOldResults(t *testing.T) {
	t.Parallel()
	b := setup(t, readBig(6)...)
	b.tools.addBig("big", 3000)
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["big"],`+everyTurn+`}]}`, nil)
	require.NoError(t, err)
	for _, req := range b.model.requests {
		require.Equal(t, []string{"big", "recall"}, toolNames(req))
		require.NoError(t, checkSequence(req.Messages))
	}
	last := b.model.requests[6].Messages
	require.Len(t, last, 13)
	require.Contains(t, last[2].Text(), "recall(")
	require.Less(t, len(last[2].Text()), 400)
	require.Len(t, last[12].Text(), 3000)
	require.Positive(t, res.Phases[0].MaskedResults)

	selections := b.entries.of(echo.NodeSelection)
	require.Len(t, selections, 7)
	carry, err := echo.Read[echo.Carry](selections[6])
	require.NoError(t, err)
	require.Positive(t, carry.AsOf)
	require.Equal(t, tokensOf(b.model.requests[6:]), selections[6].Selection.ContextSize)
	require.Positive(t, selections[6].Selection.TokensSaved)
	end := b.entries.of(echo.NodePhaseEnd)[0]
	require.Contains(t, string(end.Data), fmt.Sprintf(`"masked_results":%d`, res.Phases[0].MaskedResults))
}

// The record says what the views of a phase are made with.
func TestPhaseStartTellsTheSettings(t *testing.T) {
	t.Parallel()
	b := setup(t, say("done"))
	b.runner.Facts = func(model string) effect.ModelFacts {
		require.Equal(t, "m", model)
		return effect.ModelFacts{
			Window: 10_000, MaxOutput: 1000, Price: &echo.Price{Input: 1, Cached: 0.1}, Exact: true,
			CountFixed: func(specs []effect.ToolSpec) int64 { return int64(100 * len(specs)) }, NativeTools: new(false),
		}
	}
	_, err := b.run(`{"cascade_id":"c","token_budget":{"max_total":8000,"warning_threshold":0.5,"strategy":"prune_oldest"},"phases":[
		{"name":"p","instructions":"Go.","intra_context":{"window":7,"truncation":{}}},
		{"name":"q","tool":"missing"}]}`, nil)
	require.Error(t, err)
	starts := b.entries.of(echo.NodePhaseStart)
	require.JSONEq(t, `{"visit":1,"context":{"dialect":"prompted","limit":7000,"window":10000,"reserve":1000,"strategy":"prune_oldest","exact":true,
		"price":{"input":1,"cached":0.1},
		"policy":{"enabled":true,"window":7,"mask_observations_after":3,"min_masked_size":200,"advance":"cost","preserve_reasoning":true,
			"reasoning_limit":2000,"preserve_errors":true,"dedupe":true,"compress_loops":true,"loop_history_limit":3,"loop_output_limit":500,
			"truncation":{"recent_results":5,"recent_limit":5000,"older_limit":1000,"inactive_limit":300},
			"guard":{"enabled":true,"warn_percent":50,"compact_percent":90,"target_percent":72,"removal_levels":[10,20,50,100],
				"keep_recent_messages":10,"recount":"tokenizer"}}}}`, string(starts[0].Data))
	require.JSONEq(t, `{"visit":1}`, string(starts[1].Data), "a deterministic phase has no context")
}

// A model without tool calling reads of recall in its manual when there is a policy.
func TestRecallIsInTheManual(t *testing.T) {
	t.Parallel()
	b := setup(t, say("done"))
	b.tools.addBig("big", 10)
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["big"],"use_native_tools":false,`+everyTurn+`}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, b.model.requests[0].Messages[0].Text(), "Tool recall: ")
	require.Empty(t, b.model.requests[0].Tools)
}

// A phase that calls no tools and has one attempt has nothing that recall could be for.
func TestNoRecallWithoutToolsOrAttempts(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string][]string{`{}`: nil, `{"max_attempts":2,"loop_until":"non_empty"}`: {"recall"}} {
		b := setup(t, say("done"))
		_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","rules":`+rules+`,`+everyTurn+`}]}`, nil)
		require.NoError(t, err)
		require.Equal(t, want, toolNames(b.model.requests[0]))
	}
}

// After a pause that the provider's cache does not outlive the frontier moves for nothing; only
// such a pause is recorded.
func TestPauseIsReadFromTheClock(t *testing.T) {
	t.Parallel()
	b := setup(t, readBig(9)...)
	b.tools.addBig("big", 3000)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.runner.Seams.Now = func() time.Time { return now }
	answers := b.model.answers
	pause := func(i int, d time.Duration) {
		inner := answers[i]
		answers[i] = func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			now = now.Add(d)
			return inner(req)
		}
	}
	pause(5, views.CacheLife+time.Second) // the model itself thinks that long: its answer comes when the cache was just used
	b.tools.fns["big"] = func(inner func(context.Context, effect.ToolRequest) (effect.ToolResult, error)) func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return func(ctx context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
			if string(req.Arguments) == `{"n":7}` {
				now = now.Add(views.CacheLife + 3*time.Second)
			}
			return inner(ctx, req)
		}
	}(b.tools.fns["big"])
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["big"],"intra_context":{}}]}`, nil)
	require.NoError(t, err)
	values := b.entries.of(echo.NodeValue)
	require.Len(t, values, 1)
	require.Equal(t, "p/attempt1/turn9/idle", values[0].Key.String())
	require.JSONEq(t, `{"idle_seconds":303}`, string(values[0].Data))
	before, after := b.model.requests[7], b.model.requests[8]
	require.NotContains(t, bytesOf(before.Messages), "recall(", "with a cache the frontier waits")
	require.Contains(t, bytesOf(after.Messages), "recall(", "without one it moves")
}

// guarded sets a small window; the tokens of a message are a quarter of its bytes.
func (b *testBundle) guarded(window int64) {
	b.runner.Facts = func(string) effect.ModelFacts { return effect.ModelFacts{Window: window} }
}

// talking answers with n turns of long text and a small call each, so that masking results does not
// make room.
func talking(n, size int) []answerFunc {
	var out []answerFunc
	for i := range n {
		out = append(out, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := call("big", fmt.Sprintf(`{"n":%d}`, i))(req)
			d := resp.Message.Draft()
			d.Parts = echo.Text(strings.Repeat(fmt.Sprintf("thought %d. ", i), size/11))
			resp.Message, resp.Usage.Estimated = echo.Seal(d), true
			return resp, err
		})
	}
	return append(out, estimated(say("done")))
}

// summarizer answers calls of the guard by one function, and the phase's own in order.
func (f *fakeModel) summarizer(aside answerFunc) {
	own := f.answers
	next := 0
	f.answers = nil
	for range 200 {
		f.answers = append(f.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			if req.Site.Purpose != "" {
				return aside(req)
			}
			next++
			return own[next-1](req)
		})
	}
}

func (f *fakeModel) own() (requests []*effect.ModelRequest) {
	for _, r := range f.requests {
		if r.Site.Purpose == "" {
			requests = append(requests, r)
		}
	}
	return requests
}

type watcher struct{ events []core.Event }

func (w *watcher) Observe(e core.Event) { w.events = append(w.events, e) }

const longPhase = `{"cascade_id":"c","phases":[{"name":"p","instructions":"Find the one who did it.","tackle":["big"],"rules":{"max_turns":60}%s}]}`

// A phase that grows far past the window goes on: older messages are summed up by a model, whose
// call counts, and which is told apart from the phase's own.
func TestGuardSumsUp(t *testing.T) {
	t.Parallel()
	b := setup(t, talking(40, 1600)...)
	b.tools.addBig("big", 20)
	b.guarded(4000)
	b.model.summarizer(estimated(say("It was the butler.")))
	w := &watcher{}
	b.runner.Observer = w
	res, err := b.run(fmt.Sprintf(longPhase, `,"intra_context":{"enabled":false,"guard":{"summarizer_model":"cheap"}}`), nil)
	require.NoError(t, err)
	require.Equal(t, "done", res.Output)
	require.Equal(t, 41, res.Phases[0].Turns)

	summaries := 0
	for _, r := range b.model.requests {
		if r.Site.Purpose == "" {
			require.LessOrEqual(t, tokensOf([]*effect.ModelRequest{r}), int64(3000))
			continue
		}
		summaries++
		require.Equal(t, echo.PurposeSummary, r.Site.Purpose)
		require.Equal(t, "cheap", r.Model)
		require.Empty(t, r.Tools)
		require.Positive(t, r.MaxOutputTokens)
	}
	require.Positive(t, summaries)
	require.Equal(t, 41+summaries, res.Calls, "they count")
	require.Contains(t, b.entries.keys(echo.NodeModelCall), fmt.Sprintf("p/attempt1/turn%d/compact1/model", b.firstAside().Site.Turn))

	var kept []*echo.Entry
	for _, e := range b.entries.of(echo.NodeMessage) {
		if e.Message.Kind() == echo.KindSummary {
			kept = append(kept, e)
		}
	}
	require.Len(t, kept, summaries)
	require.True(t, strings.HasSuffix(kept[0].Key.String(), "/summary1"), kept[0].Key)
	require.Contains(t, kept[0].Message.Text(), "It was the butler.")
	own := b.model.own()
	require.Contains(t, bytesOf(own[len(own)-1].Messages), "It was the butler.")
	require.Contains(t, bytesOf(own[len(own)-1].Messages), "Find the one who did it.")
	require.Equal(t, []string{"big"}, toolNames(own[0]), "recall is not offered before there is something to recall")
	require.Equal(t, []string{"big", "recall"}, toolNames(own[len(own)-1]))

	seen := map[core.EventKind]int{}
	for _, e := range w.events {
		seen[e.Kind]++
	}
	require.Positive(t, seen[core.EventCompacting])
	require.Equal(t, seen[core.EventCompacting], seen[core.EventCompactionComplete])
	require.Positive(t, seen[core.EventContextWarning])
	require.Len(t, b.entries.of(echo.NodeGuard), seen[core.EventContextWarning]+seen[core.EventCompacting]+seen[core.EventCompactionComplete])
	b.entries.checkKeys(t)
}

func (b *testBundle) firstAside() *effect.ModelRequest {
	for _, r := range b.model.requests {
		if r.Site.Purpose != "" {
			return r
		}
	}
	b.t.Fatal("the guard asked nothing")
	return nil
}

func (m *inMemory) warnings() (out []string) {
	for _, e := range m.of(echo.NodeWarning) {
		d, _ := echo.Read[echo.Warning](e) // the engine's own data
		out = append(out, d.Message)
	}
	return out
}

// Whatever becomes of the summary call, the phase goes on with what can be put together without it.
func TestSummaryThatFailsIsExtracted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		aside answerFunc
		why   string
	}{
		"an error of the provider": {refuse(&effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Message: "on fire"}), "model m: on fire"},
		"an error of another kind": {refuse(errors.New("no such luck")), "no such luck"},
		"nothing said":             {estimated(say(" \n")), `the answer is empty (finish reason "stop")`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, talking(30, 1600)...)
			b.tools.addBig("big", 20)
			b.guarded(4000)
			b.model.summarizer(tc.aside)
			res, err := b.run(fmt.Sprintf(longPhase, ""), nil)
			require.NoError(t, err)
			require.Equal(t, "done", res.Output)
			require.Contains(t, b.entries.warnings(),
				"m gave no summary of the older messages, so one is put together from them without a model: "+tc.why)
			own := b.model.own()
			require.Contains(t, bytesOf(own[len(own)-1].Messages), "made by extraction")
		})
	}
}

// The end of the run, of its budget and of its record are no answers to what the guard asks.
func TestSummaryIsNotAskedPastTheEnd(t *testing.T) {
	t.Parallel()
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		b := setup(t, talking(30, 1600)...)
		b.tools.addBig("big", 20)
		b.guarded(4000)
		ctx, cancel := context.WithCancel(t.Context())
		b.model.summarizer(func(*effect.ModelRequest) (*effect.ModelResponse, error) {
			cancel()
			return nil, &effect.ModelError{Kind: echo.ModelErrTimeout, Message: "ended", Err: context.Canceled}
		})
		res, err := b.runCtx(ctx, fmt.Sprintf(longPhase, ""), nil)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, echo.StatusInterrupted, res.Status)
	})
	t.Run("budget", func(t *testing.T) {
		t.Parallel()
		b := setup(t, talking(30, 1600)...)
		b.tools.addBig("big", 20)
		b.guarded(4000)
		b.model.summarizer(func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := say("notes")(req)
			resp.Usage = echo.Usage{In: 1_000_000, Estimated: true}
			return resp, err
		})
		source := strings.Replace(fmt.Sprintf(longPhase, ""), `"cascade_id"`, `"budget":{"max_tokens":500000,"max_seconds":1000},"cascade_id"`, 1)
		res, err := b.run(source, nil)
		require.ErrorContains(t, err, "budget reached: max_tokens")
		require.Equal(t, echo.StatusOverBudget, res.Status)
	})
	t.Run("record", func(t *testing.T) {
		t.Parallel()
		b := setup(t, talking(30, 1600)...)
		b.tools.addBig("big", 20)
		b.guarded(4000)
		b.model.summarizer(say("notes"))
		disk := &slowDisk{}
		disk.fail = func(e *echo.Entry) error {
			if strings.Contains(e.Key.String(), "/compact1/") {
				return errors.New("disk full")
			}
			return nil
		}
		c := &cascade.Cascade{}
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, longPhase, ""), c))
		_, err := b.runner.Run(t.Context(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, disk)})
		var re *effect.RecordError
		require.ErrorAs(t, err, &re)
	})
}

// With recount: probe the provider counts the request before the guard acts on it.
func TestRecount(t *testing.T) {
	t.Parallel()
	const probe = `,"intra_context":{"enabled":false,"guard":{"recount":"probe"}}`
	b := setup(t, talking(12, 1600)...)
	b.tools.addBig("big", 20)
	b.guarded(4000)
	b.model.summarizer(func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		require.Equal(t, echo.PurposeRecount, req.Site.Purpose, "counted by the provider, the request is small enough")
		resp, err := say("x")(req)
		resp.Usage.In = 500
		return resp, err
	})
	_, err := b.run(fmt.Sprintf(longPhase, probe), nil)
	require.NoError(t, err)
	ask := b.firstAside()
	require.Equal(t, []string{"big"}, toolNames(ask))
	require.Equal(t, "m", ask.Model)
	require.Equal(t, views.SmallestAnswer, ask.MaxOutputTokens)
	var next *effect.ModelRequest
	for i, r := range b.model.requests {
		if r == ask {
			next = b.model.requests[i+1]
		}
	}
	require.Equal(t, bytesOf(next.Messages), bytesOf(ask.Messages), "what is counted is what is sent")
	require.Contains(t, b.entries.keys(echo.NodeModelCall), fmt.Sprintf("p/attempt1/turn%d/recount1/model", ask.Site.Turn))

	failing := setup(t, talking(30, 1600)...)
	failing.tools.addBig("big", 20)
	failing.guarded(4000)
	failing.model.summarizer(func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		if req.Site.Purpose == echo.PurposeRecount {
			return nil, &effect.ModelError{Kind: echo.ModelErrBadRequest, Model: "m", Message: "16 is too few"}
		}
		return estimated(say("notes"))(req)
	})
	_, err = failing.run(fmt.Sprintf(longPhase, probe), nil)
	require.NoError(t, err)
	require.Contains(t, failing.entries.warnings(),
		"the request could not be counted by the provider, the count made here is used: model m: 16 is too few")
}

func tooLong() error {
	return &effect.ModelError{Kind: echo.ModelErrContextLength, Model: "m", Provider: "fake", Message: "the request is too long for the model (400)", Unpaid: true}
}

// refusesAbove has the provider refuse requests of phases above so many tokens, and counts those.
func (b *testBundle) refusesAbove(window int64) *int {
	refused := new(int)
	for i, inner := range b.model.answers {
		b.model.answers[i] = func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			if req.Site.Purpose == "" && tokensOf([]*effect.ModelRequest{req}) > window {
				*refused++
				return nil, tooLong()
			}
			return inner(req)
		}
	}
	return refused
}

// A request that is refused as too long is made smaller and sent again under the next key, although
// no limit is known.
func TestRefusalAsTooLongMakesRoom(t *testing.T) {
	t.Parallel()
	const window = 3000
	b := setup(t, talking(20, 1600)...)
	b.tools.addBig("big", 20)
	b.model.summarizer(estimated(say("notes")))
	refused := b.refusesAbove(window)
	res, err := b.run(fmt.Sprintf(longPhase, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "done", res.Output)
	require.Positive(t, *refused)
	require.LessOrEqual(t, *refused, 3, "what was refused once is a limit for all later requests")
	var again []string
	for _, key := range b.entries.keys(echo.NodeModelCall) {
		if strings.HasSuffix(key, "/model2") {
			again = append(again, strings.TrimSuffix(key, "model2")+"context2")
		}
	}
	require.NotEmpty(t, again)
	require.Subset(t, b.entries.keys(echo.NodeSelection), again)
	require.Contains(t, b.entries.warnings(), "the provider refused the request as too long; it is made smaller and sent again")
}

// When nothing helps, the phase fails with the provider's error, explained, after few tries.
func TestRefusalForGoodIsExplained(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.model.answers = nil
	for range 50 {
		b.model.answers = append(b.model.answers, refuse(tooLong()))
	}
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go."}]}`, nil)
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	require.EqualError(t, err, "c/p (attempt 1, turn 1): model m at fake: the request is too long for the model (400); "+
		"nothing more can be left out of it; its largest message is 1 (user, task): shorten the instructions or the input, "+
		"or take a model with a larger window")
	require.LessOrEqual(t, len(b.model.requests), 4)
}

// One message that is larger than the window is named, with what to do.
func TestMessageLargerThanTheWindow(t *testing.T) {
	t.Parallel()
	b := setup(t, say("never asked"))
	b.guarded(1000)
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"`+strings.Repeat("word ", 1000)+`"}]}`, nil)
	var fit *autocontext.FitError
	require.ErrorAs(t, err, &fit)
	require.Equal(t, echo.StatusFailed, res.Status)
	require.Empty(t, b.model.requests, "nothing is sent")
	require.EqualError(t, err, "c/p (attempt 1, turn 1): the request has 1257 tokens and may have 750: nothing more can be left out; "+
		"the largest message is 1 (user, task), with 1257 tokens; shorten the instructions or the input, take a model with a larger window, "+
		"or keep less for the answer (250 of 1000 tokens; max_output_tokens, token_budget.reserve_for_output)")
}

// A request that cannot be made smaller and fits all the same is sent, and is spoken of once.
func TestRequestNearTheLimitIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t, estimated(call("get_state", `{"key":"none"}`)), estimated(say("fine")))
	b.guarded(4000)
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"`+strings.Repeat("word ", 2200)+`","tackle":["get_state"]}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "fine", res.Output)
	var events []string
	for _, e := range b.entries.of(echo.NodeGuard) {
		ev, err := echo.Read[echo.Guard](e)
		require.NoError(t, err)
		events = append(events, string(ev.Event))
	}
	require.Equal(t, []string{"context_warning", "compacting"}, events)
}

// What was called in another way, or for another model, comes in as text; a callout is pinned.
func TestContextOfAnotherModelIsText(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"a","instructions":"A","tackle":["big"],"callouts":{"messages":"facts","messages_filter":"assistant_only"},"handoffs":["b"]},
		{"name":"b","instructions":"B","tackle":["big"],%s"context":{"from":[{"phase":"a","include":["messages","output"]}]}}]}`
	for name, tc := range map[string]struct {
		second  string
		foreign bool
		rules   int
	}{
		"the same":                     {"", false, 0},
		"another model":                {`"model":"other",`, false, 0},
		"another model, rules 1":       {`"model":"other",`, true, 1},
		"one that refuses other calls": {`"model":"gemini-3-pro",`, true, 0},
		"another way to ask":           {`"use_native_tools":false,`, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, call("big", `{}`), say("out a"), say("out b"))
			b.tools.addBig("big", 30)
			b.rules = tc.rules
			_, err := b.run(fmt.Sprintf(source, tc.second), nil)
			require.NoError(t, err)
			text := strings.Join(roles(b.model.requests[2]), "\n")
			require.Equal(t, !tc.foreign, strings.Contains(text, "assistant:  +big"), text)
			require.Equal(t, tc.foreign, strings.Contains(text, "user: Tool result of big"), text)
			if !tc.foreign {
				return
			}
			require.NotContains(t, text, "\ntool: ")
		})
	}
}

func TestCalloutsArePinned(t *testing.T) {
	t.Parallel()
	b := setup(t, say("out a"), say("out b"))
	_, err := b.run(`{"cascade_id":"c","auto_context":{"intra_phase":{}},"phases":[
		{"name":"a","instructions":"A","callouts":"facts","handoffs":["b"]},
		{"name":"b","instructions":"B","context":{"from":[{"phase":"a","include":["messages","output"]}]}}]}`, nil)
	require.NoError(t, err)
	sel := b.entries.of(echo.NodeSelection)[1].Selection
	kept := map[echo.Hash]string{}
	for _, s := range sel.Spans {
		for _, h := range s.Hashes {
			kept[h] = s.Reason
		}
	}
	for _, m := range b.model.requests[1].Messages {
		if strings.Contains(m.Text(), "out a") {
			require.Equal(t, string(autocontext.ReasonKept), kept[m.Hash()], m.Text())
		}
	}
}
