package effect

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// recorded makes entries of keys: a state for each, in their order.
func recorded(keys ...string) []*echo.Entry {
	var out []*echo.Entry
	for i, k := range keys {
		e := &echo.Entry{SessionID: "s", Seq: uint64(i + 1), NodeType: echo.NodeState, Key: echo.MustKey(k), Data: json.RawMessage(`1`)}
		p := e.Key.Path()
		switch last := p.Last(); {
		case last.Kind == echo.StepTool:
			e.NodeType, e.Tool = echo.NodeToolCall, &echo.ToolUse{Name: "t", Arguments: "{}"}
			e.Message = echo.NewToolResult(echo.ToolCall{Name: "t", Arguments: "{}"}, echo.Text("done"), false)
			e.ContentHash = e.Message.Hash()
		case last.Kind == echo.StepClock:
			e.NodeType = echo.NodeValue
		case len(p.Branches) > 0 && last.Kind == echo.StepStart:
			e.NodeType, e.Data = echo.NodeBranchStart, nil
		case len(p.Branches) > 0 && last.Kind == echo.StepEnd:
			e.NodeType, e.Data = echo.NodeBranchEnd, nil
		}
		out = append(out, e)
	}
	return out
}

const (
	one      = "p/attempt1/turn1/state/a"
	two      = "p/attempt1/turn1/state/b"
	tool1    = "p/attempt1/turn1/tool1"
	tool2    = "p/attempt1/turn1/tool2"
	itemOne  = "p/item1/attempt1/turn1/state/x"
	itemTwo  = "p/item2/attempt1/turn1/state/x"
	itemTwo2 = "p/item2/attempt1/turn2/state/x"
)

// TestOrderOfBranches: entries of a branch have an order, branches have none, and the branch that
// they grow from is idle while they run.
func TestOrderOfBranches(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		recording []string
		comes     []string
		err       string // of the last
	}{
		"in order":                       {[]string{one, two}, []string{one, two}, ""},
		"out of order in a branch":       {[]string{one, two}, []string{two}, "entry 1 is state at p/attempt1/turn1/state/a, but now the run comes to state at p/attempt1/turn1/state/b"},
		"branches in any order":          {[]string{one, itemOne, itemTwo, itemTwo2}, []string{one, itemTwo, itemTwo2, itemOne}, ""},
		"out of order in a branch below": {[]string{itemTwo, itemTwo2}, []string{itemTwo2}, "entry 1 is state at p/item2/attempt1/turn1/state/x"},
		"the trunk goes on too early":    {[]string{one, itemOne, two}, []string{one, two}, "entry 2 is state at p/item1/attempt1/turn1/state/x, but now the run comes to state at p/attempt1/turn1/state/b"},
		"a branch has more to do than is recorded of it": {
			[]string{one, itemTwo, two},
			[]string{one, itemTwo, itemTwo2},
			"entry 3 is state at p/attempt1/turn1/state/b, but now the run comes to state at p/item2/attempt1/turn2/state/x",
		},
		"the recording ends":              {[]string{one}, []string{one, two}, "the record ends here, before state at p/attempt1/turn1/state/b"},
		"the recording of a branch ends":  {[]string{one, itemOne, itemTwo}, []string{one, itemOne, itemTwo, itemTwo2}, "the record ends here, before state at p/item2/attempt1/turn2/state/x"},
		"the other branch is not through": {[]string{one, itemOne, itemTwo}, []string{one, itemTwo, itemTwo2}, "the record ends here"},
		"what is new comes too early":     {[]string{one, itemOne}, []string{one, two}, "entry 2 is state at p/item1"},
		"a branch goes on after the one it grows from": {
			[]string{one, itemOne, two, "p/item1/attempt1/turn2/state/x"},
			[]string{one, itemOne, "p/item1/attempt1/turn2/state/x"},
			"entry 3 is state at p/attempt1/turn1/state/b, but now the run comes to state at p/item1/attempt1/turn2/state/x",
		},
		"a reading for a lifted limit": {[]string{"p/attempt1/turn1/model/clock", one}, []string{one}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewRecorder(Options{Recording: recorded(tt.recording...)})
			var err error
			for i, k := range tt.comes {
				err = r.Append(&echo.Entry{NodeType: echo.NodeState, Key: echo.MustKey(k), Data: json.RawMessage(`1`)})
				if i < len(tt.comes)-1 {
					require.NoError(t, err)
				}
			}
			if tt.err == "" {
				require.NoError(t, err)
				require.NoError(t, r.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd)))
				return
			}
			require.ErrorContains(t, err, tt.err)
		})
	}
}

