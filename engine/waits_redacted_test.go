package engine

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/redaction"
)

// redacts takes a message out of the record of a bundle, and returns what the session is then, and what it goes on with.
func (b *testBundle) redacts(source string, of echo.Hash) ([]*echo.Entry, effect.Redactions) {
	b.t.Helper()
	rec := &journal.Recording{
		Header:  journal.Header{Rules: 1, SessionID: "s1", Cascade: json.RawMessage(source), Input: json.RawMessage(`{}`), Options: json.RawMessage(`{}`)},
		Entries: b.entries.asRead(b.t),
	}
	p, err := redaction.New(rec, of, redaction.Options{At: time.Unix(0, 0).UTC(), Reason: "r", Parts: true})
	require.NoError(b.t, err)
	x := effect.Redactions{Messages: p.Header.Redacted()}
	for _, r := range p.Header.Redactions {
		x.Entries = append(x.Entries, r.Entries...)
		if r.Numbers > 0 {
			x.Zeros = r.Entries[0]
		}
	}
	var out []*echo.Entry
	for _, e := range rec.Entries {
		now, err := p.Change(e)
		require.NoError(b.t, err)
		if now == nil {
			now = e
		}
		out = append(out, now)
	}
	return out, x
}

// A redaction takes what was asked and what was answered out of a record, which still holds; a call whose approval showed
// what was taken out does not run any more.
func TestRedactedWaits(t *testing.T) {
	t.Parallel()
	const canary = "canary-5f2c9e7a11d04b6f"
	const source = `{"cascade_id":"c","phases":[
		{"name":"ask","instructions":"Ask.","tackle":["ask_human","deploy"],"rules":{"approve":["deploy"]},"human_input":{"prompt":"Is {{ outputs.ask }} right?"}},
		{"name":"end","instructions":"Done."}]}`
	start := func(t *testing.T) (*testBundle, *letters) {
		b := setup(t, call("ask_human", `{"question":"Is it `+canary+`?","context":"`+canary+`"}`, "deploy", `{"to":"`+canary+`","n":12345}`), say("It is "+canary+"."), say("end"))
		b.tools.addEcho("deploy")
		l := &letters{}
		b.runner.Mailbox = l
		_, err := b.run(source, nil)
		require.Error(t, err)
		return b, l
	}
	approval := func(b *testBundle) echo.Hash {
		at := slices.IndexFunc(b.waits(), func(w *echo.Wait) bool { return w.Kind == echo.WaitApproval })
		return b.waits()[at].Shown
	}
	verify := func(b *testBundle, entries []*echo.Entry, x effect.Redactions) {
		c := &cascade.Cascade{}
		require.NoError(t, json.Unmarshal([]byte(source), c))
		again := *b.runner
		again.Model, again.Tools = nil, onlySpecs{b.tools}
		_, err := again.Run(context.Background(), Spec{Cascade: c, WorkDir: "/scratch", Name: "s1", Recording: entries, Redacted: x})
		require.NoError(t, err, "it holds")
	}
	call := func(b *testBundle) echo.Hash { return b.entries.of(echo.NodeModelCall)[0].ContentHash }
	for _, decision := range []map[string]any{
		{"decision": "allow"}, {"decision": "deny", "reason": canary}, {"decision": "edit", "arguments": map[string]any{"to": canary + "x", "n": json.Number("7")}},
	} {
		t.Run(decision["decision"].(string), func(t *testing.T) {
			b, l := start(t)
			l.leave("ask/attempt1/turn1/tool1/wait", canary+" it is", "")
			l.leave("ask/attempt1/turn1/tool2/wait", decision, approval(b))
			_, err := b.goesOn(source)
			require.ErrorContains(t, err, "waits for an answer")
			l.leave("ask/wait", "yes, "+canary, "")
			_, err = b.goesOn(source)
			require.NoError(t, err)
			for _, hash := range []echo.Hash{call(b), b.entries.of(echo.NodeModelCall)[1].ContentHash, b.entries.of(echo.NodeToolCall)[0].ContentHash} {
				entries, x := b.redacts(source, hash)
				verify(b, entries, x)
				for _, e := range entries {
					if hash == call(b) && (e.NodeType == echo.NodeWait || e.NodeType == echo.NodeAnswer) {
						require.NotContains(t, string(e.Data), canary, "%s after %s", e.Key, hash)
					}
				}
			}
		})
	}
	t.Run("before it was decided", func(t *testing.T) {
		b, l := start(t)
		shown := approval(b)
		entries, x := b.redacts(source, call(b))
		b.entries = &inMemory{list: entries}
		l.leave("ask/attempt1/turn1/tool1/wait", "so", "")
		l.leave("ask/attempt1/turn1/tool2/wait", "allow", shown)
		c := &cascade.Cascade{}
		require.NoError(t, json.Unmarshal([]byte(source), c))
		_, err := b.runner.Run(context.Background(), Spec{
			Cascade: c, Log: echo.ContinueLog("s1", uint64(len(entries)), nil, nil, b.entries), WorkDir: "/scratch", Recording: entries, Redacted: x,
		})
		require.ErrorContains(t, err, "the approval of deploy is of another call than the one that waits")
		require.Empty(t, b.tools.calls, "what was shown is not what would run")
	})
}
