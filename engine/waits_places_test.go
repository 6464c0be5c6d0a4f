package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/desk"
	"github.com/windlass-run/windlass/engine/effect"
)

// asking is a bundle with a mailbox and a model that is asked in any order.
func asking(t *testing.T) (*testBundle, *candidates, *letters) {
	t.Helper()
	b, m, l := setup(t), &candidates{}, &letters{}
	b.runner.Model, b.runner.Mailbox = m, l
	return b, m, l
}

// open returns the keys of the waits that have no answer.
func (b *testBundle) open() []string {
	var out []string
	for _, e := range record.OpenWaits(b.entries.asRead(b.t)) {
		out = append(out, e.Key.String())
	}
	slices.Sort(out)
	return out
}

// once holds that nothing was asked twice, neither of people nor of models.
func (b *testBundle) once(asked []seen) {
	b.t.Helper()
	waits := b.entries.keys(echo.NodeWait)
	require.Len(b.t, waits, len(slices.Compact(slices.Sorted(slices.Values(waits)))), "waits")
	calls := 0
	for _, e := range b.entries.of(echo.NodeModelCall) {
		if e.Error == nil {
			calls++
		}
	}
	require.Len(b.t, asked, calls, "model calls")
}

// Parallel phases go on while one of them waits; two waits are answered one after the other.
func TestWaitsInAGraph(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"a","instructions":"a","human_input":{"prompt":"Is a right?"}},
		{"name":"b","instructions":"b","human_input":true},
		{"name":"free","instructions":"free"},{"name":"more","instructions":"more {{ outputs.free }}","after":["free"]},
		{"name":"end","instructions":"{{ state.human_a }} {{ state.human_b }} {{ outputs.more }}","after":["a","b","more"]}]}`
	b, m, l := asking(t)
	res, err := b.run(source, nil)
	require.ErrorContains(t, err, "it waits for an answer")
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Equal(t, []string{"a/node1/wait", "b/node2/wait"}, b.open())
	require.Len(t, m.requests, 4, "what does not wait has run: %v", m.requests)

	l.leave("b/node2/wait", "B", "")
	res, err = b.goesOn(source)
	require.Error(t, err)
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Equal(t, []string{"a/node1/wait"}, b.open())

	l.leave("a/node1/wait", "A", "")
	res, err = b.goesOn(source)
	require.NoError(t, err)
	require.Equal(t, "<A B <more <free>>>", res.Output)
	b.once(m.requests)
}

// Elements of a list wait each for themselves; the others run to their ends.
func TestWaitsInAList(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"each","for_each":{"items":["x","y","z"],"max_parallel":3},"tool":"ask_human","inputs":{"question":"What of {{ item }}?"}},
		{"name":"end","instructions":"{{ outputs.each | join(' ') }}"}]}`
	b, m, l := asking(t)
	res, err := b.run(source, nil)
	require.Error(t, err)
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Equal(t, []string{"each/item1/attempt1/tool/wait", "each/item2/attempt1/tool/wait", "each/item3/attempt1/tool/wait"}, b.open())
	for n, said := range []string{"one", "two"} {
		l.leave(fmt.Sprintf("each/item%d/attempt1/tool/wait", n+1), said, "")
		res, err = b.goesOn(source)
		require.Error(t, err)
		require.Equal(t, echo.StatusWaiting, res.Status)
		require.Len(t, b.open(), 2-n)
	}
	l.leave("each/item3/attempt1/tool/wait", "three", "")
	res, err = b.goesOn(source)
	require.NoError(t, err)
	require.Equal(t, "<one two three>", res.Output)
	b.once(m.requests)
}

