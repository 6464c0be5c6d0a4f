package record

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// What a run that failed sets aside when it is resumed: of each branch that had not ended the call
// that failed, and what followed from that in the branches it grows from. What other branches had
// paid for stays.
func TestSetAsideOfFailures(t *testing.T) {
	t.Parallel()
	type line struct {
		node   echo.NodeType
		key    string
		failed bool
		aside  bool
	}
	for name, lines := range map[string][]line{
		"the trunk": {
			{echo.NodePhaseStart, "p/start", false, false},
			{echo.NodeModelCall, "p/attempt1/turn1/model", false, false},
			{echo.NodeToolCall, "p/attempt1/turn1/tool1", true, false},
			{echo.NodeModelCall, "p/attempt1/turn2/model", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"a tool of a model": {
			{echo.NodeModelCall, "p/attempt1/turn1/model", false, false},
			{echo.NodeToolCall, "p/attempt1/turn1/tool1", true, false},
			{echo.NodePhaseEnd, "p/end", true, false},
		},
		"the tool of a phase": {
			{echo.NodeToolStart, "p/attempt1/tool", false, true},
			{echo.NodeToolCall, "p/attempt1/tool", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"the tools of two items at once": {
			{echo.NodeBranchStart, "p/item1/start", false, false},
			{echo.NodeBranchStart, "p/item2/start", false, false},
			{echo.NodeToolStart, "p/item1/attempt1/tool", false, true},
			{echo.NodeToolStart, "p/item2/attempt1/tool", false, false},
			{echo.NodeToolCall, "p/item1/attempt1/tool", true, true},
			{echo.NodeToolCall, "p/item2/attempt1/tool", false, false},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"the tool of an item that may run again": {
			{echo.NodeModelCall, "p/attempt1/turn1/model", false, false},
			{echo.NodeBranchStart, "p/item1/start", false, false},
			{echo.NodeInter, "p/item1/attempt1/context", false, false},
			{echo.NodeToolStart, "p/item2/attempt1/tool", false, false},
			{echo.NodeToolCall, "p/item1/attempt1/tool", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"a verdict": {
			{echo.NodeModelCall, "p/attempt1/turn1/model", false, false},
			{echo.NodeVerdict, "p/attempt1/turn1/verdict/json", true, false},
			{echo.NodePhaseEnd, "p/end", true, false},
		},
		"two of three branches": {
			{echo.NodeModelCall, "p/attempt1/turn1/model", false, false},
			{echo.NodeBranchStart, "p/item1/start", false, false},
			{echo.NodeBranchStart, "p/item2/start", false, false},
			{echo.NodeBranchStart, "p/item3/start", false, false},
			{echo.NodeModelCall, "p/item1/attempt1/turn1/model", true, true},
			{echo.NodeModelCall, "p/item2/attempt1/turn1/model", false, false},
			{echo.NodeModelCall, "p/item3/attempt1/turn1/model", true, true},
			{echo.NodeToolCall, "p/item2/attempt1/turn1/tool1", false, false},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"a branch that has ended": {
			{echo.NodeModelCall, "p/attempt1/turn1/model", false, false},
			{echo.NodeBranchStart, "p/sounding1/start", false, false},
			{echo.NodeModelCall, "p/sounding1/attempt1/turn1/model", true, false},
			{echo.NodeBranchEnd, "p/sounding1/end", false, false},
			{echo.NodeModelCall, "p/attempt1/turn2/model", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"a child": {
			{echo.NodeModelCall, "p/attempt1/turn1/model", false, false},
			{echo.NodeChildStart, "q/child/x", false, true},
			{echo.NodeChildEnd, "q/child/x", true, true},
			{echo.NodePhaseEnd, "q/end", true, true},
		},
		"a child before another one": {
			{echo.NodeChildStart, "p/child/x", false, false},
			{echo.NodeChildEnd, "p/child/x", false, false},
			{echo.NodeChildStart, "p/child/y", false, true},
			{echo.NodeChildEnd, "p/child/y", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"a child that failed, and what it led to": {
			{echo.NodeChildStart, "p/child/x", false, false},
			{echo.NodeChildEnd, "p/child/x", true, false},
			{echo.NodePhaseEnd, "p/end", true, false},
			{echo.NodeModelCall, "handler/attempt1/turn1/model", true, true},
			{echo.NodePhaseEnd, "handler/end", true, true},
		},
		"a child that is the tool of a phase": {
			{echo.NodeChildStart, "p/attempt1/tool", false, true},
			{echo.NodeChildEnd, "p/attempt1/tool", true, true},
			{echo.NodeToolCall, "p/attempt1/tool", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"a child that is a tool of a model": {
			{echo.NodeModelCall, "p/attempt1/turn1/model", false, false},
			{echo.NodeChildStart, "p/attempt1/turn1/tool1", false, false},
			{echo.NodeChildEnd, "p/attempt1/turn1/tool1", true, false},
			{echo.NodeToolCall, "p/attempt1/turn1/tool1", true, false},
			{echo.NodePhaseEnd, "p/end", true, false},
		},
		"a child that is a validator": {
			{echo.NodeChildStart, "p/attempt1/turn1/validate/fair", false, false},
			{echo.NodeChildEnd, "p/attempt1/turn1/validate/fair", true, false},
			{echo.NodeVerdict, "p/attempt1/turn1/verdict/fair", false, false},
			{echo.NodePhaseEnd, "p/end", true, false},
		},
		"a child beside the run": {
			{echo.NodeChildStart, "p/async/x", false, false},
			{echo.NodeModelCall, "p/attempt1/turn1/model", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
			{echo.NodeChildEnd, "run/async/s", true, true},
		},
		"a child in a branch": {
			{echo.NodeBranchStart, "p/item1/start", false, false},
			{echo.NodeBranchStart, "p/item2/start", false, false},
			{echo.NodeChildStart, "p/item1/child/x", false, false},
			{echo.NodeChildStart, "p/item2/child/x", false, true},
			{echo.NodeChildEnd, "p/item1/child/x", false, false},
			{echo.NodeChildEnd, "p/item2/child/x", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"a phase of a graph that has ended well after a failed call": {
			{echo.NodeBranchStart, "p/node1/start", false, false},
			{echo.NodeBranchStart, "q/node2/start", false, false},
			{echo.NodeModelCall, "p/node1/attempt1/turn1/model", false, false},
			{echo.NodeModelCall, "p/node1/attempt1/turn1/validate/fair", true, false},
			{echo.NodeVerdict, "p/node1/attempt1/turn1/verdict/fair", true, false},
			{echo.NodePhaseEnd, "p/node1/finish", false, false},
			{echo.NodeModelCall, "q/node2/attempt1/turn1/model", true, true},
			{echo.NodePhaseEnd, "q/node2/finish", true, true},
		},
		"an element that has ended well after a failed call": {
			{echo.NodeBranchStart, "p/item1/start", false, false},
			{echo.NodeBranchStart, "p/item2/start", false, false},
			{echo.NodeModelCall, "p/item1/attempt1/turn1/validate/fair", true, false},
			{echo.NodeVerdict, "p/item1/attempt1/turn1/verdict/fair", true, false},
			{echo.NodePhaseEnd, "p/item1/finish", false, false},
			{echo.NodeModelCall, "p/item2/attempt1/turn1/model", true, true},
			{echo.NodePhaseEnd, "p/item2/finish", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
		"a ward of a phase of a graph that has ended well": {
			{echo.NodeBranchStart, "p/node1/start", false, false},
			{echo.NodeModelCall, "p/node1/attempt1/turn1/model", false, false},
			{echo.NodeBranchStart, "p/node1/ward1/start", false, false},
			{echo.NodeModelCall, "p/node1/ward1/validate/fair", true, false},
			{echo.NodePhaseEnd, "p/node1/finish", false, false},
			{echo.NodeModelCall, "q/node2/attempt1/turn1/model", true, true},
			{echo.NodePhaseEnd, "q/node2/finish", true, true},
		},
		"a branch in a branch": {
			{echo.NodeBranchStart, "p/item1/start", false, false},
			{echo.NodeModelCall, "p/item1/attempt1/turn1/model", false, false},
			{echo.NodeBranchStart, "p/item1/sounding1/start", false, false},
			{echo.NodeModelCall, "p/item1/sounding1/attempt1/turn1/model", true, true},
			{echo.NodePhaseEnd, "p/end", true, true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var entries []*echo.Entry
			var want []uint64
			for i, l := range append(lines, line{echo.NodeRunEnd, "run/end", true, lines[len(lines)-1].aside}) {
				e := &echo.Entry{Seq: uint64(i + 1), NodeType: l.node, Key: echo.MustKey(l.key)}
				if l.failed {
					e.Error = &echo.Failure{Kind: "server", Message: "down"}
					e.Data = json.RawMessage(`{"status":"failed","reason":"error"}`)
					if l.node == echo.NodeVerdict {
						e.Data = json.RawMessage(`{"valid":false}`)
					}
				}
				entries = append(entries, e)
				if l.aside {
					want = append([]uint64{e.Seq}, want...)
				}
			}
			require.Equal(t, want, ResumptionOf(entries).Failed)
			require.Equal(t, len(want) > 0, ResumptionOf(entries).Possible)
		})
	}
}

// Whether a child that failed may be called again depends on why.
func TestChildrenThatFailForGood(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status echo.Status
		reason echo.StopReason
		may    bool
	}{
		{echo.StatusFailed, echo.StopError, true},
		{echo.StatusOverBudget, echo.StopBudget, true},
		{echo.StatusFailed, echo.StopExhausted, false},
		{echo.StatusFailed, echo.StopInput, false},
	} {
		end := echo.NewEntry(echo.MustKey("p/child/x"), echo.ChildEnd{Session: "s", Status: tt.status, Reason: tt.reason})
		end.Error = &echo.Failure{Kind: string(tt.reason), Message: "why"}
		run := echo.NewEntry(echo.MustKey("run/end"), echo.RunEnd{Status: echo.StatusFailed, Reason: echo.StopError})
		run.Error = end.Error
		entries := []*echo.Entry{echo.NewEntry(end.Key, echo.ChildStart{Session: "s"}), end, run}
		for i, e := range entries {
			e.Seq = uint64(i + 1)
		}
		require.Equal(t, tt.may, ResumptionOf(entries).Possible, "%s: %s", tt.status, tt.reason)
		require.True(t, EndOf(entries).MayResume())
	}
}
