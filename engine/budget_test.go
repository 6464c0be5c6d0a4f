package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
)

// budgeted runs a cascade in pieces: with a budget that is used up before every call that is not
// yet affordable, and taken up again with one that is just enough for it.
type budgeted struct {
	*testBundle
	cascade *cascade.Cascade
	past    []*echo.Entry
}

func (b *testBundle) budgeted(source string) *budgeted {
	c := &cascade.Cascade{}
	require.NoError(b.t, json.Unmarshal([]byte(source), c))
	return &budgeted{testBundle: b, cascade: c}
}

// take runs, or resumes, under a budget; nil is the one that was in force.
func (b *budgeted) take(limits *cascade.Budget) (*Result, error) {
	b.t.Helper()
	sink := &inMemory{list: b.past}
	res, err := b.runner.Run(context.Background(), Spec{
		Cascade: b.cascade, Log: echo.ContinueLog("s1", uint64(len(b.past)), b.runner.Seams.Now, nil, sink), WorkDir: "/scratch", Recording: b.past, Budget: limits,
	})
	b.past = sink.asRead(b.t)
	return res, err
}

func (b *budgeted) replay() error {
	b.t.Helper()
	again := *b.runner
	again.Model, again.Tools, again.Cards, again.Similarity = nil, onlySpecs{b.tools}, nil, nil
	_, err := again.Run(context.Background(), Spec{Cascade: b.cascade, WorkDir: "/scratch", Name: "s1", Recording: b.past})
	return err
}

// A run is stopped before each of its calls, whatever the call is for, as long as it cannot be
// paid, and goes on to the same end when it can. The model is not asked for what was stopped, and
// nothing of it is left in the record.
func TestBudgetStopsBeforeEveryKindOfCall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bundle func(t *testing.T) *testBundle
		source string
		keys   []string // of calls before which it must have stopped
	}{
		"turns, tools and a validator": {
			func(t *testing.T) *testBundle {
				b := setup(t, call("look", `{}`), say("a"), say(`{"valid": false, "reason": "short"}`), say("abc"), say("hm"), say(`{"valid": true}`), say("end"))
				b.tools.addEcho("look")
				return b
			},
			`{"cascade_id":"c","validators":{"fair":{"instructions":"Fair?","max_turns":2,"model":"judge"}},"phases":[
				{"name":"p","instructions":"Go.","tackle":["look"],"rules":{"loop_until":"fair","max_attempts":2}},{"name":"q","instructions":"End."}]}`,
			[]string{
				"p/attempt1/turn1/model", "p/attempt1/turn2/model", "p/attempt1/turn2/validate/fair/model", "p/attempt2/turn1/model",
				"p/attempt2/turn1/validate/fair/model", "p/attempt2/turn1/validate/fair/model2", "q/attempt1/turn1/model",
			},
		},
		"a menu": {
			func(t *testing.T) *testBundle { return setupThree(t, say(`{"ids":["m3"]}`), say("done")) },
			fmt.Sprintf(threePhases, `""`, `{"mode":"auto","selection":{"strategy":"llm","max_tokens":120}}`),
			[]string{"write/select/model", "write/attempt1/turn1/model"},
		},
		"summaries": {
			func(t *testing.T) *testBundle {
				b := setup(t, talking(20, 1600)...)
				b.tools.addBig("big", 20)
				b.guarded(4000)
				b.model.summarizer(estimated(say("It was the butler.")))
				return b
			},
			fmt.Sprintf(longPhase, `,"intra_context":{"enabled":false,"guard":{"summarizer_model":"cheap"}}`),
			[]string{`p/attempt1/turn\d+/compact1/model`, `p/attempt1/turn\d+/model`},
		},
		"a request that is refused as too long": {
			func(t *testing.T) *testBundle {
				answers := talking(12, 1600)
				answers = append(answers[:8:8], append([]answerFunc{refuse(&effect.ModelError{Kind: echo.ModelErrContextLength, Model: "m", Unpaid: true})}, answers[8:]...)...)
				b := setup(t, answers...)
				b.tools.addBig("big", 2000)
				return b
			},
			fmt.Sprintf(longPhase, `,"intra_context":{"mask_observations_after":2}`),
			[]string{`p/attempt1/turn9/model`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := tt.bundle(t).budgeted(tt.source)
			whole.runner.Model = heavy{whole.model}
			want, err := whole.take(nil)
			require.NoError(t, err)
			b := tt.bundle(t).budgeted(tt.source)
			b.runner.Model = heavy{b.model}
			limit := &cascade.Budget{MaxTokens: 1}
			for stops := 0; ; stops++ {
				asked := len(b.model.requests)
				res, err := b.take(limit)
				if err == nil {
					require.Equal(t, want.Output, res.Output)
					if len(noticesOf(b.past)) == 0 { // what a model is told when it is resumed takes room, too
						require.Equal(t, want.Totals, res.Totals)
					}
					require.Equal(t, res.Calls, stops, "it was stopped before every call that was answered")
					break
				}
				var be *budget.Error
				require.ErrorAs(t, err, &be)
				require.Equal(t, echo.StatusOverBudget, res.Status)
				require.Equal(t, echo.StatusOverBudget, record.EndOf(b.past).Status)
				require.Greater(t, be.Used+float64(be.Next.Tokens()), be.Max)
				ends := b.past[len(b.past)-2:]
				require.Equal(t, []echo.NodeType{echo.NodePhaseEnd, echo.NodeRunEnd}, []echo.NodeType{ends[0].NodeType, ends[1].NodeType})
				require.NotEqual(t, echo.NodeSelection, b.past[len(b.past)-4].NodeType, "what is not sent is not selected")
				require.ErrorIs(t, b.replay(), effect.ErrEndOfRecord)
				if stops > 0 {
					require.Greater(t, len(b.model.requests), asked, "the call is affordable now")
				}
				limit = &cascade.Budget{MaxTokens: int64(be.Used) + be.Next.Tokens()}
			}
			require.NoError(t, b.replay())
			if len(noticesOf(b.past)) == 0 {
				require.Equal(t, len(whole.model.requests), len(b.model.requests), "nothing is asked twice")
				require.Equal(t, shape(whole.past), shape(withoutStops(b.past)))
			}
			for _, key := range tt.keys {
				require.Condition(t, func() bool { return containsMatch(firstAfterResume(b.past), key) }, "%s is not among %q", key, firstAfterResume(b.past))
			}
		})
	}
}