// A candidate that waits is no candidate that failed: the sounding waits, and nobody judges before.
func TestWaitsInCandidates(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"p","instructions":"do","tackle":["ask_human"],"soundings":{"factor":3,"max_parallel":3,"evaluator_instructions":"Which?"},"human_input":{"prompt":"Good?"}}]}`
	b, m, l := asking(t)
	asked := false
	m.calls = func(*effect.ModelRequest) []echo.ToolCall {
		if !asked {
			asked = true
			return []echo.ToolCall{{ID: "q", Name: "ask_human", Arguments: `{"question":"Which?"}`}}
		}
		return nil
	}
	m.best = "blue"
	res, err := b.run(source, nil)
	require.Error(t, err)
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Len(t, b.open(), 1)
	require.Empty(t, b.entries.of(echo.NodeBallot), "nobody judges before")
	require.Len(t, m.requests, 3)
	m.calls = nil
	l.leave(b.open()[0], "the blue one", "")
	_, err = b.goesOn(source)
	require.Error(t, err)
	require.Equal(t, []string{"p/wait"}, b.open(), "the phase asks once, when it has its output")
	l.leave("p/wait", "yes", "")
	res, err = b.goesOn(source)
	require.NoError(t, err)
	require.Contains(t, res.Output, "blue")
	b.once(m.requests)
}

// A phase without a model waits before its tool; a denied call is not tried again, and on_error takes it.
func TestApprovalWithoutAModel(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"ship","tool":"deploy","inputs":{"to":"prod"},"retry":{"max_attempts":3},"rules":{"approve":["deploy"]},"on_error":"sorry","handoffs":["end"]},
		{"name":"end","instructions":"shipped {{ outputs.ship }}"},
		{"name":"sorry","instructions":"{{ state.last_deterministic_error.error }}"}]}`
	for answer, want := range map[string]string{
		"allow": "<shipped deploy:{\"to\":\"prod\"}>",
		"deny":  "<tool deploy failed: deploy did not run: a person has not allowed it. No reason was given.>",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			b, _, l := asking(t)
			b.tools.addEcho("deploy")
			_, err := b.run(source, nil)
			require.ErrorContains(t, err, "it waits for approval of deploy")
			require.Empty(t, b.tools.calls)
			l.leave("ship/attempt1/tool/wait", answer, b.waits()[0].Shown)
			res, err := b.goesOn(source)
			require.NoError(t, err)
			require.Equal(t, want, res.Output)
			require.Len(t, b.waits(), 1, "a denied call is not tried again")
			require.Len(t, b.tools.calls, map[string]int{"allow": 1}[answer])
		})
	}
}

// A limit that stops one branch outranks the wait of another: an answer would not help.
func TestWaitAndBudget(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","budget":{"max_usd":%s},"phases":[
		{"name":"a","instructions":"a","human_input":true},
		{"name":"b","instructions":"b {{ outputs.free }}","after":["free"]},{"name":"free","instructions":"free"},
		{"name":"end","instructions":"{{ state.human_a }}","after":["a","b"]}]}`
	b, m, l := asking(t)
	res, err := b.run(fmt.Sprintf(source, "0.02"), nil)
	require.Error(t, err)
	require.Equal(t, echo.StatusOverBudget, res.Status, "%v", err)
	require.Equal(t, []string{"a/node1/wait"}, b.open())
	raised := fmt.Sprintf(source, "0.02")
	res, err = b.goesOnWith(raised, &cascade.Budget{MaxUSD: 1})
	require.Error(t, err)
	require.Equal(t, echo.StatusWaiting, res.Status)
	l.leave("a/node1/wait", "fine", "")
	res, err = b.goesOn(raised)
	require.NoError(t, err)
	require.Equal(t, "<fine>", res.Output)
	b.once(m.requests)
}

// A branch that fails beside one that waits fails for good only when the run gets past the wait.
func TestWaitAndFailure(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"a","instructions":"a","human_input":true},
		{"name":"b","instructions":"b"},
		{"name":"end","instructions":"{{ state.human_a }}","after":["a","b"]}]}`
	b, m, l := asking(t)
	m.fail = func(_ *effect.ModelRequest, last string) error {
		if last == "b" {
			return &effect.ModelError{Kind: echo.ModelErrAuth, Model: "m", Message: "no key"}
		}
		return nil
	}
	res, err := b.run(source, nil)
	require.Error(t, err)
	require.Equal(t, echo.StatusWaiting, res.Status, "%v", err)
	require.Equal(t, []string{"a/node1/wait"}, b.open())
	l.leave("a/node1/wait", "fine", "")
	res, err = b.goesOn(source)
	require.ErrorContains(t, err, "no key")
	require.Equal(t, echo.StatusFailed, res.Status)
	require.Empty(t, b.open())
	m.fail = nil
	res, err = b.goesOn(source)
	require.NoError(t, err)
	require.Equal(t, "<fine>", res.Output)
	require.Len(t, b.waits(), 1)
}

