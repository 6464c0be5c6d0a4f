package effecttest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// everywhere is a site with all that a site can say of a call that a phase makes.
var everywhere = effect.Site{Cascade: "c", Phase: "p", Visit: 1, Attempt: 1, Turn: 1}

// everything is a request with all that a request can say.
func everything() *effect.ModelRequest {
	warm := 0.5
	req := Ask("m", "everything")
	req.Site = everywhere
	req.Messages = append([]*echo.Message{echo.NewText(echo.RoleSystem, echo.KindSystem, "be brief")}, req.Messages...)
	req.Tools = []effect.ToolSpec{
		{Name: "read", Description: "reads", Parameters: json.RawMessage(`{"type":"object"}`), Idempotent: true}, spec("write"),
	}
	req.NoToolCalls, req.Prompted, req.Temperature, req.MaxOutputTokens, req.AnswerLength = true, true, &warm, 99, 50
	req.Options = map[string]json.RawMessage{"seed": json.RawMessage("7")}
	return req
}

// wholeUse is a request of a tool with all that it can say.
func wholeUse(tool string) effect.ToolRequest {
	req := Use(tool, tool)
	req.Site, req.SessionID, req.Timeout = everywhere, "s", time.Minute
	return req
}

func wholeRequest(t testing.TB, b *bench) {
	var streamed []effect.Delta
	req := everything()
	req.OnDelta = func(d effect.Delta) { streamed = append(streamed, d) }
	_, err := b.model(t, wholes.Step(echo.StepModel), req)
	require.NoError(t, err)
	require.Equal(t, []effect.Delta{{Text: "answer to everything"}}, streamed)
	require.Len(t, b.world.requests, 1)
	require.Equal(t, sent(req), sent(&b.world.requests[0]))
	for n, name := range []string{"write", "read"} {
		_, err := b.effects.Tool(t.Context(), wholes.Numbered(echo.StepTool, n+1), spec(name), wholeUse(name))
		require.NoError(t, err)
		require.Equal(t, wholeUse(name), b.world.calls[n])
	}
}

// sentRequest is what a model is sent.
type sentRequest struct {
	effect.ModelRequest
	messages []string
}

// sent is a request as a model gets it, for comparison: without how it is parsed and streamed, and
// without what can be computed.
func sent(req *effect.ModelRequest) sentRequest {
	out := sentRequest{ModelRequest: *req}
	for _, m := range req.Messages {
		out.messages = append(out.messages, string(m.Open().JSON()))
	}
	out.Messages, out.Parse, out.OnDelta, out.ToolsDigest = nil, nil, nil, [32]byte{}
	return out
}

// call is one call of effects, and what it came to, so that two of them can be compared.
type call func(testing.TB, effect.Effects) any

// outcome is what a call came to, without the message, which is compared as JSON.
type outcome struct {
	response effect.ModelResponse
	message  string
	failure  *effect.ModelError
	err      string
}

func (o *outcome) said(t testing.TB, m *echo.Message) {
	if m == nil {
		return
	}
	text, err := json.Marshal(m)
	require.NoError(t, err)
	o.message = string(text)
}

func (o *outcome) failed(err error) {
	var me *effect.ModelError
	switch {
	case errors.As(err, &me):
		failure := *me
		failure.Message, failure.Hint, failure.Err = mask{}.Text(me.Message), mask{}.Text(me.Hint), nil
		o.failure = &failure
	case err != nil:
		o.err = mask{}.Text(err.Error())
	}
}

func asks(key echo.Key, req *effect.ModelRequest) call {
	return func(t testing.TB, x effect.Effects) any {
		var o outcome
		resp, err := x.Model(t.Context(), key, req)
		o.failed(err)
		if resp != nil {
			o.said(t, resp.Message)
			o.response = *resp
			o.response.Message = nil
		}
		return o
	}
}

func uses(key echo.Key, req effect.ToolRequest) call {
	return func(t testing.TB, x effect.Effects) any {
		var o outcome
		m, err := x.Tool(t.Context(), key, spec(req.Name), req)
		o.failed(err)
		o.said(t, m)
		return o
	}
}

func reads(key echo.Key, reading echo.Payload) call {
	return func(t testing.TB, x effect.Effects) any {
		raw, err := x.Value(t.Context(), key, site, func() echo.Payload { return reading })
		require.NoError(t, err)
		return string(raw)
	}
}

// perform makes calls, and returns what they came to.
func perform(t testing.TB, x effect.Effects, calls []call) (out []any) {
	t.Helper()
	for _, c := range calls {
		out = append(out, c(t, x))
	}
	return out
}

// replays holds that a replay of what was recorded comes to the same.
func (b *bench) replays(t testing.TB, calls []call, came []any) {
	t.Helper()
	if b.Records {
		replay := effect.NewRecorder(effect.Options{Recording: b.disk.Entries(), Mask: mask{}})
		require.Equal(t, came, perform(t, replay, calls), "a replay of what is recorded")
	}
}

func wholeCalls() []call {
	return []call{
		asks(wholes.Step(echo.StepModel), everything()),
		asks(wholes.Try(echo.StepModel, 2), Ask(Failing, "too much")),
		asks(wholes.Try(echo.StepModel, 3), Ask(Refused, "a refused call")),
		asks(wholes.Try(echo.StepModel, 4), Ask(Broken, "what is not there")),
		uses(wholes.Numbered(echo.StepTool, 1), wholeUse("write")),
		uses(wholes.Numbered(echo.StepTool, 2), wholeUse("read")),
		uses(wholes.Numbered(echo.StepTool, 3), Use(Failing, "this")),
		uses(wholes.Numbered(echo.StepTool, 4), Use(Broken, "that")),
		reads(wholes.Step(echo.StepClock), clockNow),
	}
}

