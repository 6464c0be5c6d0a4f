package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/views"
)

func (f *fakeModel) marks() (marks [][]int) {
	for _, r := range f.requests {
		marks = append(marks, r.CacheMarks)
	}
	return marks
}

// Marks stand at the end of the opening, of what a request shares with the one before, and of the
// request itself; the last call writes nothing that nobody would read.
func TestCacheMarksOfAPhase(t *testing.T) {
	t.Parallel()
	b := setup(t, call("look", `{}`), call("look", `{"n":1}`), call("look", `{"n":2}`), say("done"), say("alone"))
	b.tools.addEcho("look")
	b.known(map[string]effect.ModelFacts{"m": {MarkCache: true}})
	_, err := b.run(`{"cascade_id":"c","phases":[
		{"name":"p","instructions":"Go.","tackle":["look"],"rules":{"max_turns":3,"loop_until":"json"}},{"name":"q","instructions":"One turn."}]}`, nil)
	require.Error(t, err, "the answer is no JSON")
	// 0 system, 1 task, 2 calls, 3 result, 4 calls, 5 result, 6 calls, 7 result, 8 notice
	require.Equal(t, [][]int{{0, 1}, {0, 1, 3}, {0, 3, 5}, {0, 5}}, b.model.marks())

	b = setup(t, say("alone"))
	b.known(map[string]effect.ModelFacts{"m": {MarkCache: true}})
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"q","instructions":"One turn."}]}`, nil)
	require.NoError(t, err)
	require.Nil(t, b.model.requests[0].CacheMarks)
}

// A view that leaves something out shares less with the request before. Without the fact nothing is
// marked, and what is recorded of a run decides.
func TestCacheMarksFollowTheView(t *testing.T) {
	t.Parallel()
	for _, marks := range []bool{true, false} {
		b := setup(t, readBig(6)...)
		b.tools.addBig("read", 2000)
		b.known(map[string]effect.ModelFacts{"m": {Window: 100_000, MarkCache: marks}})
		_, err := b.run(`{"cascade_id":"c","auto_context":{"intra_phase":{"window":1,"mask_observations_after":1,"advance":"every_turn","min_masked_size":10}},
			"phases":[{"name":"p","instructions":"Go.","tackle":["read"]}]}`, nil)
		require.NoError(t, err)
		facts, err := echo.Read[echo.ModelFacts](b.entries.of(echo.NodeValue)[0])
		require.NoError(t, err)
		require.Equal(t, marks, facts.MarkCache)
		for i, r := range b.model.requests {
			if !marks {
				require.Nil(t, r.CacheMarks)
				continue
			}
			require.LessOrEqual(t, len(r.CacheMarks), 4)
			require.Equal(t, len(r.Messages)-1, r.CacheMarks[len(r.CacheMarks)-1])
			if i > 0 {
				require.Contains(t, r.CacheMarks, views.SharedPrefix(b.model.requests[i-1].Messages, r.Messages)-1)
			}
		}
	}
}