// heavy makes every call take more than any estimate, so that a budget that is enough for one call
// is not for the next.
type heavy struct{ effect.Model }

func (h heavy) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	resp, err := h.Model.Complete(ctx, req)
	if err == nil {
		resp.Usage = echo.Usage{In: 10_000, Out: 600, Estimated: true}
	}
	return resp, err
}

// firstAfterResume lists the keys of the calls that were made first each time that a run was
// resumed.
func firstAfterResume(entries []*echo.Entry) []string {
	var keys []string
	fresh := false
	for _, e := range entries {
		switch {
		case e.NodeType == echo.NodeResume:
			fresh = true
		case e.NodeType == echo.NodeModelCall && fresh:
			keys = append(keys, e.Key.String())
			fresh = false
		}
	}
	return keys
}

func containsMatch(keys []string, pattern string) bool {
	for _, k := range keys {
		if regexp.MustCompile("^" + pattern + "$").MatchString(k) {
			return true
		}
	}
	return false
}

func withoutStops(entries []*echo.Entry) []*echo.Entry {
	var out []*echo.Entry
	aside := record.SetAside(entries)
	for _, e := range entries {
		if !aside[e.Seq] {
			out = append(out, e)
		}
	}
	return out
}

const twoPhases = `{"cascade_id":"c"%s,"phases":[{"name":"a","instructions":"A","max_output_tokens":10},{"name":"b","instructions":"B","max_output_tokens":10},{"name":"d","instructions":"D","max_output_tokens":10}]}`