// Wards and validators see what a person has allowed, and neither asks again.
func TestWaitsBesideChecks(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","validators":{"fair":{"instructions":"Is it fair? {{ content }}"}},"phases":[
		{"name":"p","instructions":"go","tackle":["deploy"],"rules":{"approve":["deploy"],"max_attempts":2,"loop_until":"fair"},
			"wards":{"post":[{"validator":"fair","mode":"blocking"}]},"human_input":{"type":"confirmation","prompt":"Ok?"}}]}`
	b, m, l := asking(t)
	b.tools.addEcho("deploy")
	m.calls = func(req *effect.ModelRequest) []echo.ToolCall {
		if req.Site.Turn == 1 && req.Site.Validator == "" && req.Site.Attempt == 1 {
			return []echo.ToolCall{{ID: "d", Name: "deploy", Arguments: `{}`}}
		}
		return nil
	}
	rejected := false
	m.answer = func(req *effect.ModelRequest, _ string) string {
		switch {
		case req.Site.Validator == "":
			return "done"
		case !rejected:
			rejected = true
			return `{"valid": false, "reason": "more"}`
		}
		return `{"valid": true}`
	}
	_, err := b.run(source, nil)
	require.ErrorContains(t, err, "approval of deploy")
	l.leave(b.open()[0], "allow", b.waits()[0].Shown)
	_, err = b.goesOn(source)
	require.ErrorContains(t, err, "waits for an answer")
	require.Equal(t, []string{"p/wait"}, b.open())
	l.leave("p/wait", true, "")
	res, err := b.goesOn(source)
	require.NoError(t, err)
	require.Equal(t, "done", res.Output)
	require.Len(t, b.tools.calls, 1)
	b.once(m.requests)
}

// A secret in what is asked is masked for whoever answers, and the wait has its time although it was masked.
func TestWaitWithASecret(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"p","tool":"ask_human_custom","inputs":{"question":"Is {{ env.GRANTED }} right?","ui_hint":"text"}},
		{"name":"q","tool":"request_decision","inputs":{"question":"{{ env.GRANTED }}?","options":[{"id":"y"}],"timeout_seconds":60}},{"name":"end","instructions":"{{ outputs.q }}"}]}`
	b, _, l := asking(t)
	b.runner.Mask, b.runner.Env = granted, map[string]string{"GRANTED": grantedSecret}
	_, err := b.run(source, nil)
	require.ErrorContains(t, err, "waits for an answer")
	require.Equal(t, "Is [value of GRANTED] right?", b.waits()[0].Form.Question)
	l.leave("p/attempt1/tool/wait", "it is "+grantedSecret, "")
	res, err := b.goesOn(source)
	require.ErrorContains(t, err, "waits for an answer", "a wait with a deadline has not passed because its question was masked")
	require.Equal(t, echo.StatusWaiting, res.Status)
	l.leave("q/attempt1/tool/wait", "y", "")
	res, err = b.goesOn(source)
	require.NoError(t, err)
	require.Contains(t, res.Output, "y")
	require.NotContains(t, recordOf(t, b), grantedSecret)
}

