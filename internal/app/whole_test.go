package app

import (
	"context"
	"slices"
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
