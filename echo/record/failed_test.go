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