// The budget in force is recorded, and holds until another one is given: lower, higher, or none.
func TestBudgetInForce(t *testing.T) {
	t.Parallel()
	b := setup(t, say("a"), say("b"), say("d")).budgeted(fmt.Sprintf(twoPhases, `,"budget":{"max_tokens":150}`))
	for _, step := range []struct {
		limits   *cascade.Budget
		want     string // "" when it ends well
		recorded *cascade.Budget
	}{
		{&cascade.Budget{MaxTokens: 5}, "c/a (attempt 1, turn 1): the next call would exceed the budget: max_tokens is 5 tokens, used 0 tokens", &cascade.Budget{MaxTokens: 5}},
		{nil, "c/a (attempt 1, turn 1): the next call would exceed the budget: max_tokens is 5 tokens, used 0 tokens", &cascade.Budget{MaxTokens: 5}},
		{&cascade.Budget{MaxTokens: 120}, "c/b (attempt 1, turn 1): the next call would exceed the budget: max_tokens is 120 tokens, used 110 tokens", &cascade.Budget{MaxTokens: 120}},
		{&cascade.Budget{MaxTokens: 7}, "c/b (attempt 1, turn 1): budget reached: max_tokens is 7 tokens, used 110 tokens", &cascade.Budget{MaxTokens: 7}},
		{&cascade.Budget{MaxUSD: 0.015, MaxSeconds: 1e6}, "c/d (attempt 1, turn 1): budget reached: max_usd is $0.0150, used $0.0200", &cascade.Budget{MaxUSD: 0.015, MaxSeconds: 1e6}},
		{&cascade.Budget{}, "", &cascade.Budget{}},
	} {
		_, err := b.take(step.limits)
		require.Equal(t, step.recorded, (*cascade.Budget)(record.BudgetOf(b.past)))
		if step.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, step.want)
	}
	require.Len(t, b.model.requests, 3)
	require.NoError(t, b.replay())

	unlimited := setup(t, say("a"), say("b"), say("d")).budgeted(fmt.Sprintf(twoPhases, ""))
	_, err := unlimited.take(nil)
	require.NoError(t, err)
	require.NotContains(t, string(unlimited.past[0].Data), "budget")
}

// Time counts while the run is active: what passes before it is resumed does not.
func TestBudgetOfTimeOverAResume(t *testing.T) {
	t.Parallel()
	clock := time.Unix(0, 0)
	after := func(text string) answerFunc {
		return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			clock = clock.Add(40 * time.Second)
			return say(text)(req)
		}
	}
	b := setup(t, after("a"), after("b"), after("d")).budgeted(fmt.Sprintf(twoPhases, `,"budget":{"max_seconds":30}`))
	b.runner.Seams.Now = func() time.Time { return clock }
	_, err := b.take(nil)
	var be *budget.Error
	require.True(t, errors.As(err, &be))
	require.Equal(t, "80", be.Enough(), "more than is used, not only more than the limit")
	clock = clock.Add(time.Hour)
	_, err = b.take(&cascade.Budget{MaxSeconds: 60})
	require.ErrorContains(t, err, "c/d (attempt 1, turn 1): budget reached: max_seconds is 60.0 s, used 80.0 s")
	clock = clock.Add(time.Hour)
	res, err := b.take(&cascade.Budget{MaxSeconds: 90})
	require.NoError(t, err)
	require.Equal(t, "d", res.Output)
}

// forked makes a fork of what is recorded: of all that is before a phase begins.
func (b *budgeted) forked(phase string) (header json.RawMessage, past []*echo.Entry) {
	b.t.Helper()
	for _, e := range b.past {
		if e.NodeType == echo.NodePhaseStart && e.Phase == phase || e.NodeType == echo.NodePhaseEnd && e.Error != nil {
			break
		}
		e := *e
		past = append(past, &e)
	}
	header = json.RawMessage(fmt.Sprintf(`{"parent":"s0","parent_seq":%d}`, len(past)))
	require.NoError(b.t, past[0].SetHeader(header))
	return header, past
}

