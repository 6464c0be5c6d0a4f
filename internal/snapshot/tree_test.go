package snapshot

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// What ran in parallel is observed the same, whoever was first; elements and children are a part of it.
func TestObserveOfATree(t *testing.T) {
	t.Parallel()
	tool := func(key, name string) *echo.Entry {
		e := &echo.Entry{NodeType: echo.NodeToolCall, Key: echo.MustKey(key), Tool: &echo.ToolUse{Name: name, Arguments: `{}`}}
		e.Message = echo.NewToolResult(echo.ToolCall{Name: name}, echo.Text("ok"), false)
		return e
	}
	of := func(key string, p echo.Payload) *echo.Entry { return echo.NewEntry(echo.MustKey(key), p) }
	mark := func(key string) *echo.Entry {
		return &echo.Entry{NodeType: echo.NodeBranchStart, Key: echo.MustKey(key)}
	}
	well := echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Attempts: 1, Turns: 1}
	first := []*echo.Entry{
		of("run/start", echo.RunStart{}), mark("plan/node1/start"), mark("each/node2/start"),
	}
	plan := []*echo.Entry{
		of("plan/node1/begin", echo.PhaseStart{Visit: 1}),
		of("plan/node1/child/facts", echo.ChildStart{Session: "c1", Name: "facts", How: echo.ChildSub, Cascade: "facts", Input: map[string]any{"topic": "x"}}),
		of("plan/node1/child/facts", echo.ChildEnd{Session: "c1", Status: echo.StatusFailed, Reason: echo.StopError}),
		tool("plan/node1/ward1/validate/fair/tool", "fair"), tool("plan/node1/attempt1/turn1/tool1", "look"),
		of("plan/node1/ward1/verdict/fair", echo.Verdict{Validator: "fair", Valid: true, Ward: "pre", Mode: "blocking"}), of("plan/node1/finish", well),
	}
	each := []*echo.Entry{of("each/node2/begin", echo.PhaseStart{Visit: 1}), mark("each/node2/item1/start"), mark("each/node2/item2/start"), mark("each/node2/item3/start")}
	one := []*echo.Entry{tool("each/node2/item1/attempt1/turn1/tool1", "a"), of("each/node2/item1/finish", well)}
	two := []*echo.Entry{
		tool("each/node2/item2/attempt1/turn1/tool1", "b"), of("each/node2/item2/attempt1/verdict/json", echo.Verdict{Validator: "json", Reason: "no"}),
		of("each/node2/item2/finish", echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopExhausted, Attempts: 1, Turns: 1}),
	}
	last := []*echo.Entry{of("each/node2/item3/stopped", echo.Stopped{Item: 2}), of("each/node2/finish", echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError})}
	observe := func(parts ...[]*echo.Entry) Observed {
		entries := slices.Concat(parts...)
		for i, e := range entries {
			e.Seq = uint64(i + 1)
			e.SetKeyFields()
		}
		return Observe(entries)
	}
	want := observe(first, plan, each, one, two, last)
	require.Equal(t, want, observe(first, each, two, one, last, plan))
	require.Equal(t, []string{
		"plan/node1: completed (answered), attempts 1", "  before the first attempt: ward pre (blocking) fair accepts",
		"each/node2: failed (error)", "  item 1: completed (answered), attempts 1", "  item 2: failed (attempts_exhausted), attempts 1",
		"    attempt 1: json refuses: no", "  item 3: did not begin, as item 2 had failed", "run: did not end",
	}, want.Phases)
	var tools []string
	for _, c := range want.Tools {
		tools = append(tools, c.At.String()+" "+c.Tool+" "+c.Failed)
	}
	require.Equal(t, []string{
		"plan/node1/child/facts sub cascade facts failed", "plan/node1/attempt1/turn1/tool1 look ", "plan/node1/ward1/validate/fair/tool fair ",
		"each/node2/item1/attempt1/turn1/tool1 a ", "each/node2/item2/attempt1/turn1/tool1 b ",
	}, tools)
}

// In the test of a fork all children have the ids that one session gives them, also where a model names them.
func TestChildrenOfAFork(t *testing.T) {
	t.Parallel()
	copied, begun := echo.MustKey("draft/async/note"), echo.MustKey("report/attempt1/turn1/tool1")
	own := echo.ChildSession
	entries := []*echo.Entry{
		echo.NewEntry(copied, echo.ChildStart{Session: own("first", copied), How: echo.ChildAsync}),
		echo.NewEntry(begun, echo.ChildStart{Session: own("fork", begun), How: echo.ChildSpawn}),
		{
			NodeType: echo.NodeModelCall, Key: echo.MustKey("report/attempt1/turn2/model"),
			Message: echo.Seal(echo.Draft{Role: echo.RoleAssistant, Parts: echo.Text("I wait for " + own("fork", begun) + ".")}),
		},
		echo.NewEntry(echo.RunKey().Named(echo.StepAsync, own("first", copied)), echo.ChildEnd{Session: own("fork", copied)}),
		echo.NewEntry(echo.RunKey().Named(echo.StepAsync, own("fork", begun)), echo.ChildEnd{Session: own("fork", begun)}),
	}
	require.Equal(t, []Mask{{own("fork", begun), own("first", begun)}}, childMasks(entries, "first"))
	masked, err := maskEntries(entries, childMasks(entries, "first"))
	require.NoError(t, err)
	require.Equal(t, "I wait for "+own("first", begun)+".", masked[2].Message.Text())
	require.Equal(t, entries[3].Key, masked[3].Key)
	require.Equal(t, echo.RunKey().Named(echo.StepAsync, own("first", begun)), masked[4].Key)
}

