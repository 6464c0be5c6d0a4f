package engine

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// A model that reads masked results again is answered, is not scolded for it, and the record says
// that it did.
func TestReadingAgainIsCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.tools.addBig("big", 3000)
	b.model.answers = readBig(10)[:10]
	for i := range 3 { // results 0, 1 and 2 are masked by now: the calls are made again
		b.model.answers = append(b.model.answers, call("big", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i := range 3 { // and 3, 4 and 5 are recalled
		b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			hash := b.resultOf(fmt.Sprintf(`{"n":%d}`, i+3))
			return call("recall", fmt.Sprintf(`{"hash":%q,"limit":100}`, hash[:8]))(req)
		})
	}
	b.model.answers = append(b.model.answers, call("recall", `{"hash":"nothing"}`), say("done"))
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["big"],`+everyTurn+`}]}`, nil)
	require.NoError(t, err)
	ph := res.Phases[0]
	require.Equal(t, []int{3, 3}, []int{ph.Recalls, ph.Rereads})
	last := b.model.requests[len(b.model.requests)-1].Messages
	require.NotContains(t, bytesOf(last), "You made the same call")
	require.Contains(t, bytesOf(last), "characters 1 to 100 of 3000; read on with offset 100]")
	require.Contains(t, bytesOf(last), "is no hash")
	require.Contains(t, b.entries.warnings(), fmt.Sprintf("6 of %d masked tool results were read again (3 recalls, 3 repeated calls): "+
		"masking is too eager here; raise intra_context.mask_observations_after (now 2), or name the tool in intra_context.exclude_tools (big)", ph.MaskedResults))
	end := b.entries.of(echo.NodePhaseEnd)[0]
	require.Contains(t, string(end.Data), `"recalls":3,"rereads":3`)
}

// resultOf returns the hash of what big said to some arguments.
func (b *testBundle) resultOf(arguments string) string {
	for _, e := range b.entries.of(echo.NodeToolCall) {
		if e.Tool.Name == "big" && e.Tool.Arguments == arguments {
			return string(e.ContentHash)
		}
	}
	b.t.Fatalf("no call with %s", arguments)
	return ""
}

// Repeating what is still there to be seen is noticed as ever; every attempt may read anew what the
// one before read.
func TestRepeatsOfWhatIsShownAreNoticed(t *testing.T) {
	t.Parallel()
	b := setup(t, call("big", `{}`), call("big", `{}`), say("bad"), call("big", `{}`), say("two words"))
	b.tools.addBig("big", 3000)
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["big"],"rules":{"max_attempts":2,"loop_until":"min_words:2"},`+everyTurn+`}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, bytesOf(b.model.requests[2].Messages), "You made the same call")
	require.Zero(t, res.Phases[0].Rereads)
	require.Empty(t, b.entries.warnings())
}

// recall can be listed by a phase, and reads what other phases saw.
func TestRecallReachesOtherPhases(t *testing.T) {
	t.Parallel()
	b := setup(t, call("big", `{"n":1}`), say("out a"))
	b.tools.addBig("big", 50)
	b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		return call("recall", fmt.Sprintf(`{"hash":%q}`, b.resultOf(`{"n":1}`)))(req)
	}, say("out b"))
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A","tackle":["big"]},{"name":"b","instructions":"B","tackle":["recall"]}]}`, nil)
	require.NoError(t, err)
	last := b.model.requests[3].Messages
	require.Contains(t, last[len(last)-1].Text(), "result of big in phase a, turn 1: characters 1 to 50 of 50]")
}
