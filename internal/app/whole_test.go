package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// wholeFiles are a cascade that is tried several times as a whole, with a child of its own.
var wholeFiles = map[string]string{
	"top.json": `{"cascade_id": "top", "inputs_schema": {"type": "object", "properties": {"topic": {"type": "string"}}, "additionalProperties": false},
		"soundings": {"models": {"m1": {}, "m2": {"temperature": 0.5}}, "ballots": {"min": 1, "max": 1}, "on_tie": "first", "mutations": ["Be brief."], "mutation_mode": "approach",
			"validator": "min_words:2", "reforge": {"factor_per_step": 2}},
		"phases": [{"name": "colour", "tool": "set_state", "inputs": {"key": "color", "value": "{{ sounding_index }}"}},
			{"name": "draft", "context": {"include_input": false}, "instructions": "draft {{ input.topic }} {{ sounding_index }} {{ subs.leaf }}", "sub_cascades": [{"ref": "leaf.json", "input_map": {"topic": "{{ sounding_index }}"}}]}]}`,
	"leaf.json": `{"cascade_id": "leaf", "inputs_schema": {"topic": "about"}, "phases": [{"name": "one", "instructions": "leaf {{ input.topic }}"}]}`,
}

// Tries of a whole cascade are sessions of their own, each with its model; they are verified with the run.
func TestWholeCascadeIsTried(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startTree(t, a, m, treeJob(t, wholeFiles, "top.json"))
	res, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, "said draft sea 0 said leaf 0", res.Output)
	require.Equal(t, "0", res.State["color"])
	require.Equal(t, 8, verifyTree(t, a, "top"))
	require.Equal(t, 8, res.Children.Calls)
	require.Len(t, m.asked, res.Calls+res.Children.Calls)
	models := map[string]string{}
	for _, e := range a.recording(t, "top").Entries {
		if d, err := echo.Read[echo.ChildStart](e); err == nil {
			child := a.recording(t, d.Session)
			models[e.Key.String()] = string(child.Header.Cascade)
			v, err := a.Verify(t.Context(), child, Extensions{})
			require.NoError(t, err)
			require.True(t, v.Holds, "alone: %s", v.Difference)
		}
	}
	require.Contains(t, models["run/sounding2/candidate"], `"model":"m2"`)
	require.Contains(t, models["run/sounding2/candidate"], `"temperature":0.5`)
	require.NotContains(t, models["run/sounding1/candidate"], "temperature")
	require.NotContains(t, models["run/sounding1/candidate"], "soundings")
}

// However it is stopped, it goes on where it was, and nothing is asked twice but what was not answered.
func TestWholeCascadeIsStopped(t *testing.T) {
	t.Parallel()
	undisturbed := &speaker{}
	{
		a := newApp(t)
		r := startTree(t, a, undisturbed, treeJob(t, wholeFiles, "top.json"))
		_, err := r.Do(t.Context())
		require.NoError(t, err)
		require.NoError(t, r.Close().Err)
	}
	texts := slices.Compact(slices.Sorted(slices.Values(undisturbed.asked)))
	for _, text := range texts {
		t.Run("interrupted at "+text, func(t *testing.T) {
			t.Parallel()
			a, m := newApp(t), &speaker{}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m.says(text, func(context.Context) error { cancel(); return context.Canceled })
			r := startTree(t, a, m, treeJob(t, wholeFiles, "top.json"))
			_, err := r.Do(ctx)
			require.Error(t, err)
			require.NoError(t, r.Close().Err)
			verifyTree(t, a, "top")
			a = again(t, a)
			r = resumeParent(t, a, m, "top")
			res, err := r.Do(t.Context())
			require.NoError(t, err)
			require.NoError(t, r.Close().Err)
			require.Equal(t, "said draft sea 0 said leaf 0", res.Output)
			require.Equal(t, 8, verifyTree(t, a, "top"))
			require.Equal(t, 8, res.Children.Calls)
		})
	}
}

// When a model cannot be asked the run fails of that, and a resume asks it again.
func TestWholeCascadeFails(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	away := &effect.ModelError{Kind: echo.ModelErrNetwork, Model: "m1", Message: "away", Unpaid: true}
	for _, text := range []string{"leaf 0", "leaf 1"} {
		m.says(text, func(context.Context) error { return away })
	}
	r := startTree(t, a, m, treeJob(t, wholeFiles, "top.json"))
	_, err := r.Do(t.Context())
	require.ErrorContains(t, err, "top: all 2 candidates failed: the cascade ended failed: ")
	require.ErrorContains(t, err, "away")
	require.NoError(t, r.Close().Err)
	a = again(t, a)
	r = resumeParent(t, a, m, "top")
	res, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, "said draft sea 0 said leaf 0", res.Output)
	require.Equal(t, 8, verifyTree(t, a, "top"))
}

