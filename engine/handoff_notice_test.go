package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// longTalk is a phase that is summed up on its way: its model says much in each of its turns and
// then answers.
type longTalk struct {
	t      *testing.T
	turns  int
	stopAt int // the turn whose call is cut off; 0: none
	cancel context.CancelFunc
	asked  []*effect.ModelRequest
	looks  int
}

const longTalkSource = `{"cascade_id":"c","phases":[
	{"name":"p","instructions":"Find the one who did it.","tackle":["big","set_state"],"rules":{"max_turns":60TURNS},
		"intra_context":{"enabled":false,"guard":{"summarizer_model":"cheap"}}},
	{"name":"q","instructions":"Write it up."}]}`

func (l *longTalk) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	require.NoError(l.t, checkSequence(req.Messages))
	l.asked = append(l.asked, req)
	s := req.Site
	if s.Phase == "p" && s.Purpose == "" && s.Turn == l.stopAt {
		l.cancel()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch {
	case s.Purpose != "":
		return estimated(say("It was the butler."))(req)
	case s.Phase == "q" || s.Turn > l.turns:
		return estimated(say("done"))(req)
	case s.Turn == 2:
		return estimated(call("set_state", `{"key":"plan","value":"- [x] look\n- [ ] ask the cook"}`))(req)
	}
	return talking(s.Turn, 1600)[s.Turn-1](req)
}

// run runs the phase, or takes it up, and returns the whole record.
func (l *longTalk) run(ctx context.Context, source string, past []*echo.Entry) ([]*echo.Entry, error) {
	tools := &fakeTools{}
	tools.addBig("big", 20)
	c := &cascade.Cascade{}
	require.NoError(l.t, json.Unmarshal([]byte(source), c))
	sink := &inMemory{list: past[:len(past):len(past)]}
	r := &Runner{Model: l, Tools: tools, DefaultModel: "m", Facts: func(string) effect.ModelFacts { return effect.ModelFacts{Window: 4000} }}
	r.Workspace = func(context.Context) *echo.Workspace {
		l.looks++
		return &echo.Workspace{Branch: fmt.Sprint("branch", l.looks)}
	}
	_, err := r.Run(ctx, Spec{
		Cascade: c, Recording: past, WorkDir: "/scratch", Header: json.RawMessage(`{"rules":1,"session_id":"s1","cascade":` + source + `}`),
		Log: echo.ContinueLog("s1", uint64(len(past)), nil, nil, sink),
	})
	entries := sink.asRead(l.t)
	checkHandoffs(l.t, entries)
	return entries, err
}

func (l *longTalk) stopped(source string, at int, past []*echo.Entry) []*echo.Entry {
	l.t.Helper()
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(context.Background())
	defer l.cancel()
	l.stopAt = at
	entries, err := l.run(ctx, source, past)
	require.ErrorIs(l.t, err, context.Canceled)
	l.stopAt = 0
	return entries
}

// replays demands that the record is followed by a run that has nothing else.
func (l *longTalk) replays(source string, entries []*echo.Entry) {
	l.t.Helper()
	c := &cascade.Cascade{}
	require.NoError(l.t, json.Unmarshal([]byte(source), c))
	tools := &fakeTools{}
	tools.addBig("big", 20)
	r := &Runner{Tools: onlySpecs{tools}, DefaultModel: "m", Facts: func(string) effect.ModelFacts { return effect.ModelFacts{} }}
	_, err := r.Run(context.Background(), Spec{Cascade: c, WorkDir: "/scratch", Name: "s1", Recording: entries})
	if record.EndOf(entries).Status == echo.StatusCompleted {
		require.NoError(l.t, err)
		return
	}
	require.ErrorIs(l.t, err, effect.ErrEndOfRecord)
}

