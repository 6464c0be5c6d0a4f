package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/secret"
)

const (
	grantedSecret = "gr@nted/s3cret"
	toolSecret    = "t00l-s3cret-value"
)

var (
	granted = secret.New(secret.Value{Name: "GRANTED", Value: grantedSecret})
	both    = granted.With(secret.Value{Name: "TOOL", Value: toolSecret})
)

// secretCascade takes a secret past everything that a run records of templates and tools.
const secretCascade = `{"cascade_id": "c", "phases": [
	{"name": "read", "tool": "read", "inputs": {"q": "{{ env.GRANTED }}", "in": "{{ input.key }}"}},
	{"name": "store", "tool": "set_state", "inputs": {"key": "kept", "value": "{{ env.GRANTED }}"}},
	{"name": "ask", "instructions": "Use {{ env.GRANTED }}, {{ state.kept }}, {{ outputs.read }}.", "tackle": ["read"], "rules": {"max_turns": 2}},
	{"name": "next", "instructions": "Go on.", "context": {"from": [{"phase": "ask", "include": ["messages", "output"]}]}}]}`

func secretBundle(t *testing.T, mask effect.Mask) (*testBundle, *[]string) {
	t.Helper()
	got := &[]string{}
	b := setup(t, call("read", `{"q": "x"}`), say("It is "+toolSecret+"."), say("Done."))
	b.tools.add("read", `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		*got = append(*got, string(req.Arguments))
		return effect.ToolResult{Parts: echo.Text("found " + toolSecret + " and " + grantedSecret)}, nil
	})
	b.runner.Env = map[string]string{"GRANTED": grantedSecret}
	b.runner.Mask = mask
	return b, got
}

func recordOf(t *testing.T, b *testBundle) string {
	t.Helper()
	var out strings.Builder
	for _, e := range b.entries.asRead(t) {
		out.Write(effect.MustJSON(e))
	}
	return out.String()
}

// What is recorded holds no secret, and the tool and the model that a template was rendered for get
// it all the same.
func TestMaskedRun(t *testing.T) {
	t.Parallel()
	b, got := secretBundle(t, both)
	_, err := b.run(secretCascade, map[string]any{"key": toolSecret})
	require.NoError(t, err)
	require.False(t, both.Has(recordOf(t, b)), both.Text(recordOf(t, b)))
	require.JSONEq(t, `{"q": "`+grantedSecret+`", "in": "`+toolSecret+`"}`, (*got)[0])
	first, last := b.model.requests[0], b.model.requests[len(b.model.requests)-1]
	task := first.Messages[len(first.Messages)-1]
	require.Equal(t, "Use [value of GRANTED], [value of GRANTED], found [value of TOOL] and [value of GRANTED].", strings.SplitN(task.Text(), "\n\nInput", 2)[0])
	require.Contains(t, task.Open().Text(), "Use "+grantedSecret+", [value of GRANTED], found [value of TOOL]")
	for _, m := range last.Messages[:len(last.Messages)-1] {
		require.False(t, both.Has(string(m.Open().JSON())), "what is brought to another phase")
	}
}

// A record that was made when nothing was masked, or fewer secrets were known, is followed as it
// is; a run that is resumed from one masks what is new.
func TestRecordsWithSecretsAreFollowed(t *testing.T) {
	t.Parallel()
	input := map[string]any{"key": toolSecret}
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(secretCascade), c))
	for name, mask := range map[string]effect.Mask{"none": nil, "fewer": granted, "all": both} {
		b, _ := secretBundle(t, mask)
		_, err := b.run(secretCascade, input)
		require.NoError(t, err, name)
		past := b.entries.asRead(t)
		replay := *b.runner
		replay.Mask, replay.Model, replay.Tools = both, nil, onlySpecs{b.tools}
		for _, in := range []map[string]any{input, {"key": "[value of TOOL]"}} {
			if in["key"] != toolSecret && name != "all" {
				continue // the header of a record has the input as it was recorded
			}
			_, err = replay.Run(context.Background(), Spec{Cascade: c, Input: in, WorkDir: "/scratch", Name: "s1", Recording: past})
			require.NoError(t, err, "%s, replayed when all are known", name)
		}
	}

	b, _ := secretBundle(t, nil)
	_, err := b.run(secretCascade, input)
	require.NoError(t, err)
	var past []*echo.Entry
	for _, e := range b.entries.asRead(t) {
		if strings.HasPrefix(e.Key.String(), "next") {
			break
		}
		past = append(past, e)
	}
	again, _ := secretBundle(t, both)
	again.model.answers = []answerFunc{say("Done.")}
	log := echo.ContinueLog("s1", uint64(len(past)), nil, nil, again.entries)
	_, err = again.runner.Run(context.Background(), Spec{Cascade: c, Input: input, Log: log, WorkDir: "/scratch", Recording: past})
	require.NoError(t, err)
	require.Len(t, again.model.requests, 1, "the rest was answered from the record")
	require.False(t, both.Has(recordOf(t, again)), both.Text(recordOf(t, again)))
	for _, m := range again.model.requests[0].Messages {
		if m.Kind() == echo.KindContext {
			require.False(t, both.Has(string(m.Open().JSON())), "of the phase before, which was recorded with it")
		}
	}
}