// What a fork has copied was paid for by its parent: since rules 3 it does not count in its budget,
// also when the fork is resumed. What it takes itself does.
func TestBudgetOfAFork(t *testing.T) {
	t.Parallel()
	clock := time.Unix(0, 0)
	after := func(text string, unknown bool) answerFunc {
		return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			clock = clock.Add(40 * time.Second)
			resp, err := say(text)(req)
			if unknown {
				resp.CostUSD = nil
			}
			return resp, err
		}
	}
	for name, tt := range map[string]struct {
		limits  cascade.Budget
		unknown bool   // what the first call costs
		rules2  string // the end of the fork under rules 2
		rules3  string // that of phase d under rules 3; "": it ends well
	}{
		"tokens":  {cascade.Budget{MaxTokens: 230}, false, "used 220 tokens", ""},
		"money":   {cascade.Budget{MaxUSD: 0.02}, false, "used $0.0200", ""},
		"unknown": {cascade.Budget{MaxUSD: 1}, true, "the cost of 1 call is unknown", ""},
		"seconds": {cascade.Budget{MaxSeconds: 80}, false, "used 80.0 s", ""},
		"its own": {cascade.Budget{MaxTokens: 120}, false, "used 110 tokens", "max_tokens is 120 tokens, used 110 tokens"},
	} {
		for rules := 2; rules <= 3; rules++ {
			b := setup(t, after("a", tt.unknown), after("b", false), after("d", false)).budgeted(fmt.Sprintf(twoPhases, ""))
			b.runner.Seams.Now = func() time.Time { return clock }
			_, err := b.take(&cascade.Budget{MaxTokens: 230})
			require.ErrorContains(t, err, "used 220 tokens", name)

			from := "d"
			if name == "its own" {
				from = "b"
			}
			header, past := b.forked(from)
			clock = clock.Add(time.Hour)
			spec := Spec{Cascade: b.cascade, WorkDir: "/scratch", Header: header, Rules: rules, Name: "s1"}
			take := func(limits cascade.Budget) error {
				sink := &inMemory{list: past}
				spec.Recording, spec.Budget = past, &limits
				spec.Log = echo.ContinueLog("s1", uint64(len(past)), b.runner.Seams.Now, nil, sink)
				_, err := b.runner.Run(context.Background(), spec)
				past = sink.asRead(t)
				return err
			}
			// It is stopped once, so that it is resumed.
			require.Error(t, take(cascade.Budget{MaxTokens: 1}), name)
			if name == "its own" {
				b.model.answers = append(b.model.answers, after("d", false))
			}
			clock = clock.Add(time.Hour)
			err = take(tt.limits)
			switch want := []string{tt.rules2, tt.rules3}[rules-2]; want {
			case "":
				require.NoError(t, err, name)
			default:
				require.ErrorContains(t, err, want, name)
			}
			spec.Log, spec.Recording = nil, past
			_, err = b.runner.Run(context.Background(), spec)
			if tt.rules3 == "" && rules == 3 {
				require.NoError(t, err, name)
			} else {
				require.ErrorIs(t, err, effect.ErrEndOfRecord, name)
			}
		}
	}
}

// limitsOf keeps what children may take.
type limitsOf struct {
	*fakeChildren
	seconds []float64
}

func (l *limitsOf) Wait(ctx context.Context, c *Child) (*effect.ChildOutcome, error) {
	l.seconds = append(l.seconds, c.Budget.MaxSeconds)
	return l.fakeChildren.Wait(ctx, c)
}

// A child gets the seconds that are left of its parent's, and so does one of a fork: what that has copied
// took none of its own.
func TestSecondsOfChildrenOfAFork(t *testing.T) {
	t.Parallel()
	clock := time.Unix(0, 0)
	after := func(text string) answerFunc {
		return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			clock = clock.Add(40 * time.Second)
			return say(text)(req)
		}
	}
	b := setup(t, after("a"), after("kid"), after("b"), after("kid"), say("d")).budgeted(`{"cascade_id":"c","budget":{"max_seconds":100},"phases":[
		{"name":"a","instructions":"a"},{"name":"b","instructions":"b","sub_cascades":[{"ref":"kid"}]}]}`)
	kid := map[string]*cascade.Reached{"kid": reached(t, `{"cascade_id":"kid","phases":[{"name":"p","instructions":"p"}]}`)}
	b.cascade.Reaches = kid
	b.runner.Seams.Now = func() time.Time { return clock }
	limits := &limitsOf{fakeChildren: &fakeChildren{runner: b.runner, find: kid, ran: map[string]*effect.ChildOutcome{}, errs: map[string]error{}}}
	b.runner.Children = limits
	_, err := b.take(nil)
	require.NoError(t, err)
	require.Equal(t, []float64{60}, limits.seconds)

	header, past := b.forked("b")
	clock = clock.Add(time.Hour)
	limits.ran = map[string]*effect.ChildOutcome{}
	_, err = b.runner.Run(t.Context(), Spec{
		Cascade: b.cascade, WorkDir: "/scratch", Header: header, Name: "s2", Recording: past,
		Log: echo.ContinueLog("s2", uint64(len(past)), b.runner.Seams.Now, nil, &inMemory{list: past}),
	})
	require.NoError(t, err)
	require.Equal(t, []float64{60, 100}, limits.seconds)
}