func noticesOf(entries []*echo.Entry) (keys []string) {
	for _, e := range entries {
		if e.NodeType == echo.NodeMessage && strings.HasSuffix(e.Key.String(), "/resumed") {
			keys = append(keys, e.Key.String())
		}
	}
	return keys
}

var longTalks = map[string]string{
	"plain":    strings.Replace(longTalkSource, "TURNS", "", 1),
	"prompted": strings.Replace(longTalkSource, "TURNS", `,"turn_prompt":"Go on."`, 1),
	"limited":  strings.Replace(longTalkSource, "60TURNS", "16", 1), // the answer is asked for without tools
}

// A run is stopped, resumed, stopped and resumed again: each time, the model is told once where the
// work stands, at the next turn that begins, and every record on the way can be followed by a run
// that has nothing else.
func TestModelIsToldThatARunIsTakenUp(t *testing.T) {
	t.Parallel()
	for name, source := range longTalks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &longTalk{t: t, turns: 18}
			if name == "limited" {
				l.turns = 60
			}
			first := l.stopped(source, 12, nil)
			require.Empty(t, noticesOf(first))
			l.replays(source, first)

			second := l.stopped(source, 15, first)
			require.Equal(t, []string{"p/attempt1/turn13/resumed"}, noticesOf(second), "turn 12 had begun")
			l.replays(source, second)

			third := l.stopped(source, 15, second)
			require.Len(t, noticesOf(third), 1, "no turn began")
			l.replays(source, third)

			last, err := l.run(context.Background(), source, third)
			require.NoError(t, err)
			require.Equal(t, []string{"p/attempt1/turn13/resumed", "p/attempt1/turn16/resumed"}, noticesOf(last))
			l.replays(source, last)
			for _, e := range last {
				if e.NodeType == echo.NodeMessage && strings.HasSuffix(e.Key.String(), "turn13/resumed") {
					requireGolden(t, "handoff-resumed-"+name, e.Message.Text()+"\n")
				}
			}
			seen := false
			for _, r := range l.asked {
				for _, m := range r.Messages {
					seen = seen || m.Kind() == echo.KindNotice && strings.HasPrefix(m.Text(), resumedHead)
				}
			}
			require.True(t, seen, "the notice is sent")
		})
	}
}

// Wherever the process dies, the run that takes the session up ends well, tells its model at most
// once, and can be replayed.
func TestModelIsToldAfterEveryEntry(t *testing.T) {
	t.Parallel()
	source := longTalks["plain"]
	whole, err := (&longTalk{t: t, turns: 14}).run(context.Background(), source, nil)
	require.NoError(t, err)
	require.Empty(t, noticesOf(whole), "nobody took it up")
	compacted, lastTurn := 0, 0
	for i, e := range whole {
		if compacted == 0 && e.Message != nil && e.Message.Kind() == echo.KindSummary {
			compacted = i
		}
		if e.NodeType == echo.NodeSelection && e.Phase == "p" {
			lastTurn = i
		}
	}
	require.Positive(t, compacted)
	for cut := 2; cut < len(whole); cut++ {
		t.Run(fmt.Sprint(cut, " ", whole[cut-1].Key), func(t *testing.T) {
			t.Parallel()
			l := &longTalk{t: t, turns: 14}
			entries, err := l.run(context.Background(), source, (&inMemory{list: whole[:cut]}).asRead(t))
			require.NoError(t, err)
			told := len(noticesOf(entries))
			switch {
			case whole[cut-1].Turn < 3 && cut < compacted-20 || cut > lastTurn:
				require.Zero(t, told)
			case cut > compacted && whole[cut-1].Turn <= 14:
				require.Equal(t, 1, told)
			default:
				require.LessOrEqual(t, told, 1)
			}
			l.replays(source, entries)
			again := &longTalk{t: t, turns: 14}
			entries, err = again.run(context.Background(), source, entries[:len(entries)-1])
			require.NoError(t, err, "resumed a second time")
			again.replays(source, entries)
		})
	}
}
