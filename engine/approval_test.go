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
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/secret"
)

const (
	shipping   = `{"cascade_id":"c","phases":[{"name":"ship","instructions":"Ship it.","tackle":["deploy","look"],"rules":{"approve":["deploy"]}}]}`
	deployArgs = `{"to": "production", "n": 1.50}`
	deployKey  = "ship/attempt1/turn1/tool1/wait"
)

// approvedCall is a session that waits for the approval of a call, with the hash of what was shown.
func approvedCall(t *testing.T) (b *testBundle, l *letters, shown echo.Hash) {
	t.Helper()
	b = setup(t, call("deploy", deployArgs), say("shipped"))
	b.tools.addEcho("deploy")
	b.tools.addEcho("look")
	l = &letters{}
	b.runner.Mailbox = l
	_, err := b.run(shipping, nil)
	require.ErrorContains(t, err, "it waits for approval of deploy")
	return b, l, b.waits()[0].Shown
}

// resumesFrom resumes a run from entries that may have been changed, and holds nothing of the record.
func (b *testBundle) resumesFrom(source string, recording []*echo.Entry) error {
	b.t.Helper()
	c := &cascade.Cascade{}
	require.NoError(b.t, json.Unmarshal([]byte(source), c))
	b.entries = &inMemory{list: slices.Clone(recording)}
	_, err := b.runner.Run(context.Background(), Spec{
		Cascade: c, Log: echo.ContinueLog("s1", uint64(len(recording)), nil, nil, b.entries), WorkDir: "/scratch", Recording: recording,
	})
	return err
}

// ofCall changes the call that a recorded answer of a model makes.
func ofCall(t *testing.T, entries []*echo.Entry, change func(*echo.ToolCall)) {
	t.Helper()
	for _, e := range entries {
		if e.NodeType == echo.NodeModelCall {
			d := e.Message.Draft()
			d.ToolCalls = slices.Clone(d.ToolCalls)
			change(&d.ToolCalls[0])
			e.Message = echo.Seal(d)
			e.ContentHash = e.Message.Hash()
		}
	}
}

// ofWait changes a recorded wait, and the hash of what it shows.
func ofWait(t *testing.T, entries []*echo.Entry, change func(*echo.Wait)) {
	t.Helper()
	for _, e := range entries {
		if e.NodeType == echo.NodeWait {
			w, err := echo.Read[echo.Wait](e)
			require.NoError(t, err)
			change(&w)
			e.Set(w)
		}
	}
}

