package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/effect"
)

// The newest groups are sent, whole, beside the task and what stands; recall brings back what has left.
func TestGroups(t *testing.T) {
	t.Parallel()
	var answers []answerFunc
	for n := 1; n <= 5; n++ {
		answers = append(answers, call("look", fmt.Sprintf(`{"n":%d}`, n)), say(fmt.Sprintf("answer %d\n### STATE\nGoal: g%d", n, n)))
	}
	b := setup(t, answers...)
	b.tools.addEcho("look")
	res, err := b.run(`{"cascade_id":"c","continuity":{"groups":2,"state_block":true},"phases":[
		{"name":"p","instructions":"Work.","tackle":["look"],"rules":{"max_turns":10,"turn_prompt":"Again {{ turn }}."}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "answer 5", res.Output)
	var last *effect.ModelRequest
	for i, req := range b.model.requests {
		require.Equal(t, "recall", req.Tools[len(req.Tools)-1].Name, "offered from the start: the tools stay the same")
		text := strings.Join(roles(req), "\n")
		require.Contains(t, text, "user: Work.", "the task is always sent")
		if i > 0 { // each turn has a prompt, and so is a group
			require.Contains(t, text, fmt.Sprintf("user: Again %d.", i+1))
			require.Equal(t, i > 1, strings.Contains(text, fmt.Sprintf("user: Again %d.", i)))
			require.NotContains(t, text, fmt.Sprintf("user: Again %d.", i-1))
		}
		for n := range 5 {
			require.Equal(t, i == 2*n+1, strings.Contains(text, fmt.Sprintf(`look:{"n":%d}`, n+1)), "request %d, result %d", i+1, n+1)
		}
		last = req
	}
	require.Equal(t, "[The state of the work, as you wrote it last.]\n\nGoal: g4", last.Messages[len(last.Messages)-1].Text())
}