// The end of a child is an answer; what a model was told of one follows from it.
func TestAnswersOfChildren(t *testing.T) {
	t.Parallel()
	end := echo.NewEntry(echo.MustKey("draft/attempt1/turn1/tool1"), echo.ChildEnd{Session: "c1", Status: echo.StatusCompleted, Reason: echo.StopAnswered, Output: "done", Calls: 2})
	end.Usage = &echo.Usage{In: 7}
	told := &echo.Entry{NodeType: echo.NodeToolCall, Key: end.Key, Tool: &echo.ToolUse{Name: "facts"}}
	start := echo.NewEntry(end.Key, echo.ChildStart{Session: "c1", How: echo.ChildTool})
	answers := answersOf([]*echo.Entry{start, end, told})
	require.Len(t, answers, 1)
	again := answers[0].entry()
	require.Equal(t, end.Data, again.Data)
	require.Equal(t, end.Usage, again.Usage)
	require.Equal(t, echo.NodeChildEnd, again.NodeType)
}

// Candidates stand by their numbers, those of an element below it, and the choices with them.
func TestObserveCandidates(t *testing.T) {
	t.Parallel()
	var entries []*echo.Entry
	add := func(key string, p echo.Payload) {
		e := echo.NewEntry(echo.MustKey(key), p)
		e.Seq = uint64(len(entries) + 1)
		e.SetKeyFields()
		entries = append(entries, e)
	}
	done := echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Attempts: 1, Turns: 1}
	add("each/start", echo.PhaseStart{Visit: 1})
	for _, at := range []string{"each/item2/sounding2", "each/item1/sounding2", "each/item2/sounding1", "each/item1/sounding1"} {
		add(at+"/candidate", echo.Candidate{})
		add(at+"/finish", done)
	}
	add("each/item2/choice", echo.Choice{Winner: -1, How: echo.ChoiceAggregate})
	add("each/item1/choice", echo.Choice{Winner: 2, How: echo.ChoiceFirst, Tie: true})
	add("each/item1/reforge1/sounding1/finish", done)
	add("each/item1/reforge1/choice", echo.Choice{Step: 1, How: echo.ChoiceVotes})
	add("each/item1/finish", done)
	add("each/item2/finish", done)
	add("each/end", done)
	add("run/sounding2/candidate", echo.ChildStart{Session: "c2", Cascade: "x", How: echo.ChildSounding})
	add("run/sounding1/candidate", echo.ChildStart{Session: "c1", Cascade: "x", How: echo.ChildSounding})
	add("run/choice", echo.Choice{Winner: 1, How: echo.ChoiceOnly})
	add("run/reforge1/choice", echo.Choice{Step: 1, Winner: 2, How: echo.ChoiceSame})
	o := Observe(entries)
	const end = "completed (answered), attempts 1"
	require.Equal(t, []string{
		"each: " + end,
		"  item 1: " + end, "    choice: candidate 2 is kept (first, a tie)", "    sounding 1: " + end, "    sounding 2: " + end,
		"    reforge 1: refinement", "      choice: the best of the steps before is kept (votes)", "      sounding 1: " + end,
		"  item 2: " + end, "    choice: one answer is written from all (aggregate)", "    sounding 1: " + end, "    sounding 2: " + end,
		"choice: candidate 1 is kept (only)", "refinement, step 1: choice: candidate 2 is kept (same)", "run: did not end",
	}, o.Phases)
	require.Equal(t, "run/sounding1/candidate", o.Tools[0].At.String())
	require.Equal(t, "run/sounding2/candidate", o.Tools[1].At.String())
}

// So do those of a whole cascade of which none is kept: all have failed, or the run was stopped before.
func TestObserveCandidatesWithoutAChoice(t *testing.T) {
	t.Parallel()
	of := func(number int) []*echo.Entry {
		at, session := echo.RunKey().Numbered(echo.StepSounding, number).Step(echo.StepCandidate), fmt.Sprint("c", number)
		return []*echo.Entry{
			echo.NewEntry(at, echo.Candidate{Index: number - 1, Factor: 2}),
			echo.NewEntry(at, echo.ChildStart{Session: session, Cascade: "x", How: echo.ChildSounding}),
			echo.NewEntry(at, echo.ChildEnd{Session: session, Status: echo.StatusFailed, Reason: echo.StopError}),
		}
	}
	observe := func(entries []*echo.Entry) Observed {
		for i, e := range entries {
			e.Seq = uint64(i + 1)
			e.SetKeyFields()
		}
		return Observe(entries)
	}
	require.Equal(t, observe(slices.Concat(of(1), of(2))), observe(slices.Concat(of(2), of(1))))
}
