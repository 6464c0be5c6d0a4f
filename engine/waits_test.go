package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// letters is a mailbox with what people have left in it, by the keys of the waits.
type letters struct {
	mu    sync.Mutex
	left  map[string]*echo.Answer
	asked []string
}

func (l *letters) Answer(_ context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, req.Key.String())
	return l.left[req.Key.String()], nil
}

func (l *letters) leave(key string, value any, shown echo.Hash) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == nil {
		l.left = map[string]*echo.Answer{}
	}
	l.left[key] = &echo.Answer{Value: value, By: "ada", Via: echo.ViaCommand, At: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), Shown: shown}
}

// goesOn resumes the run of a bundle from its record, which it replaces.
func (b *testBundle) goesOn(source string) (*Result, error) {
	b.t.Helper()
	return b.goesOnWith(source, nil)
}

// goesOnWith is goesOn with another budget.
func (b *testBundle) goesOnWith(source string, budget *cascade.Budget) (*Result, error) {
	b.t.Helper()
	c := &cascade.Cascade{}
	require.NoError(b.t, json.Unmarshal([]byte(source), c))
	recording := b.entries.asRead(b.t)
	require.NoError(b.t, CheckResumable(recording))
	b.entries = &inMemory{list: slices.Clone(recording)}
	res, err := b.runner.Run(context.Background(), Spec{
		Cascade: c, Log: echo.ContinueLog("s1", uint64(len(recording)), nil, nil, b.entries), WorkDir: "/scratch", Recording: recording, Budget: budget,
	})
	if !effect.IsRecordError(err) {
		checkFold(b.t, b.entries.asRead(b.t), res)
		b.checkReplay(c, nil, res, err)
	}
	return res, err
}

func (b *testBundle) waits() []*echo.Wait {
	var out []*echo.Wait
	for _, e := range b.entries.of(echo.NodeWait) {
		w, err := echo.Read[echo.Wait](e)
		require.NoError(b.t, err)
		out = append(out, &w)
	}
	return out
}

const deploys = `{"cascade_id":"c","phases":[{"name":"ship","instructions":"Ship it.","tackle":["deploy","look"],"rules":{"approve":["dep*"]}},
	{"name":"end","instructions":"Done? {{ outputs.ship }}"}]}`

func deploying(t *testing.T) (*testBundle, *letters) {
	b := setup(t, call("deploy", `{"to": "prod", "n": 1.50}`, "look", `{}`), say("shipped"), say("end"))
	b.tools.addEcho("deploy")
	b.tools.addEcho("look")
	l := &letters{}
	b.runner.Mailbox = l
	return b, l
}

// A call that needs approval does not run before it is allowed; the calls beside it do. The run waits
// without anything else being done, and asks once.
func TestApproval(t *testing.T) {
	t.Parallel()
	b, l := deploying(t)
	res, err := b.run(deploys, nil)
	require.ErrorContains(t, err, "c/ship (attempt 1, turn 1): it waits for approval of deploy")
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Equal(t, echo.StopWaiting, res.Reason)
	require.Len(t, b.tools.calls, 1, "the other call runs")
	require.Equal(t, "look", b.tools.calls[0].Name)
	require.Len(t, b.waits(), 1)
	w := b.waits()[0]
	require.JSONEq(t, `{"n":1.50,"to":"prod"}`, string(w.Call.Arguments))

	res, err = b.goesOn(deploys)
	require.Error(t, err)
	require.Equal(t, echo.StatusWaiting, res.Status, "nobody has answered")
	require.Len(t, b.waits(), 1, "it is asked once")

	l.leave("ship/attempt1/turn1/tool1/wait", map[string]any{"decision": "allow"}, w.Shown)
	res, err = b.goesOn(deploys)
	require.NoError(t, err)
	require.Equal(t, "end", res.Output)
	require.Len(t, b.tools.calls, 2)
	require.Equal(t, `{"n":1.50,"to":"prod"}`, string(b.tools.calls[1].Arguments), "what was shown runs")
	require.Len(t, b.model.requests, 3, "nothing is paid twice")
}

func TestApprovalDeniedAndEdited(t *testing.T) {
	t.Parallel()
	shown := func(b *testBundle) echo.Hash { return b.waits()[0].Shown }
	b, l := deploying(t)
	_, err := b.run(deploys, nil)
	require.Error(t, err)
	l.leave("ship/attempt1/turn1/tool1/wait", map[string]any{"decision": "deny", "reason": "Not on a Friday."}, shown(b))
	_, err = b.goesOn(deploys)
	require.NoError(t, err)
	require.Len(t, b.tools.calls, 1, "it does not run")
	require.Equal(t, "deploy did not run: a person has not allowed it. Not on a Friday.", b.model.requests[1].Messages[2].Text())

	b, l = deploying(t)
	_, err = b.run(deploys, nil)
	require.Error(t, err)
	l.leave("ship/attempt1/turn1/tool1/wait", map[string]any{"decision": "edit", "arguments": map[string]any{"to": "staging"}}, shown(b))
	_, err = b.goesOn(deploys)
	require.NoError(t, err)
	require.Equal(t, `{"to":"staging"}`, string(b.tools.calls[1].Arguments))
	last := b.model.requests[1].Messages
	require.Equal(t, `A person has changed the arguments of deploy before it ran: {"to":"staging"}`, last[len(last)-1].Text())

	b, l = deploying(t)
	_, err = b.run(deploys, nil)
	require.Error(t, err)
	l.leave("ship/attempt1/turn1/tool1/wait", "allow", "0123456789abcdef")
	_, err = b.goesOn(deploys)
	require.ErrorContains(t, err, `the approval of deploy is of another call than the one that waits`)
	require.Len(t, b.tools.calls, 1, "what was not shown does not run")
}

// Questions, signals and human_input wait in the same way; what nobody answers ends at its deadline.
func TestQuestions(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"ask","instructions":"Ask.","tackle":["ask_human"],"handoffs":["gate"]},
		{"name":"gate","tool":"await_signal","inputs":{"signal_name":"go","timeout":60},"routing":{"fired":"end","timeout":"late"}},
		{"name":"end","instructions":"{{ outputs.gate.payload.n }}","human_input":{"prompt":"Ok?","type":"confirmation"},"handoffs":["last"]},
		{"name":"late","instructions":"late","handoffs":["last"]},
		{"name":"last","instructions":"{{ state.human_end }}"}]}`
	b := setup(t, call("ask_human", `{"question":"Which?"}`), say("asked"), say("n"), say("last"))
	l := &letters{}
	b.runner.Mailbox = l
	_, err := b.run(source, nil)
	require.ErrorContains(t, err, "waits for an answer")
	l.leave("ask/attempt1/turn1/tool1/wait", "the blue one", "")
	_, err = b.goesOn(source)
	require.ErrorContains(t, err, `waits for the signal "go"`)
	require.Equal(t, "the blue one", b.model.requests[1].Messages[2].Text())
	l.leave("gate/attempt1/tool/wait", map[string]any{"n": json.Number("7")}, "")
	_, err = b.goesOn(source)
	require.ErrorContains(t, err, "c/end (attempt 1, turn 1): it waits for an answer")
	l.leave("end/wait", true, "")
	res, err := b.goesOn(source)
	require.NoError(t, err)
	require.Equal(t, "last", res.Output)
	require.Equal(t, "true", b.model.requests[3].Messages[0].Text())
}
