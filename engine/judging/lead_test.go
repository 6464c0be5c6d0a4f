package judging

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Judgements wait for the first one until its answer begins, where the task is long and the cache is cheaper.
func TestJudgementsFollowTheFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, namesFirst)
	b.begin(nil, echo.NewLog("s1", nil, nil, sink{b}))
	j := &judge{bench: b, task: strings.Repeat("A long task. ", 1000), facts: effect.ModelFacts{Price: &echo.Price{Input: 2, Cached: 0.2}}}
	sheets := make([]sheet, 3)
	l := j.lead(sheets)
	require.NotNil(t, l)
	key := func(n int) echo.Key { return b.place.Key.Numbered(echo.StepBallot, n).Step(echo.StepModel) }
	first, told := &effect.ModelRequest{OnDelta: func(effect.Delta) {}}, 0
	first.OnDelta = func(effect.Delta) { told++ }
	leave, err := l.enter(t.Context(), b.Calls(), key(1), first)
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.enter(gone, b.Calls(), key(2), &effect.ModelRequest{})
	require.ErrorIs(t, err, context.Canceled, "it waits")
	first.OnDelta(effect.Delta{})
	_, err = l.enter(gone, b.Calls(), key(2), &effect.ModelRequest{})
	require.ErrorIs(t, err, context.Canceled, "nothing was said yet")
	first.OnDelta(effect.Delta{Text: "{"})
	require.Equal(t, 2, told)
	other, err := l.enter(t.Context(), b.Calls(), key(2), &effect.ModelRequest{})
	require.NoError(t, err)
	other()
	leave() // once more does no harm

	l = j.lead(sheets)
	leave, err = l.enter(t.Context(), b.Calls(), key(1), &effect.ModelRequest{})
	require.NoError(t, err)
	leave() // its call failed
	_, err = l.enter(t.Context(), b.Calls(), key(2), &effect.ModelRequest{})
	require.NoError(t, err)

	require.Nil(t, j.lead(sheets[:1]), "nobody follows")
	j.facts.Price.Cached = 2
	require.Nil(t, j.lead(sheets), "the cache saves nothing")
	j.facts.Price.Cached, j.task = 0.2, "A short task."
	require.Nil(t, j.lead(sheets), "the task is too short for a cache")
	_, err = j.lead(sheets).enter(gone, b.Calls(), key(1), &effect.ModelRequest{})
	require.NoError(t, err)
}

// A cache that has to be asked for keeps the task, where several judgements share it.
func TestTasksAreMarkedForTheCache(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A long task. ", 1000)
	for name, tc := range map[string]struct {
		task, instructions string
		facts              effect.ModelFacts
		marks              []int
	}{
		"a long task":                    {long, "", effect.ModelFacts{MarkCache: true}, []int{1}},
		"a cache that nobody has to ask": {long, "", effect.ModelFacts{}, nil},
		"a short task":                   {"A short task.", "", effect.ModelFacts{MarkCache: true}, nil},
		"instructions with the task":     {long, "with the task", effect.ModelFacts{MarkCache: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, names("blue"))
			b.facts = map[string]effect.ModelFacts{"m": tc.facts}
			b.render = func(_, _ string, more map[string]any) (string, error) { return "For " + more["task"].(string), nil }
			_, err := b.ask(Question{Task: tc.task, Settings: &soundings.Soundings{EvaluatorInstructions: tc.instructions}, Entrants: sea})
			require.NoError(t, err)
			for _, req := range b.requests {
				require.Equal(t, tc.marks, req.CacheMarks)
			}
		})
	}
}
