package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/simulate"
)

// TestWithdrawnIsSimulated: a simulation leaves out what persons had taken out at each call, and has it where it was back: with the
// settings of the run it sends what the run has sent, byte for byte.
func TestWithdrawnIsSimulated(t *testing.T) {
	t.Parallel()
	const settings = `{"window":1,"mask_observations_after":1,"advance":"every_turn","guard":{"enabled":false}}`
	b, l := changing(t)
	secret := strings.Repeat("the secret ", 60)
	var spots []echo.Spot
	for turn := 1; turn <= 8; turn++ {
		b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			switch turn {
			case 3:
				spots = append(spots, b.spotOf(`look:{"at":"`+secret+`2"}`))
				l.add(echo.ViewDrop, spots...)
			case 6:
				l.add(echo.ViewRestore, spots...)
			case 8:
				return say("done")(req)
			}
			return call("look", fmt.Sprintf(`{"at":"%s%d"}`, secret, turn))(req)
		})
	}
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["look"],"rules":{"max_turns":9},"intra_context":`+settings+`}]}`, nil)
	require.NoError(t, err)
	has := func(sent []*echo.Message) bool {
		for _, m := range sent {
			if strings.Contains(string(m.JSON()), "the secret 2") {
				return true
			}
		}
		return false
	}
	all, err := simulate.FromRecording("s", &journal.Recording{Entries: b.entries.asRead(t)})
	require.NoError(t, err)
	policies, _, err := simulate.ChoosePolicies([]string{"full", "same=" + settings, "hindsight"}, "")
	require.NoError(t, err)
	prices, err := simulate.ParsePrices("0.1")
	require.NoError(t, err)
	sim := &simulate.Simulation{Policies: policies, Prices: []simulate.Prices{prices}, Keep: true}
	require.NoError(t, sim.Run(t.Context(), all, func(o *simulate.Outcome) error {
		for _, run := range o.Runs {
			require.Len(t, run.Calls, 8)
			for k, c := range run.Calls {
				require.Empty(t, c.Invalid)
				switch out := k >= 3 && k <= 5; { // after the request in which it was dropped, until that in which it was put back
				case out:
					require.False(t, has(c.Request), "%s, call %d", run.Policy, k+1)
				case run.Policy == simulate.PolicyFull && k >= 2:
					require.True(t, has(c.Request), "call %d", k+1)
				}
			}
		}
		var was, same []int64
		for k, c := range o.AsRun[0].Calls {
			was, same = append(was, c.Tokens, c.Shared), append(same, o.Runs[1].Calls[k].Tokens, o.Runs[1].Calls[k].Shared)
		}
		require.Equal(t, was, same)
		money := func(r *simulate.Run) (sum float64) {
			for _, c := range r.Calls {
				sum += c.Money
			}
			return sum
		}
		require.LessOrEqual(t, money(&o.Runs[2]), money(&o.Full[0]))
		return nil
	}))
}

// TestWithheldIsSimulated: a simulation has neither what prompts have quoted of a dropped call nor what lookups have told of it.
func TestWithheldIsSimulated(t *testing.T) {
	t.Parallel()
	const settings = `{"window":1,"mask_observations_after":1,"advance":"every_turn","guard":{"enabled":false}}`
	const fact = "the fact of the yew, quite long"
	says := []answerFunc{call("set_state", `{"key":"fact","value":"`+fact+`"}`), call("get_state", `{"key":"fact"}`, "look", `{}`)}
	for range 4 {
		says = append(says, call("look", `{}`))
	}
	b := setupDroppingAt(t, map[string][]answerFunc{"p": append(says, say("done"))}, "p", 4, "Stored.")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["look","set_state","get_state"],
		"rules":{"max_turns":7,"turn_prompt":"Turn {{ turn }}: {{ state.fact }}"},"intra_context":`+settings+`}]}`, nil)
	require.NoError(t, err)
	all, err := simulate.FromRecording("s", &journal.Recording{Entries: b.entries.asRead(t)})
	require.NoError(t, err)
	policies, _, err := simulate.ChoosePolicies([]string{"full", "same=" + settings}, "")
	require.NoError(t, err)
	prices, err := simulate.ParsePrices("0.1")
	require.NoError(t, err)
	sim := &simulate.Simulation{Policies: policies, Prices: []simulate.Prices{prices}, Keep: true}
	require.NoError(t, sim.Run(t.Context(), all, func(o *simulate.Outcome) error {
		for _, run := range o.Runs {
			require.Len(t, run.Calls, 7)
			for k, c := range run.Calls {
				var sent []string
				for _, m := range c.Request {
					sent = append(sent, string(m.JSON()))
				}
				text := strings.Join(sent, "\n")
				require.Equal(t, k >= 1 && k <= 3, strings.Contains(text, fact), "%s, call %d", run.Policy, k+1)
				require.Equal(t, k >= 4, strings.Contains(text, "[dropped]"), "%s, call %d", run.Policy, k+1)
			}
		}
		for k, c := range o.AsRun[0].Calls {
			require.Equal(t, c.Tokens, o.Runs[1].Calls[k].Tokens, "call %d", k+1)
		}
		return nil
	}))
}