// forked makes the record of a bundle that of a fork with its first entries.
func (b *testBundle) forked(source string, upto int) *testBundle {
	b.t.Helper()
	x := *b
	x.entries = &inMemory{}
	for i, e := range b.entries.asRead(b.t)[:upto] {
		if i == 0 {
			require.NoError(b.t, e.SetHeader(json.RawMessage(fmt.Sprintf(`{"rules":1,"session_id":"s1","parent":"s0","parent_seq":%d,"cascade":%s}`, upto, source))))
		}
		x.entries.list = append(x.entries.list, e)
	}
	return &x
}

// A fork asks again what is asked after its place, and what was allowed in the session that it comes from
// but had not run there: who allowed it did not mean the fork. What had run is not asked again.
func TestForkAsksAgain(t *testing.T) {
	t.Parallel()
	b, l := deploying(t)
	_, err := b.run(deploys, nil)
	require.Error(t, err)
	shown := b.waits()[0].Shown
	l.leave("ship/attempt1/turn1/tool1/wait", "allow", shown)
	_, err = b.goesOn(deploys)
	require.NoError(t, err)
	whole := b.entries.asRead(t)
	at := map[echo.NodeType]int{}
	for i, e := range whole {
		if e.Key.String() == "ship/attempt1/turn1/tool1" || e.Key.String() == "ship/attempt1/turn1/tool1/wait" {
			at[e.NodeType] = i + 1
		}
	}
	ran := len(b.tools.calls)
	for node, again := range map[echo.NodeType][]string{
		echo.NodeWait:      {"ship/attempt1/turn1/tool1/wait"},
		echo.NodeAnswer:    {"ship/attempt1/turn1/tool1/wait2"},
		echo.NodeToolStart: nil,
		echo.NodeToolCall:  nil,
	} {
		require.Positive(t, at[node], node)
		t.Run(string(node), func(t *testing.T) {
			fork := b.forked(deploys, at[node])
			fork.tools, fork.model = &fakeTools{}, &fakeModel{answers: []answerFunc{say("shipped"), say("end")}}
			fork.tools.addEcho("deploy")
			fork.tools.addEcho("look")
			mail := &letters{}
			r := *b.runner
			r.Tools, r.Model, r.Mailbox = fork.tools, fork.model, mail
			fork.runner = &r
			res, err := fork.goesOn(deploys)
			if again != nil {
				require.ErrorContains(t, err, "waits for approval of deploy")
				require.Equal(t, again, fork.open())
				require.NotContains(t, calledNames(fork.tools.calls), "deploy")
				mail.leave(again[0], "allow", shown)
				res, err = fork.goesOn(deploys)
			}
			require.NoError(t, err)
			require.Equal(t, "end", res.Output)
			require.Equal(t, again != nil, slices.Contains(calledNames(fork.tools.calls), "deploy"))
		})
	}
	require.Len(t, b.tools.calls, ran)
}

func calledNames(calls []effect.ToolRequest) (out []string) {
	for _, c := range calls {
		out = append(out, c.Name)
	}
	return out
}