// wholeOutcomes holds entries against what the world said, and what is returned against both.
func wholeOutcomes(t testing.TB, b *bench) {
	came := perform(t, b.effects, wholeCalls())
	a := answered("everything")
	want := outcome{response: *a}
	want.said(t, a.Message)
	want.response.Message = nil
	require.Equal(t, want, came[0])
	require.Equal(t, outcome{failure: failing()}, came[1])
	require.Equal(t, outcome{failure: refused()}, came[2])
	for _, e := range wholeEntries() {
		if got := b.outcome(t, e.NodeType, e.Key); got != nil {
			sameEntry(t, e, got)
		}
	}
	b.replays(t, wholeCalls(), came)
}

// wholeEntries are the entries of the whole calls.
func wholeEntries() (out []*echo.Entry) {
	model := func(key echo.Key, req *effect.ModelRequest, call echo.ModelCall) *echo.Entry {
		e := echo.NewEntry(key, call)
		e.CascadeID, e.Model, e.RequestHash = "c", req.Model, req.Hash()
		out = append(out, e)
		return e
	}
	a, f, r := answered("everything"), failing(), refused()
	e := model(wholes.Step(echo.StepModel), everything(), echo.ModelCall{
		Model: a.Model, FinishReason: a.FinishReason, Retries: a.Retries, RetryKinds: a.RetryKinds, Ignored: a.Ignored,
		CacheWritten: a.CacheWritten,
	})
	e.Message, e.Provider, e.Scripted, e.Usage, e.CostUSD = a.Message, a.Provider, true, &a.Usage, a.CostUSD
	e = model(wholes.Try(echo.StepModel, 2), Ask(Failing, "too much"), echo.ModelCall{
		Model: f.Model, Retries: f.Retries, RetryKinds: f.RetryKinds, Status: f.Status, Hint: f.Hint,
	})
	e.Provider, e.Error = f.Provider, &echo.Failure{Kind: "server", Message: f.Message}
	e = model(wholes.Try(echo.StepModel, 3), Ask(Refused, "a refused call"), echo.ModelCall{Model: r.Model, Status: r.Status})
	e.Provider, e.Error, e.CostUSD = r.Provider, &echo.Failure{Kind: "auth", Message: r.Message}, new(float64)
	e = model(wholes.Try(echo.StepModel, 4), Ask(Broken, "what is not there"), echo.ModelCall{Failed: true})
	e.Error = &echo.Failure{Kind: "failed", Message: errBroken.Error()}
	tool := func(n int, req effect.ToolRequest, text string, failure *echo.Failure) {
		key := wholes.Numbered(echo.StepTool, n)
		call := echo.ToolCall{ID: req.CallID, Name: req.Name, Arguments: string(req.Arguments)}
		out = append(out, &echo.Entry{
			NodeType: echo.NodeToolCall, Key: key, CascadeID: "c", Message: echo.NewToolResult(call, echo.Text(text), failure != nil),
			Tool: &echo.ToolUse{Name: call.Name, CallID: call.ID, Arguments: call.Arguments}, Error: failure,
		})
	}
	tool(1, wholeUse("write"), `write of {"what":"write"}`, nil)
	tool(2, wholeUse("read"), `read of {"what":"read"}`, nil)
	tool(3, Use(Failing, "this"), "it failed", &echo.Failure{Kind: "exit_status", Message: "it failed"})
	tool(4, Use(Broken, "that"), errBroken.Error(), &echo.Failure{Kind: "failed", Message: errBroken.Error()})
	reading := echo.NewEntry(wholes.Step(echo.StepClock), clockNow)
	reading.CascadeID = "c"
	return append(out, reading)
}

// sameEntry holds an entry against what it should say, but for times and durations.
func sameEntry(t testing.TB, want, got *echo.Entry) {
	t.Helper()
	want.SessionID, want.Seq, want.At, want.DurationMS = got.SessionID, got.Seq, got.At, got.DurationMS
	want.SetKeyFields()
	if want.Message != nil {
		want.ContentHash = want.Message.Hash()
	}
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, string(wanted), string(text), "entry of %s", got.Key)
}

// begunOnce holds all entries that tools leave.
func begunOnce(t testing.TB, b *bench) {
	use := func(n int, name string, site effect.Site) {
		req := Use(name, name)
		req.Site = site
		_, err := b.effects.Tool(context.WithoutCancel(t.Context()), begun.Numbered(echo.StepTool, n), spec(name), req)
		require.NoError(t, err)
	}
	judge := site
	judge.Validator = "judge"
	use(1, "write", site)
	use(2, "read", site)
	use(3, "write", judge)
	var got []string
	for _, e := range b.disk.Entries() {
		got = append(got, string(e.NodeType)+" "+e.Key.From(begun))
	}
	require.Equal(t, []string{"tool_start tool1", "tool_call tool1", "tool_call tool2", "tool_call tool3"}, got)
	req := Use("write", "write")
	sameEntry(t, &echo.Entry{
		NodeType: echo.NodeToolStart, Key: begun.Numbered(echo.StepTool, 1), CascadeID: "c",
		Tool: &echo.ToolUse{Name: "write", CallID: req.CallID, Arguments: string(req.Arguments)},
	}, b.disk.Entries()[0])
}