// A fork has candidates of its own where those of the original had not ended for it, and judges them in
// the same orders.
func TestForkOfAWholeCascade(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startTree(t, a, m, treeJob(t, wholeFiles, "top.json"))
	_, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	entries := a.recording(t, "top").Entries
	for seq := range entries[:len(entries)-1] {
		fork, err := a.Fork(t.Context(), "top", uint64(seq+1), ForkOptions{ResumeOptions: ResumeOptions{Extensions: Extensions{Model: m}}}, Watch{})
		require.NoError(t, err)
		res, err := fork.Do(t.Context())
		require.NoError(t, err, "entry %d, %s", seq+1, entries[seq].Key)
		require.NoError(t, fork.Close().Err)
		require.Equal(t, "said draft sea 0 said leaf 0", res.Output)
		verifyTree(t, a, fork.ID())
	}
}

// costly is a speaker whose answers on drafts of the second candidate cost ten times as much.
type costly struct{ speaker }

func (m *costly) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	resp, err := m.speaker.Complete(ctx, req)
	if err == nil && strings.HasPrefix(resp.Message.Text(), "said draft 1") {
		resp.CostUSD, resp.Usage.Out = new(0.1), 70
	}
	return resp, err
}

// In a choice a candidate stands with all that it took, wherever a fork begins: also with what the fork has a
// copy of. What the fork says that it took itself is without that.
func TestForkWeighsWhatItHasCopied(t *testing.T) {
	t.Parallel()
	const soundings = `"soundings": {"factor": 2, "max_parallel": 1, "ballots": {"min": 1, "max": 1}, "on_tie": "cheapest"}`
	for name, files := range map[string]map[string]string{
		"of the whole cascade": {"top.json": `{"cascade_id": "top", ` + soundings + `, "phases": [{"name": "draft", "instructions": "draft {{ sounding_index }}"}]}`},
		"of the whole cascade, with a child": {
			"top.json":  `{"cascade_id": "top", ` + soundings + `, "phases": [{"name": "every", "context": {"include_input": false}, "instructions": "every {{ subs.leaf }}", "sub_cascades": [{"ref": "leaf.json", "input_map": {"n": "{{ sounding_index }}"}}]}]}`,
			"leaf.json": `{"cascade_id": "leaf", "phases": [{"name": "draft", "context": {"include_input": false}, "instructions": "draft {{ input.n }}"}]}`,
		},
		"of a phase, with a child": {
			"top.json":  `{"cascade_id": "top", "phases": [{"name": "every", "context": {"include_input": false}, ` + soundings + `, "instructions": "every {{ subs.leaf }}", "sub_cascades": [{"ref": "leaf.json", "input_map": {"n": "{{ sounding_index }}"}}]}]}`,
			"leaf.json": `{"cascade_id": "leaf", "phases": [{"name": "draft", "context": {"include_input": false}, "instructions": "draft {{ input.n }}"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, m := newApp(t), &costly{}
			r := startTree(t, a, m, treeJob(t, files, "top.json"))
			_, err := r.Do(t.Context())
			require.NoError(t, err)
			require.NoError(t, r.Close().Err)
			entries := a.recording(t, "top").Entries
			want := choiceOf(t, entries)
			require.Equal(t, []any{1, echo.ChoiceCheapest}, []any{want.Winner, want.How})
			for seq := range entries[:len(entries)-1] {
				where := fmt.Sprintf("entry %d, %s", seq+1, entries[seq].Key)
				m.asked = nil
				fork, err := a.Fork(t.Context(), "top", uint64(seq+1), ForkOptions{ResumeOptions: ResumeOptions{Extensions: Extensions{Model: m}}}, Watch{})
				require.NoError(t, err)
				_, err = fork.Do(t.Context())
				require.NoError(t, err)
				sums := fork.Sums()
				require.NoError(t, fork.Close().Err)
				require.Equal(t, want, choiceOf(t, a.recording(t, fork.ID()).Entries), where)
				verifyTree(t, a, fork.ID())
				require.Equal(t, len(m.asked), sums.Totals.Calls+sums.Children.Totals.Calls, where)
			}
		})
	}
}

// choiceOf returns the only choice of a session.
func choiceOf(t *testing.T, entries []*echo.Entry) (choice echo.Choice) {
	t.Helper()
	i := slices.IndexFunc(entries, func(e *echo.Entry) bool { return e.NodeType == echo.NodeChoice })
	require.GreaterOrEqual(t, i, 0)
	choice, err := echo.Read[echo.Choice](entries[i])
	require.NoError(t, err)
	return choice
}