// TestRunThatIsShorterThanItsRecording: what is recorded and does not come is found at the end.
func TestRunThatIsShorterThanItsRecording(t *testing.T) {
	t.Parallel()
	r := NewRecorder(Options{Recording: recorded(one, itemOne)})
	require.NoError(t, r.Append(recorded(one)[0]))
	require.EqualError(t, r.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd)),
		"the run does not follow its record: entry 2 is state at p/item1/attempt1/turn1/state/x, but now the run comes to run_end at run/end")
}

// TestToolsAreBranches: of parallel tools, some had ended; the others are run, unless the run had
// continued after them.
func TestToolsAreBranches(t *testing.T) {
	t.Parallel()
	use := func(r *Recorder, key string) error {
		_, err := r.Tool(t.Context(), echo.MustKey(key), ToolSpec{Name: "t"}, ToolRequest{Name: "t", Arguments: json.RawMessage("{}")})
		return err
	}
	r := NewRecorder(Options{Recording: recorded(one, tool2)})
	require.NoError(t, r.Append(recorded(one)[0]))
	require.EqualError(t, use(r, tool1), "the record ends here, before tool_call at p/attempt1/turn1/tool1")
	require.NoError(t, use(r, tool2))

	r = NewRecorder(Options{Recording: recorded(one, tool2, two)})
	require.NoError(t, r.Append(recorded(one)[0]))
	require.ErrorContains(t, use(r, tool1), "entry 3 is state at p/attempt1/turn1/state/b, but now the run comes to tool_call at p/attempt1/turn1/tool1")
}

// TestForkRecordsBranches: branches begin and end in the branch that they grow from, and the
// recording of one goes on when that of another has ended.
func TestForkRecordsBranches(t *testing.T) {
	t.Parallel()
	fork := func(r *Recorder, then ...string) error {
		var list []Branch
		for _, name := range []string{"p/item1", "p/item2"} {
			key := echo.MustKey(name)
			list = append(list, Branch{Key: key, Run: func(context.Context) error {
				for _, k := range then {
					if k := echo.MustKey(k); k.Under(key) {
						if err := r.Append(&echo.Entry{NodeType: echo.NodeState, Key: k, Data: json.RawMessage(`1`)}); err != nil {
							return err
						}
					}
				}
				return nil
			}})
		}
		return r.Fork(t.Context(), "", 2, list)
	}
	whole := []string{"p/item1/start", "p/item2/start", itemOne, itemTwo, "p/item1/end", "p/item2/end"}
	r := NewRecorder(Options{Recording: recorded(whole...)})
	require.NoError(t, fork(r, itemOne, itemTwo))
	require.NoError(t, r.Complete(echo.NodeRunEnd, echo.Key{}))

	r = NewRecorder(Options{Recording: recorded(whole[:4]...)})
	err := fork(r, itemOne, itemTwo)
	require.EqualError(t, r.Missing(err), "the record ends here, before branch_end at p/item1/end")

	r = NewRecorder(Options{Recording: recorded("p/item1/start", "p/item2/start", itemTwo, itemTwo2)})
	err = fork(r, itemOne, itemTwo, itemTwo2)
	require.EqualError(t, r.Missing(err), "the record ends here, before state at p/item1/attempt1/turn1/state/x", "the second was replayed to its end all the same")
}

// TestClockThatWentBack: a run that is resumed earlier than it was stopped, by a clock that was set
// back, was not away for a negative time: that would take from the time that it was away before.
func TestClockThatWentBack(t *testing.T) {
	t.Parallel()
	list := recorded(one, "run/resume", two, "run/resume", "p/attempt1/turn2/state/a")
	for i, hour := range []int{0, 2, 3, 1, 4} {
		list[i].At = start.Add(time.Duration(hour) * time.Hour)
	}
	list[1].NodeType, list[3].NodeType = echo.NodeResume, echo.NodeResume
	r := NewRecorder(Options{Recording: list})
	for _, want := range []time.Duration{0, 2 * time.Hour, 2 * time.Hour} {
		for list[0].NodeType == echo.NodeResume {
			list = list[1:]
		}
		require.NotNil(t, r.Next(list[0].NodeType, list[0].Key))
		at, away := r.Time(echo.Key{})
		require.Equal(t, list[0].At, at)
		require.Equal(t, want, away)
		list = list[1:]
	}
}
