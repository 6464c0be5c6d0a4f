package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// voices has what people say, by the place that takes it, as a mailbox keeps it over the death of a process.
type voices struct {
	mu    sync.Mutex
	said  []*echo.Audible
	phase string // that all of it is for; "": any
	taken map[string]*echo.Audible
	err   error
}

func (v *voices) Take(_ context.Context, key echo.Key, phase string) (*echo.Audible, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	place := key.String()
	switch {
	case v.err != nil:
		return nil, v.err
	case v.taken[place] != nil:
		return v.taken[place], nil
	case len(v.said) == 0 || v.phase != "" && v.phase != phase:
		return nil, nil //nolint:nilnil // nothing was said
	}
	if v.taken == nil {
		v.taken = map[string]*echo.Audible{}
	}
	v.taken[place], v.said = v.said[0], v.said[1:]
	return v.taken[place], nil
}

func (v *voices) say(text string, retry bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := len(v.said) + len(v.taken) + 1
	v.said = append(v.said, &echo.Audible{Letter: fmt.Sprintf("l%d", n), Text: text, Retry: retry, By: "ada", Via: echo.ViaCommand, At: time.Date(2026, 11, 24, 12, 0, n, 0, time.UTC)})
}

// sayWhile has the model be told something while it answers.
func (v *voices) sayWhile(answer answerFunc, text string, retry bool) answerFunc {
	return func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		v.say(text, retry)
		return answer(req)
	}
}

func hearingRun(t *testing.T, answers func(v *voices) []answerFunc) (*testBundle, *voices) {
	t.Helper()
	v := &voices{}
	b := setup(t, answers(v)...)
	b.runner.Audibles = v
	b.tools.addEcho("look")
	return b, v
}

// shortRoles are the messages of a request, without the words around what a person says.
func shortRoles(req *effect.ModelRequest) []string {
	out := roles(req)
	for i := range out {
		out[i] = strings.NewReplacer("The person who watches this run says:\n\n", "SAID ", "Your newest answer was taken back. Answer again. ", "RETRACT ", "\n", " ").Replace(out[i])
	}
	return out
}

const hears = `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["look"],"audibles":true%s}]}`

