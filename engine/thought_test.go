package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// thinking answers with what the model reasoned beside its calls.
func thinking(thought string, answer answerFunc) answerFunc {
	return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := answer(req)
		resp.Message = echo.WithThought(resp.Message, effect.MustJSON(map[string]string{"reasoning_content": thought}))
		return resp, err
	}
}

func thoughts(req *effect.ModelRequest) (out []string) {
	for _, m := range req.Messages {
		if echo.Thought(m) != nil {
			out = append(out, string(echo.Thought(m)))
		}
	}
	return out
}

const thinkingPhases = `{"cascade_id":"c","fallback_models":["b"],"phases":[
	{"name":"p","instructions":"Go.","tackle":["look"]},
	{"name":"q","instructions":"Go on.","tackle":["look"],"context":{"from":[{"phase":"p","include":["messages"]}]}}]}`

// What a model reasoned is sent back in its phase, counts in the views, is recorded once, and is no
// part of a message. The harness replays it: the requests have the same hashes.
func TestThoughtsGoBackInTheirPhase(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("hm ", 400)
	b := setup(t, thinking(long, call("look", `{}`)), thinking("more <than> that", call("look", `{"n":1}`)), say("found"), say("end"))
	b.tools.addEcho("look")
	_, err := b.run(thinkingPhases, nil)
	require.NoError(t, err)
	require.Empty(t, thoughts(b.model.requests[0]))
	require.Len(t, thoughts(b.model.requests[1]), 1)
	require.Equal(t, []string{`{"reasoning_content":"` + long + `"}`, `{"reasoning_content":"more \u003cthan\u003e that"}`}, thoughts(b.model.requests[2]))
	require.Empty(t, thoughts(b.model.requests[3]), "another phase is sent the calls without it")
	require.Contains(t, roles(b.model.requests[3]), "assistant:  +look")
	sizes := b.entries.of(echo.NodeSelection)
	require.Greater(t, sizes[1].Selection.ContextSize, sizes[0].Selection.ContextSize+300)
	said, err := echo.Read[echo.ModelCall](b.entries.of(echo.NodeModelCall)[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"reasoning_content":"`+long+`"}`, string(said.Thought))
	for _, e := range b.entries.list {
		if e.Message != nil {
			text, err := json.Marshal(e.Message)
			require.NoError(t, err)
			require.NotContains(t, string(text), "hm hm")
		}
	}
}

// Another model is not sent what the one before it reasoned.
func TestThoughtsStayWithTheirModel(t *testing.T) {
	t.Parallel()
	b := setup(t, thinking("hm", call("look", `{}`)), away(echo.ModelErrServer), call("look", `{"n":1}`), say("found"), say("end"))
	b.tools.addEcho("look")
	_, err := b.run(thinkingPhases, nil)
	require.NoError(t, err)
	require.Len(t, thoughts(b.model.requests[1]), 1)
	require.Equal(t, []string{"m", "m", "b", "b", "m"}, b.model.asked())
	require.Empty(t, thoughts(b.model.requests[2]))
	require.Empty(t, thoughts(b.model.requests[3]))
}

// Calls that age are sent shorter, and with all that was reasoned: a provider that wants it back wants
// all of it.
func TestThoughtsOfOldCalls(t *testing.T) {
	t.Parallel()
	answers := readBig(6)
	for i := range answers[:6] {
		answers[i] = thinking("hm", answers[i])
	}
	b := setup(t, answers...)
	b.tools.addBig("read", 2000)
	_, err := b.run(`{"cascade_id":"c","auto_context":{"intra_phase":{"window":1,"mask_observations_after":1,"advance":"every_turn","min_masked_size":10}},
		"phases":[{"name":"p","instructions":"Go.","tackle":["read"]}]}`, nil)
	require.NoError(t, err)
	for i, r := range b.model.requests {
		require.Len(t, thoughts(r), i)
	}
}
