package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// graphFiles are a graph: c and list are after a, end is after all; mend handles the error of bad.
var graphFiles = map[string]string{
	"graph.json": `{"cascade_id": "graph", "max_parallel": 2, "phases": [
		{"name": "a", "instructions": "a {{ subs.leaf }}", "sub_cascades": [{"ref": "leaf.json", "input_map": {"topic": "input.topic"}}],
		 "async_cascades": [{"ref": "leaf.json", "name": "note", "input_map": {"topic": "{{ input.topic }} note"}}]},
		{"name": "b", "instructions": "b"},
		{"name": "bad", "instructions": "bad", "rules": {"loop_until": "min_words:9", "max_attempts": 1}, "on_error": "mend"},
		{"name": "mend", "instructions": "mend"},
		{"name": "c", "after": ["a"], "instructions": "c of {{ outputs.a }}"},
		{"name": "list", "after": ["a"], "instructions": "item {{ item }}", "for_each": {"items": ["x", "y"]}},
		{"name": "end", "after": ["b", "c", "bad", "list"], "instructions": "end of {{ outputs.b }}, {{ outputs.c }}, {{ outputs.list | join(' ') }}"}]}`,
	"leaf.json": treeFiles["leaf.json"],
}

const (
	askedEnd = "end of said b, said c of said a said said leaf sea twice, said item x said item y"
	askedC   = "c of said a said said leaf sea twice"
)

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// forkPhase forks at a phase, runs the fork to its end, and returns what its models were asked.
func forkPhase(t *testing.T, a *App, m *speaker, phase string, c *cascade.Cascade) (asked []string, output any) {
	t.Helper()
	m.asked = nil
	fork, ok, err := ForkPhase(t.Context(), a, "top", phase, ForkOptions{Cascade: c, File: "better.json", ResumeOptions: ResumeOptions{Extensions: Extensions{Model: m}}}, Watch{})
	require.NoError(t, err, phase)
	require.True(t, ok, phase)
	res, err := fork.Do(t.Context())
	require.NoError(t, err, phase)
	require.NoError(t, fork.Close().Err)
	verifyTree(t, a, fork.ID())
	own := slices.DeleteFunc(slices.Clone(m.asked), func(q string) bool {
		return strings.Contains(q, "leaf") && q != askedC && !strings.HasPrefix(q, "a ") && q != askedEnd
	})
	require.Equal(t, len(own), fork.Sums().Totals.Calls, "what was copied is in no sum")
	return sorted(m.asked), res.Output
}

// A fork of a graph at a phase begins the phase again, and what is after it, and nothing else.
func TestForkPhaseOfAGraph(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startTree(t, a, m, treeJob(t, graphFiles, "graph.json"))
	_, err := r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	leaf := []string{"leaf sea", "said leaf sea twice", "leaf sea note", "said leaf sea note twice"}
	for phase, want := range map[string][]string{
		"a":         append([]string{"a said said leaf sea twice", askedC, "item x", "item y", askedEnd}, leaf...),
		"b":         {"b", askedEnd},
		"b/node2":   {"b", askedEnd},
		"bad":       {"bad", "mend", askedEnd},
		"mend":      {"mend", askedEnd},
		"c":         {askedC, askedEnd},
		"list":      {"item x", "item y", askedEnd},
		"end":       {askedEnd},
		"end/node7": {askedEnd},
	} {
		asked, output := forkPhase(t, a, m, phase, nil)
		require.Equal(t, sorted(want), asked, phase)
		require.Equal(t, "said "+askedEnd, output, phase)
	}
	_, ok, err := ForkPhase(t.Context(), a, "top", "none", ForkOptions{}, Watch{})
	require.NoError(t, err)
	require.False(t, ok)
}

// However a graph was stopped, phases that have ended are not run again by a fork at another one; one that
// failed for good is, as the fork would fail of it, too.
func TestForkPhaseOfAStoppedGraph(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"b", "bad", askedC, "item y", askedEnd, "said leaf sea note twice"} {
		for how, stop := range map[string]func(cancel func()) error{
			"interrupted": func(cancel func()) error { cancel(); return context.Canceled },
			"failed": func(func()) error {
				return &effect.ModelError{Kind: echo.ModelErrNetwork, Model: "m1", Message: "away", Unpaid: true}
			},
		} {
			t.Run(how+" at "+text, func(t *testing.T) {
				t.Parallel()
				a, m := newApp(t), &speaker{}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m.says(text, func(context.Context) error { return stop(cancel) })
				r := startTree(t, a, m, treeJob(t, graphFiles, "graph.json"))
				_, _ = r.Do(ctx) // a child beside the run may fail without it
				require.NoError(t, r.Close().Err)
				ended := map[string]bool{}
				for _, e := range a.recording(t, "top").Entries {
					if d, err := echo.Read[echo.PhaseEnd](e); err == nil && d.Status == echo.StatusCompleted && e.Key.HasBranches() {
						ended[e.Phase] = true
					}
				}
				before := m.asked
				asked, output := forkPhase(t, a, m, "b", nil)
				require.Equal(t, "said "+askedEnd, output)
				require.Contains(t, asked, "b")
				for _, q := range asked {
					first, _, _ := strings.Cut(q, " ")
					require.False(t, ended[first] && first != "b" && first != "end", "%s had ended, and is asked again", first)
					require.True(t, q == "b" || q == text || q == askedEnd || !slices.Contains(before, q), "%s was answered", q)
				}
			})
		}
	}
}

// A phase of a graph that failed for good runs again with a cascade that is better, and what had ended
// beside it is reused.
func TestForkOfAFailedGraph(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id": "graph", "phases": [{"name": "a", "instructions": "a"}, {"name": "x", "instructions": "x"RULES},
		{"name": "end", "after": ["a", "x"], "instructions": "end"}, {"name": "late", "after": ["a"], "instructions": "late"}]}`
	a, m := newApp(t), &speaker{}
	r := startTree(t, a, m, treeJob(t, map[string]string{"g.json": strings.Replace(source, "RULES", `, "rules": {"loop_until": "min_words:9", "max_attempts": 1}`, 1)}, "g.json"))
	_, err := r.Do(t.Context())
	require.ErrorContains(t, err, "no answer passed loop_until min_words:9")
	require.NoError(t, r.Close().Err)
	require.Equal(t, []string{"a", "late", "x"}, sorted(m.asked))
	file := filepath.Join(t.TempDir(), "better.json")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(source, "RULES", "", 1)), 0o600))
	better, found, err := LoadFile(t.Context(), file, Known())
	require.NoError(t, err, found)
	for _, phase := range []string{"x", "late"} {
		asked, output := forkPhase(t, a, m, phase, better)
		want := []string{"end", "x"}
		if phase == "late" {
			want = []string{"end", "late", "x"}
		}
		require.Equal(t, want, asked, phase)
		require.Equal(t, "said late", output)
	}
}
