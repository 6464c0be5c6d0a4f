package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// ends answers without text, for a reason.
func ends(finish string, reasoning int64) answerFunc {
	return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := say("")(req)
		resp.FinishReason, resp.Usage.Reasoning = finish, reasoning
		return resp, err
	}
}

const emptyPhases = `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","rules":{RULES}},{"name":"q","instructions":"Go on: {{ outputs.p }}."}]}`

// TestEmptyAnswer: an answer without text is asked for once more, whatever max_attempts is, and then
// fails the phase; the next one is not paid for.
func TestEmptyAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rules    string
		answers  []answerFunc
		attempts int
		wantErr  string
	}{
		"then text":      {``, []answerFunc{say(""), say("text"), say("done")}, 2, ""},
		"twice":          {``, []answerFunc{say(""), say(" \n")}, 2, "the model said nothing"},
		"reasoning":      {``, []answerFunc{say(""), ends("stop", 7)}, 2, "the model only reasoned"},
		"cut off":        {``, []answerFunc{say(""), ends("length", 0)}, 2, "it was cut off at the limit of output tokens before any text"},
		"cut reasoning":  {``, []answerFunc{say(""), ends("length", 7)}, 2, "it was cut off at the limit of output tokens while the model was still reasoning"},
		"filtered":       {``, []answerFunc{say(""), ends("content_filter", 0)}, 2, "the provider's content filter withheld it"},
		"more attempts":  {`"max_attempts":3`, []answerFunc{say(""), say("")}, 2, "the model said nothing"},
		"between others": {`"max_attempts":4,"loop_until":"min_words:2"`, []answerFunc{say("one"), say(""), say("one"), say("")}, 4, "the model said nothing"},
		"a last attempt": {`"max_attempts":2,"loop_until":"min_words:2"`, []answerFunc{say("one"), say(""), say("two words"), say("done")}, 3, ""},
		"allowed":        {`"allow_empty":true`, []answerFunc{say(""), say("done")}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tc.answers...)
			res, err := b.run(strings.Replace(emptyPhases, "RULES", tc.rules, 1), nil)
			require.Len(t, b.model.requests, len(tc.answers))
			require.Equal(t, tc.attempts, res.Phases[0].Attempts)
			if tc.wantErr == "" {
				require.NoError(t, err)
				require.Equal(t, "done", res.Output)
				return
			}
			var empty *core.EmptyAnswerError
			require.ErrorAs(t, err, &empty)
			require.ErrorContains(t, err, "the answer is empty in 2 attempts: "+tc.wantErr)
			require.Equal(t, echo.StatusFailed, res.Status)
			require.Equal(t, echo.StopEmptyAnswer, res.Reason)
			require.Equal(t, echo.StopEmptyAnswer, res.Phases[0].Reason)
		})
	}
}

// TestEmptyAnswerIsTold: the model is told what was wrong, and so is who looks at the record.
func TestEmptyAnswerIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t, ends("length", 3), say("text"))
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","rules":{"retry_instructions":"{{ attempt }}/{{ max_attempts }}: {{ validation_error }}"}}]}`, nil)
	require.NoError(t, err)
	last := b.model.requests[1].Messages
	require.Equal(t, "2/2: the answer is empty: it was cut off at the limit of output tokens while the model was still reasoning", last[len(last)-1].Text())
	require.Contains(t, b.entries.keys(echo.NodeVerdict), "p/attempt1/turn1/verdict/empty_answer")
}

// TestEmptyAnswerOfALastTurn: calls where none can be made are no answer.
func TestEmptyAnswerOfALastTurn(t *testing.T) {
	t.Parallel()
	b := setup(t, call("echo", `{"n":1}`), call("echo", `{"n":2}`), call("echo", `{"n":3}`), call("echo", `{"n":4}`))
	b.tools.addEcho("echo")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["echo"],"rules":{"max_turns":1}}]}`, nil)
	require.ErrorContains(t, err, "the answer is empty in 2 attempts: the model called tools where none can be called")
}

// TestEmptyAnswerIsHandled: on_error applies.
func TestEmptyAnswerIsHandled(t *testing.T) {
	t.Parallel()
	b := setup(t, say(""), say(""), say("rescued"))
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","on_error":"r","handoffs":["q"]},
		{"name":"q","instructions":"Next."},{"name":"r","instructions":"Rescue: {{ state.last_deterministic_error.error }}"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "rescued", res.Output)
}

// TestEmptyAnswerOfRules1: a session that was begun under rules 1 takes an empty answer.
func TestEmptyAnswerOfRules1(t *testing.T) {
	t.Parallel()
	b := setup(t, say(""))
	c := &cascade.Cascade{CascadeID: "c", Phases: []cascade.Phase{{Name: "p", Instructions: "Go."}}}
	res, err := b.runner.Run(context.Background(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, nil, b.entries), Rules: 1})
	require.NoError(t, err)
	require.Empty(t, res.Output)
	require.Len(t, b.model.requests, 1)
}