// Two waits of one answer: what is answered is taken, the other waits on, and the model is asked when both are.
func TestTwoWaitsOfOneAnswer(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"p","instructions":"go","tackle":["deploy","ask_human"],"rules":{"approve":["*"]}}]}`
	b := setup(t, call("deploy", `{"n":1}`, "ask_human", `{"question":"Who?"}`, "deploy", `{"n":2}`), say("done"))
	b.tools.addEcho("deploy")
	l := &letters{}
	b.runner.Mailbox = l
	_, err := b.run(source, nil)
	require.Error(t, err)
	turn := "p/attempt1/turn1/tool"
	require.Equal(t, []string{turn + "1/wait", turn + "2/wait", turn + "3/wait"}, b.open())
	shown := map[string]echo.Hash{}
	for _, e := range b.entries.of(echo.NodeWait) {
		w, err := echo.Read[echo.Wait](e)
		require.NoError(t, err)
		shown[e.Key.String()] = w.Shown
	}
	l.leave(turn+"3/wait", "allow", shown[turn+"3/wait"])
	_, err = b.goesOn(source)
	require.Error(t, err)
	require.Equal(t, []string{turn + "1/wait", turn + "2/wait"}, b.open())
	require.Len(t, b.tools.calls, 1)
	l.leave(turn+"2/wait", "me", "")
	l.leave(turn+"1/wait", "deny", shown[turn+"1/wait"])
	res, err := b.goesOn(source)
	require.NoError(t, err)
	require.Equal(t, "done", res.Output)
	require.Len(t, b.tools.calls, 1)
	last := b.model.requests[1].Messages
	require.Equal(t, []string{"deploy did not run: a person has not allowed it. No reason was given.", "me", `deploy:{"n":2}`},
		[]string{last[2].Text(), last[3].Text(), last[4].Text()})
}

// An approval of one call lets no other run, whatever of it is different: another answer is refused, and runs nothing.
func TestApprovalOfAnotherCall(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]echo.AwaitedCall{
		"tool":      {Tool: "deploz", Arguments: json.RawMessage(`{"n":1.50,"to":"prod"}`)},
		"arguments": {Tool: "deploy", Arguments: json.RawMessage(`{"n":1.5,"to":"prod"}`)},
		"cascade":   {Tool: "deploy", Arguments: json.RawMessage(`{"n":1.50,"to":"prod"}`), Cascade: "0123456789abcdef"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, l := deploying(t)
			_, err := b.run(deploys, nil)
			require.Error(t, err)
			if other.Cascade == "" {
				other.Cascade = b.waits()[0].Call.Cascade
			}
			l.leave("ship/attempt1/turn1/tool1/wait", "allow", other.Hash())
			_, err = b.goesOn(deploys)
			require.ErrorContains(t, err, fmt.Sprintf(`the approval of deploy is of another call than the one that waits: it was given for %q`, other.Hash()))
			require.NotContains(t, calledNames(b.tools.calls), "deploy")
		})
	}
}

// goesOnAt resumes the run from the first entries of its record, as a process does after one that died then.
func (b *testBundle) goesOnAt(ctx context.Context, source string, upto int) (*Result, error) {
	b.t.Helper()
	c := &cascade.Cascade{}
	require.NoError(b.t, json.Unmarshal([]byte(source), c))
	recording := b.entries.asRead(b.t)[:upto]
	b.entries = &inMemory{list: slices.Clone(recording)}
	return b.runner.Run(ctx, Spec{
		Cascade: c, Log: echo.ContinueLog("s1", uint64(upto), nil, nil, b.entries), WorkDir: "/scratch", Recording: recording,
	})
}

// A process that dies after any entry loses no answer, asks nothing twice, and runs nothing that was not allowed.
func TestWaitsAreResumedAtEveryEntry(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*testBundle, *letters, *candidates) {
		b, m, l := asking(t)
		b.tools.addEcho("deploy")
		b.tools.addEcho("look")
		m.calls = func(req *effect.ModelRequest) []echo.ToolCall {
			if req.Site.Phase == "ship" && req.Site.Turn == 1 {
				return []echo.ToolCall{{ID: "d", Name: "deploy", Arguments: `{"to":"prod"}`}, {ID: "l", Name: "look", Arguments: `{}`}}
			}
			return nil
		}
		return b, l, m
	}
	const source = `{"cascade_id":"c","phases":[{"name":"ship","instructions":"Ship it.","tackle":["deploy","look"],"rules":{"approve":["dep*"]},"human_input":{"prompt":"Ok?"}},
		{"name":"end","instructions":"{{ state.human_ship }}"}]}`
	answer := func(b *testBundle, l *letters) {
		for _, e := range record.OpenWaits(b.entries.asRead(b.t)) {
			w, err := echo.Read[echo.Wait](e)
			require.NoError(b.t, err)
			if w.Kind == echo.WaitApproval {
				l.leave(e.Key.String(), "allow", w.Shown)
			} else {
				l.leave(e.Key.String(), "fine", "")
			}
		}
	}
	finish := func(b *testBundle, l *letters, res *Result, err error) *Result {
		for range 4 {
			if err == nil {
				return res
			}
			require.True(b.t, effect.IsWaiting(err), "%v", err)
			answer(b, l)
			res, err = b.goesOn(source)
		}
		require.NoError(b.t, err)
		return res
	}
	b, l, _ := start(t)
	res, err := b.run(source, nil)
	finish(b, l, res, err)
	whole := len(b.entries.list)
	require.Greater(t, whole, 20)
	for at := 1; at < whole; at++ {
		t.Run(fmt.Sprintf("%d of %d %s", at, whole, b.entries.list[at-1].NodeType), func(t *testing.T) {
			t.Parallel()
			x, l, m := start(t)
			past := b.entries.asRead(t)[:at]
			if record.EndOf(past).Status == echo.StatusCompleted {
				return
			}
			x.entries = &inMemory{list: slices.Clone(past)}
			res, err := x.goesOnAt(context.Background(), source, at)
			res = finish(x, l, res, err)
			require.Equal(t, "<fine>", res.Output)
			waits := map[string]int{}
			for _, key := range x.entries.keys(echo.NodeWait) {
				waits[key]++
			}
			require.Equal(t, map[string]int{"ship/attempt1/turn1/tool1/wait": 1, "ship/wait": 1}, waits)
			require.Len(t, x.entries.of(echo.NodeAnswer), 2)
			seenBefore := func(node echo.NodeType) (n int) {
				for _, e := range past {
					if e.NodeType == node && e.Error == nil {
						n++
					}
				}
				return n
			}
			require.Len(t, m.requests, 3-seenBefore(echo.NodeModelCall), "nothing is paid twice")
			for _, c := range x.tools.calls {
				require.False(t, slices.ContainsFunc(past, func(e *echo.Entry) bool {
					return e.NodeType == echo.NodeToolCall && e.Tool.Name == c.Name
				}), "%s runs twice", c.Name)
			}
			require.False(t, strings.Contains(fmt.Sprint(res.Output), "unfinished"))
		})
	}
}

// What is shown of a call of a cascade covers that cascade, and all that it reaches: another one is another call.
func TestApprovalOfACascade(t *testing.T) {
	t.Parallel()
	deep := &cascade.Reached{Hash: "deep", Cascade: &cascade.Cascade{CascadeID: "deep"}}
	child := func(hash string, below ...*cascade.Reached) *cascade.Reached {
		r := &cascade.Reached{Hash: hash, Cascade: &cascade.Cascade{CascadeID: "child"}}
		for i, b := range below {
			r.Cascade.Reaches = map[string]*cascade.Reached{fmt.Sprint(i): b}
		}
		return r
	}
	of := func(r *cascade.Reached, tool string) string {
		c := &cascade.Cascade{CascadeID: "c", Reaches: map[string]*cascade.Reached{"child.json": r}}
		return desk.CascadeHash(c, tool, effect.NoMask{})
	}
	require.NotEqual(t, of(child("one"), "child"), of(child("two"), "child"))
	require.NotEqual(t, of(child("one"), "child"), of(child("one", deep), "child"))
	require.Equal(t, of(child("one", deep), "child"), of(child("one", deep), "child"))
	require.Equal(t, of(child("one"), "deploy"), of(child("two"), "deploy"), "another tool")
	circle := child("one")
	circle.Cascade.Reaches = map[string]*cascade.Reached{"self": circle}
	require.Equal(t, of(child("one"), "child"), of(circle, "child"))
}