// TestAudible: what a person says while the model answers comes before its next turn, whether that would have come or not.
func TestAudible(t *testing.T) {
	t.Parallel()
	b, _ := hearingRun(t, func(v *voices) []answerFunc {
		v.say("before", false)
		return []answerFunc{v.sayWhile(call("look", `{}`), "while it looks", false), v.sayWhile(say("one"), "not so", false), say("two")}
	})
	res, err := b.run(fmt.Sprintf(hears, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "two", res.Output)
	require.Equal(t, []string{
		"user: Go.", "user: SAID before", "assistant:  +look", "tool: look:{}", "user: SAID while it looks", "assistant: one", "user: SAID not so",
	}, shortRoles(b.model.requests[2]))
	require.Equal(t, 3, res.Phases[0].Turns)
	require.Equal(t, []string{"p/attempt1/audible1", "p/attempt1/turn1/audible1", "p/attempt1/turn2/audible1"}, b.entries.keys(echo.NodeValue)[len(b.entries.keys(echo.NodeValue))-3:])
}

// TestAudibleRetry: the newest answer is taken back with the results of its calls, and is in no later request.
func TestAudibleRetry(t *testing.T) {
	t.Parallel()
	b, _ := hearingRun(t, func(v *voices) []answerFunc {
		return []answerFunc{
			call("look", `{"n":1}`), v.sayWhile(call("look", `{"n":2}`), "not the second", true), v.sayWhile(say("wrong"), "wrong", true), say("right"),
		}
	})
	res, err := b.run(fmt.Sprintf(hears, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "right", res.Output)
	require.Equal(t, []string{
		"user: Go.", "assistant:  +look", `tool: look:{"n":1}`, "user: RETRACT SAID not the second", "user: RETRACT SAID wrong",
	}, shortRoles(b.model.requests[3]))
	require.Len(t, b.tools.calls, 2, "what a tool has done is done")
}

// TestAudibleBounds: the budget of a visit, allow_retry, phases that take none, a mailbox that cannot be read.
func TestAudibleBounds(t *testing.T) {
	t.Parallel()
	b, v := hearingRun(t, func(v *voices) []answerFunc {
		for i := range 4 {
			v.say(fmt.Sprint(i), false)
		}
		return []answerFunc{say("one"), say("two")}
	})
	v.phase = "p"
	res, err := b.run(`{"cascade_id":"c","audibles":{"budget":2},"phases":[{"name":"p","instructions":"Go.","handoffs":["q"]},{"name":"q","instructions":"On."}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, echo.StatusCompleted, res.Status)
	require.Equal(t, []string{"user: Go.", "user: SAID 0", "user: SAID 1"}, shortRoles(b.model.requests[0]))
	require.Equal(t, []string{"user: On."}, shortRoles(b.model.requests[1]))
	require.Len(t, v.said, 2, "what is above the budget is kept")

	b, _ = hearingRun(t, func(v *voices) []answerFunc { return []answerFunc{v.sayWhile(say("one"), "again", true), say("two")} })
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","audibles":{"allow_retry":false}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"user: Go.", "assistant: one", "user: SAID again"}, shortRoles(b.model.requests[1]))
	require.Equal(t, "ada wanted to take the newest answer back, which the phase does not allow: the answer stays", warnings(t, b)[0])

	b, v = hearingRun(t, func(v *voices) []answerFunc { v.say("x", false); return []answerFunc{say("one")} })
	_, err = b.run(`{"cascade_id":"c","audibles":true,"phases":[{"name":"p","instructions":"Go.","audibles":false}]}`, nil)
	require.NoError(t, err)
	require.Len(t, v.said, 1)

	b, v = hearingRun(t, func(*voices) []answerFunc { return []answerFunc{call("look", `{}`), say("one")} })
	v.err = errors.New("read the mailbox: permission denied")
	res, err = b.run(fmt.Sprintf(hears, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "one", res.Output)
	require.Equal(t, []string{"what people say to the phase cannot be read: read the mailbox: permission denied"}, warnings(t, b))
}

// TestAudibleAtTheEnd: what is said to the last turn, to the answer without tools, and to one that checks would have taken, has a
// turn of its own; an attempt that follows still hears what was said before.
func TestAudibleAtTheEnd(t *testing.T) {
	t.Parallel()
	b, _ := hearingRun(t, func(v *voices) []answerFunc {
		return []answerFunc{call("look", `{}`), v.sayWhile(say("final"), "shorter", false), v.sayWhile(say("fin"), "longer", true), say("finale")}
	})
	res, err := b.run(fmt.Sprintf(hears, `,"rules":{"max_turns":1}`), nil)
	require.NoError(t, err)
	require.Equal(t, "finale", res.Output)
	last := b.model.requests[3]
	require.True(t, last.NoToolCalls)
	require.NotContains(t, strings.Join(shortRoles(last), "\n"), "assistant: fin\n")

	b, _ = hearingRun(t, func(v *voices) []answerFunc {
		return []answerFunc{v.sayWhile(say("bad"), "mind the style", false), say("bad"), say(`{"valid": false, "reason": "no"}`), say("good"), say(`{"valid": true}`)}
	})
	res, err = b.run(`{"cascade_id":"c","validators":{"fair":{"instructions":"Is it?"}},"auto_context":{"intra_phase":{"compress_loops":true}},
		"phases":[{"name":"p","instructions":"Go.","audibles":true,"rules":{"max_turns":1,"max_attempts":2,"loop_until":"fair"}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "good", res.Output)
	require.Equal(t, 2, res.Phases[0].Attempts)
	require.Contains(t, shortRoles(b.model.requests[3]), "user: SAID mind the style")
}

// TestAudibleTurnPrompt: words of a person stand in the place of a turn's prompt, once.
func TestAudibleTurnPrompt(t *testing.T) {
	t.Parallel()
	b, _ := hearingRun(t, func(v *voices) []answerFunc {
		return []answerFunc{v.sayWhile(say("one"), "wait", false), say("two"), say("three")}
	})
	_, err := b.run(fmt.Sprintf(hears, `,"rules":{"max_turns":3,"turn_prompt":"Go on."}`), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"user: Go.", "assistant: one", "user: SAID wait", "assistant: two", "user: Go on."}, shortRoles(b.model.requests[2]))
}

// TestAudibleResumed: a run that dies after any of its entries and is resumed says the same to the model, each audible once.
func TestAudibleResumed(t *testing.T) {
	t.Parallel()
	source := fmt.Sprintf(hears, "")
	b, _ := hearingRun(t, func(v *voices) []answerFunc {
		v.say("first", false)
		v.say("second", false)
		return []answerFunc{v.sayWhile(call("look", `{}`), "third", true), say("end")}
	})
	_, err := b.run(source, nil)
	require.NoError(t, err)
	whole := b.entries.asRead(t)
	want := b.model.requests[len(b.model.requests)-1].Hash()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	for at := 1; at < len(whole)-1; at++ {
		again, v := hearingRun(t, func(v *voices) []answerFunc {
			v.say("first", false)
			v.say("second", false)
			return nil
		})
		for _, e := range whole[:at] { // a process that died has taken what it has recorded, and perhaps one more
			if a, err := echo.Read[echo.Audible](e); err == nil {
				if a.Text == "third" {
					v.say("third", true)
				}
				got, err := v.Take(t.Context(), e.Key, "p")
				require.NoError(t, err)
				require.Equal(t, a.Text, got.Text)
			}
		}
		calls := 0
		for _, e := range whole[:at] {
			if e.NodeType == echo.NodeModelCall {
				calls++
			}
		}
		third := v.sayWhile(call("look", `{}`), "third", true)
		if calls > 0 && v.taken["p/attempt1/turn1/audible1"] == nil {
			v.say("third", true)
		}
		again.model.answers = []answerFunc{third, say("end")}[calls:]
		recording := slices.Clone(whole[:at])
		again.entries = &inMemory{list: slices.Clone(recording)}
		if CheckResumable(recording) != nil {
			continue // it has ended
		}
		res, err := again.runner.Run(t.Context(), Spec{
			Cascade: c, Log: echo.ContinueLog("s1", uint64(len(recording)), nil, nil, again.entries), WorkDir: "/scratch", Recording: recording,
		})
		require.NoError(t, err, "after entry %d", at)
		require.Equal(t, "end", res.Output)
		again.checkReplay(c, nil, res, err)
		if n := len(again.model.requests); n > 0 {
			require.Equal(t, want, again.model.requests[n-1].Hash(), "after entry %d", at)
		}
		said := 0
		for _, e := range again.entries.list {
			if _, err := echo.Read[echo.Audible](e); err == nil {
				said++
			}
		}
		require.Equal(t, 3, said, "after entry %d", at)
	}
}

// TestAudibleWhileChecked: what a person says while an answer is checked comes before the next turn, and takes back that answer,
// whether the check passes or not.
func TestAudibleWhileChecked(t *testing.T) {
	t.Parallel()
	rules := `,"rules":{"loop_until":"ok","check":"every_turn","max_turns":%d,"max_attempts":1,"turn_prompt":"Go on."}`
	validators := `{"cascade_id":"c","validators":{"ok":{"instructions":"ok?"}},"phases":[{"name":"p","instructions":"Go.","audibles":true` + rules + `}]}`
	verdict := func(ok bool) answerFunc { return say(fmt.Sprintf(`{"valid": %v, "reason": "no"}`, ok)) }
	for _, tt := range []struct {
		name     string
		turns    int
		answers  func(v *voices) []answerFunc
		asked    int // which request is looked at
		want     []string
		finished string
		place    string
	}{
		{"rejected, and turns are left", 3, func(v *voices) []answerFunc {
			return []answerFunc{say("one"), v.sayWhile(verdict(false), "not one", true), say("two"), verdict(true)}
		}, 2, []string{"user: Go.", "user: RETRACT SAID not one"}, "two", "p/attempt1/turn2/prompt/audible1"},
		{"passed: it would end the phase", 1, func(v *voices) []answerFunc {
			return []answerFunc{say("one"), v.sayWhile(verdict(true), "not one", true), say("two"), verdict(true)}
		}, 2, []string{"user: Go.", "user: RETRACT SAID not one"}, "two", "p/attempt1/turn1/end/audible1"},
		{"rejected for the last time: it would end the phase", 1, func(v *voices) []answerFunc {
			return []answerFunc{say("one"), v.sayWhile(verdict(false), "more", false), say("two"), verdict(true)}
		}, 2, []string{"user: Go.", "assistant: one", "user: SAID more"}, "two", "p/attempt1/turn1/end/audible1"},
		{"what is said ends with the budget", 1, func(v *voices) []answerFunc {
			return []answerFunc{
				say("one"), v.sayWhile(verdict(true), "1", false), say("two"), v.sayWhile(verdict(true), "2", false), say("three"), v.sayWhile(verdict(true), "3", false),
				say("four"), v.sayWhile(verdict(true), "4", false),
			}
		}, 6, []string{"user: Go.", "assistant: one", "user: SAID 1", "assistant: two", "user: SAID 2", "assistant: three", "user: SAID 3"}, "four", "p/attempt1/turn3/end/audible1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, _ := hearingRun(t, tt.answers)
			res, err := b.run(fmt.Sprintf(validators, tt.turns), nil)
			require.NoError(t, err)
			require.Equal(t, tt.finished, res.Output)
			require.Equal(t, tt.want, shortRoles(b.model.requests[tt.asked])[1:], "behind the words on the check")
			require.Contains(t, b.entries.keys(echo.NodeValue), tt.place, "each place has a key of its own: a frozen test says it there again")
		})
	}
}

// TestAudibleRetryOfNothing: where there is no answer to take back the model is only told, and the record says so.
func TestAudibleRetryOfNothing(t *testing.T) {
	t.Parallel()
	b, _ := hearingRun(t, func(v *voices) []answerFunc {
		v.say("be brief", true)
		return []answerFunc{say("one")}
	})
	_, err := b.run(fmt.Sprintf(hears, ""), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"user: Go.", "user: SAID be brief"}, shortRoles(b.model.requests[0]))
	require.Equal(t, []string{"ada wanted to take the newest answer back, and this attempt has none that could be: the model is only told"}, warnings(t, b))
	for _, e := range b.entries.list {
		require.True(t, e.Message == nil || e.Message.Kind() != echo.KindRetract)
	}

	// Two who say it at once mean the same answer.
	b, _ = hearingRun(t, func(v *voices) []answerFunc {
		return []answerFunc{v.sayWhile(v.sayWhile(say("one"), "not one", true), "nor one", true), say("two")}
	})
	_, err = b.run(fmt.Sprintf(hears, ""), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"user: Go.", "user: RETRACT SAID nor one", "user: SAID not one"}, shortRoles(b.model.requests[1]))
	require.Empty(t, warnings(t, b))
}

// TestAudibleWithoutRoom: what does not fit into a request beside the work is not told, and ends nothing.
func TestAudibleWithoutRoom(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("many words ", 80)
	b, v := hearingRun(t, func(v *voices) []answerFunc {
		v.say("short", false)
		v.say(long, false)
		v.say("last", false)
		return []answerFunc{say("one")}
	})
	cascade := `{"cascade_id":"c","token_budget":{"max_total":400,"reserve_for_output":100},"phases":[{"name":"p","instructions":"Go.","audibles":true}]}`
	res, err := b.run(cascade, nil)
	require.NoError(t, err)
	require.Equal(t, "one", res.Output)
	require.Equal(t, []string{"user: Go.", "user: SAID short", "user: SAID last"}, shortRoles(b.model.requests[0]))
	require.Empty(t, v.said)
	require.Len(t, warnings(t, b), 1)
	require.Regexp(t, `^the model is not told what ada said: with it, \d+ tokens are said, more than half of the 300 that a request may have$`, warnings(t, b)[0])
}

// TestAudibleRetryOfRoute: an answer that is taken back leads nowhere, also where it has called route_to.
func TestAudibleRetryOfRoute(t *testing.T) {
	t.Parallel()
	b, _ := hearingRun(t, func(v *voices) []answerFunc {
		return []answerFunc{v.sayWhile(call("route_to", `{"target":"c"}`), "not there", true), say("one"), say("two")}
	})
	res, err := b.run(`{"cascade_id":"c","audibles":true,"phases":[
		{"name":"a","instructions":"Go.","handoffs":["b","c"]},{"name":"b","instructions":"B."},{"name":"c","instructions":"C."}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, []string{res.Phases[0].Phase, res.Phases[1].Phase})
}