// What was allowed runs, and nothing else does: a session is changed in each part of what was shown after a person has
// allowed the call and before it runs.
func TestApprovalHoldsForWhatWasShown(t *testing.T) {
	t.Parallel()
	const refused, strays = "the approval of deploy is of another call than the one that waits", "the run does not follow its record"
	for name, c := range map[string]struct {
		source string
		change func(t *testing.T, b *testBundle, entries []*echo.Entry)
		err    string // "": the call runs
	}{
		"nothing": {},
		"the order of arguments, and white space": {change: func(t *testing.T, _ *testBundle, entries []*echo.Entry) {
			ofCall(t, entries, func(c *echo.ToolCall) { c.Arguments = "{\n\"n\":1.50 ,\t\"to\":\"\\u0070roduction\"}" })
		}},
		"an argument": {change: func(t *testing.T, _ *testBundle, entries []*echo.Entry) {
			ofCall(t, entries, func(c *echo.ToolCall) { c.Arguments = `{"to": "test", "n": 1.50}` })
		}, err: strays},
		"a digit": {change: func(t *testing.T, _ *testBundle, entries []*echo.Entry) {
			ofCall(t, entries, func(c *echo.ToolCall) { c.Arguments = `{"to": "production", "n": 1.5}` })
		}, err: strays},
		"another argument": {change: func(t *testing.T, _ *testBundle, entries []*echo.Entry) {
			ofCall(t, entries, func(c *echo.ToolCall) { c.Arguments = `{"to": "production", "n": 1.50, "force": true}` })
		}, err: strays},
		"the arguments and the wait": {change: func(t *testing.T, _ *testBundle, entries []*echo.Entry) {
			ofCall(t, entries, func(c *echo.ToolCall) { c.Arguments = `{"n":1.50,"to":"test"}` })
			ofWait(t, entries, func(w *echo.Wait) {
				w.Call.Arguments = json.RawMessage(`{"n":1.50,"to":"test"}`)
				w.Shown = w.Call.Hash()
			})
		}, err: refused},
		"the arguments and the wait, which keeps its hash": {change: func(t *testing.T, _ *testBundle, entries []*echo.Entry) {
			ofCall(t, entries, func(c *echo.ToolCall) { c.Arguments = `{"n":1.50,"to":"test"}` })
			ofWait(t, entries, func(w *echo.Wait) { w.Call.Arguments = json.RawMessage(`{"n":1.50,"to":"test"}`) })
		}, err: strays},
		"only the wait": {change: func(t *testing.T, _ *testBundle, entries []*echo.Entry) {
			ofWait(t, entries, func(w *echo.Wait) {
				w.Call.Arguments = json.RawMessage(`{"n":1.50,"to":"test"}`)
				w.Shown = w.Call.Hash()
			})
		}, err: strays},
		"the tool": {change: func(t *testing.T, _ *testBundle, entries []*echo.Entry) {
			ofCall(t, entries, func(c *echo.ToolCall) { c.Name = "look" })
		}, err: strays},
		"a description of the cascade": {source: strings.Replace(shipping, `"cascade_id":"c"`, `"cascade_id":"c","description":"other"`, 1), err: strays},
		"a rule of the cascade":        {source: strings.Replace(shipping, `"approve":["deploy"]`, `"approve":["deploy"],"max_turns":3`, 1), err: strays},
		"the schema of the tool": {change: func(_ *testing.T, b *testBundle, _ []*echo.Entry) {
			b.tools.schemas["deploy"] = `{"type":"object","properties":{"to":{"type":"string"}}}`
		}, err: strays},
		"a secret that is known now": {change: func(_ *testing.T, b *testBundle, _ []*echo.Entry) {
			b.runner.Mask = secret.New(secret.Value{Name: "WHERE", Value: "production"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, l, shown := approvedCall(t)
			l.leave(deployKey, "allow", shown)
			entries := b.entries.asRead(t)
			if c.change != nil {
				c.change(t, b, entries)
			}
			source := c.source
			if source == "" {
				source = shipping
			}
			err := b.resumesFrom(source, entries)
			if c.err == "" {
				require.NoError(t, err)
				require.Len(t, b.tools.calls, 1)
				require.Equal(t, `{"n":1.50,"to":"production"}`, string(b.tools.calls[0].Arguments))
				return
			}
			require.ErrorContains(t, err, c.err)
			require.Empty(t, b.tools.calls, "nothing runs")
			for _, e := range b.entries.list[len(entries):] {
				require.NotContains(t, []echo.NodeType{echo.NodeToolStart, echo.NodeToolCall}, e.NodeType)
			}
		})
	}
}

// A decision that is no decision, or is on something else, allows nothing.
func TestApprovalOfEditedLetters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value any
		shown func(echo.Hash) echo.Hash
		err   string
	}{
		"no hash":          {"allow", func(echo.Hash) echo.Hash { return "" }, "is of another call than the one that waits"},
		"a digit is other": {"allow", func(h echo.Hash) echo.Hash { return h[:15] + echo.Hash(flipped(h[15])) }, "is of another call than the one that waits"},
		"in capitals":      {"allow", func(h echo.Hash) echo.Hash { return echo.Hash(strings.ToUpper(string(h))) + "F" }, "is of another call than the one that waits"},
		"a denial of another call": {
			map[string]any{"decision": "deny"}, func(echo.Hash) echo.Hash { return "0123456789abcdef" }, "is of another call than the one that waits",
		},
		"no decision":             {"perhaps", nil, `the decision is "perhaps": it is allow, deny or edit`},
		"nothing":                 {nil, nil, `the decision is "": it is allow, deny or edit`},
		"a number":                {json.Number("1"), nil, `the answer is {"decision": "allow"}`},
		"allowed with arguments":  {map[string]any{"decision": "allow", "arguments": map[string]any{"to": "test"}}, nil, "only an edit has arguments"},
		"an edit without any":     {map[string]any{"decision": "edit"}, nil, "an edit needs arguments"},
		"an edit that is no call": {map[string]any{"decision": "edit", "arguments": []any{"production"}}, nil, "read the approval of deploy"},
		"another tool":            {map[string]any{"decision": "allow", "tool": "look"}, nil, `the answer is {"decision": "allow"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, l, shown := approvedCall(t)
			if c.shown != nil {
				shown = c.shown(shown)
			}
			l.leave(deployKey, c.value, shown)
			require.ErrorContains(t, b.resumesFrom(shipping, b.entries.asRead(t)), c.err)
			require.Empty(t, b.tools.calls, "nothing runs")
		})
	}
}

func flipped(digit byte) string {
	if digit == '0' {
		return "1"
	}
	return "0"
}

// The bytes of the arguments that a person is shown are those that the tool gets, whatever a model has written, and no two
// calls that differ look the same.
func TestShownArgumentsRun(t *testing.T) {
	t.Parallel()
	hashes := map[echo.Hash]string{}
	for _, args := range []string{
		`{}`, `{"a":""}`, `{"a":" "}`, `{"a":"\u00a0"}`, `{"a":"\t"}`, `{"a":"\n"}`, `{"a":"\r\n"}`, `{"a":"\u0000"}`, `{"a":"\u001b[2J"}`, `{"a":"\u007f"}`,
		`{"a":"\u0085"}`, `{"a":"\u200b"}`, `{"a":"\u202e"}`, `{"a":"\u2066"}`, `{"a":"\ufeff"}`, `{"a":"\u2028"}`, `{"a":"\ufffd"}`, `{"a":"é"}`, `{"a":"e\u0301"}`,
		`{"a":"а"}`, `{"a":"a"}`, `{"a":"A"}`, `{"a":"<script>"}`, `{"a":"&lt;script&gt;"}`, `{"a":"\\u003c"}`, `{"a":"/"}`, `{"a":"\\/"}`, `{"a":"\""}`, `{"a":"\\\""}`,
		`{"a":null}`, `{"a":true}`, `{"a":"true"}`, `{"a":false}`, `{"a":0}`, `{"a":-0}`, `{"a":0.0}`, `{"a":1}`, `{"a":1.0}`, `{"a":1e0}`, `{"a":"1"}`, `{"a":[]}`, `{"a":{}}`,
		`{"a":[1]}`, `{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":[[1],2]}`, `{"a":{"b":1}}`, `{"a.b":1}`, `{"A":1}`, `{"":1}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`,
		`{"a":9007199254740993}`, `{"a":9007199254740992}`, `{"a":1e400}`, `{"a":"\ud83d\ude00"}`, `{"__proto__":1}`, `{"a":"{{ env.HOME }}"}`,
	} {
		b := setup(t, call("deploy", args), say("shipped"))
		b.tools.addEcho("deploy")
		b.tools.addEcho("look")
		l := &letters{}
		b.runner.Mailbox = l
		_, err := b.run(shipping, nil)
		require.ErrorContains(t, err, "it waits for approval of deploy", args)
		w := b.waits()[0]
		require.NotContains(t, hashes, w.Shown, "%s and %s", args, hashes[w.Shown])
		hashes[w.Shown] = args
		l.leave(deployKey, "allow", w.Shown)
		_, err = b.goesOn(shipping)
		require.NoError(t, err, args)
		require.Len(t, b.tools.calls, 1)
		require.Equal(t, string(w.Call.Arguments), string(b.tools.calls[0].Arguments), args)
		require.Equal(t, w.Shown, w.Call.Hash())
	}
	// What differs only in how it is written is the same call.
	for _, same := range []string{" { } ", `{"a":1,"a":""}`, `{"\u0061":""}`} {
		canonical, err := waiting.Canonical(json.RawMessage(same))
		require.NoError(t, err)
		require.Contains(t, []string{`{}`, `{"a":""}`}, string(canonical))
	}
}

// A person is shown the name of a secret, and the hash has it: the call runs with the value that the name has
// then. Another name is another call, and so is a text in its place.
func TestApprovalOfSecrets(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"ship","tool":"deploy","inputs":{"key":"{{ env.KEY }}","to":"production"},"rules":{"approve":["deploy"]}}]}`
	const key = "ship/attempt1/tool/wait"
	knows := func(b *testBundle, name, value string) {
		b.runner.Env = map[string]string{"KEY": value}
		b.runner.Mask = secret.New(secret.Value{Name: name, Value: value})
	}
	start := func(t *testing.T) (*testBundle, *letters, echo.Hash) {
		t.Helper()
		b := setup(t)
		b.tools.addEcho("deploy")
		l := &letters{}
		b.runner.Mailbox = l
		knows(b, "KEY", "s3cret-of-monday")
		_, err := b.run(source, nil)
		require.ErrorContains(t, err, "it waits for approval of deploy")
		w := b.waits()[0]
		require.JSONEq(t, `{"key":"[value of KEY]","to":"production"}`, string(w.Call.Arguments))
		l.leave(key, "allow", w.Shown)
		return b, l, w.Shown
	}
	for name, c := range map[string]struct {
		change func(*testBundle)
		runs   string // "": it is refused
	}{
		"the same value":   {func(*testBundle) {}, "s3cret-of-monday"},
		"a rotated value":  {func(b *testBundle) { knows(b, "KEY", "s3cret-of-tuesday") }, "s3cret-of-tuesday"},
		"another name":     {func(b *testBundle) { knows(b, "OTHER", "s3cret-of-monday") }, ""},
		"no secret":        {func(b *testBundle) { b.runner.Env, b.runner.Mask = map[string]string{"KEY": "plain"}, effect.NoMask{} }, ""},
		"part of a secret": {func(b *testBundle) { knows(b, "KEY", "s3cret-of-monday"); b.runner.Env["KEY"] += "!" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, _ := start(t)
			c.change(b)
			err := b.resumesFrom(source, b.entries.asRead(t))
			if c.runs == "" {
				require.Error(t, err)
				require.Empty(t, b.tools.calls, "nothing runs")
				return
			}
			require.NoError(t, err)
			require.JSONEq(t, fmt.Sprintf(`{"key":%q,"to":"production"}`, c.runs), string(b.tools.calls[0].Arguments))
			require.NotContains(t, recordOf(t, b), c.runs)
		})
	}
	// What a model writes is masked before anything is done with it: what it is shown as is what runs.
	b := setup(t, call("deploy", `{"to":"s3cret-of-monday"}`), say("shipped"))
	b.tools.addEcho("deploy")
	b.tools.addEcho("look")
	l := &letters{}
	b.runner.Mailbox = l
	knows(b, "KEY", "s3cret-of-monday")
	_, err := b.run(shipping, nil)
	require.ErrorContains(t, err, "it waits for approval of deploy")
	require.Equal(t, `{"to":"[text: value of KEY]"}`, string(b.waits()[0].Call.Arguments), "which is a text, and no secret")
	l.leave(deployKey, "allow", b.waits()[0].Shown)
	_, err = b.goesOn(shipping)
	require.NoError(t, err)
	require.Equal(t, `{"to":"[value of KEY]"}`, string(b.tools.calls[0].Arguments))
}

// An edit that keeps the mark of a secret runs with its value, which is in no record; it names no other secret.
func TestEditsOfSecrets(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"ship","tool":"deploy","inputs":{"key":"Bearer {{ env.KEY }}","to":"production"},"rules":{"approve":["deploy"]}}]}`
	for name, c := range map[string]struct{ edit, runs, err string }{
		"it stays":         {`{"key":"Bearer [value of KEY]","to":"test"}`, `{"key":"Bearer %s","to":"test"}`, ""},
		"it is elsewhere":  {`{"key":"none","to":"x[value of KEY][value of KEY]"}`, `{"key":"none","to":"x%[1]s%[1]s"}`, ""},
		"a text":           {`{"key":"[text: value of KEY]","to":"test"}`, `{"key":"[value of KEY]","to":"test"}`, ""},
		"nothing changes":  {`{"key":"Bearer [value of KEY]","to":"production"}`, `{"key":"Bearer %s","to":"production"}`, ""},
		"another secret":   {`{"key":"[value of OTHER]","to":"test"}`, "", "read the approval of deploy: the arguments have [value of OTHER], and those that were shown do not"},
		"a secret, pasted": {`{"key":"s3cret-of-others","to":"test"}`, "", "the arguments have [value of OTHER]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.tools.addEcho("deploy")
			l := &letters{}
			b.runner.Mailbox = l
			knows := func(value string) {
				b.runner.Env = map[string]string{"KEY": value}
				b.runner.Mask = secret.New(secret.Value{Name: "KEY", Value: value}, secret.Value{Name: "OTHER", Value: "s3cret-of-others"})
			}
			knows("s3cret-of-monday")
			_, err := b.run(source, nil)
			require.ErrorContains(t, err, "it waits for approval of deploy")
			l.leave("ship/attempt1/tool/wait", map[string]any{"decision": "edit", "arguments": json.RawMessage(c.edit)}, b.waits()[0].Shown)
			knows("s3cret-of-tuesday")
			err = b.resumesFrom(source, b.entries.asRead(t))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.Empty(t, b.tools.calls, "nothing runs")
				return
			}
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(strings.ReplaceAll(c.runs, "%[1]s", "%s"), "%s", "s3cret-of-tuesday"), string(b.tools.calls[0].Arguments))
			require.NotContains(t, recordOf(t, b), "s3cret-of-tuesday")
			require.NoError(t, b.resumesFrom(source, b.entries.asRead(t)), "its record is followed")
			require.Len(t, b.tools.calls, 1)
		})
	}
	// The model is told of it without the value.
	b := setup(t, call("deploy", deployArgs), say("shipped"))
	b.tools.addEcho("deploy")
	b.tools.addEcho("look")
	b.runner.Mask = secret.New(secret.Value{Name: "WHERE", Value: "production"})
	l := &letters{}
	b.runner.Mailbox = l
	_, err := b.run(shipping, nil)
	require.ErrorContains(t, err, "it waits for approval of deploy")
	l.leave(deployKey, map[string]any{"decision": "edit", "arguments": json.RawMessage(`{"to":"[text: value of WHERE]"}`)}, b.waits()[0].Shown)
	_, err = b.goesOn(shipping)
	require.NoError(t, err)
	require.Equal(t, `{"to":"[value of WHERE]"}`, string(b.tools.calls[0].Arguments))
	require.Contains(t, recordOf(t, b), `A person has changed the arguments of deploy before it ran: {\"to\":\"[value of WHERE]\"}`)
}
