package archive

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// TestSummary reads off how a run that was taken up again stands: its newest end counts, and what
// was set aside does not.
func TestSummary(t *testing.T) {
	t.Parallel()
	cost := 0.5
	entries := []*echo.Entry{
		{NodeType: echo.NodeRunStart, Key: echo.MustKey("run/start"), CascadeID: "c"},
		{NodeType: echo.NodePhaseStart, Key: echo.MustKey("one/start"), Phase: "one"},
		{NodeType: echo.NodeModelCall, Key: echo.MustKey("one/attempt1/turn1/model"), Phase: "one", Attempt: 1, CostUSD: &cost, Usage: &echo.Usage{In: 3, Cached: 2, Out: 1}},
		{NodeType: echo.NodePhaseEnd, Key: echo.MustKey("one/end"), Phase: "one", Data: []byte(`{"status":"completed","reason":"answered","turns":1,"output":"done"}`)},
		{NodeType: echo.NodeRoute, Key: echo.MustKey("one/route"), Phase: "one"},
		{NodeType: echo.NodePhaseStart, Key: echo.MustKey("two/start"), Phase: "two"},
		{NodeType: echo.NodeModelCall, Key: echo.MustKey("two/attempt1/turn1/model"), Phase: "two", Attempt: 1, Error: &echo.Failure{Kind: "server", Message: "down"}},
		{NodeType: echo.NodePhaseEnd, Key: echo.MustKey("two/end"), Phase: "two", Data: []byte(`{"status":"failed","reason":"error"}`), Error: &echo.Failure{Message: "down"}},
		{NodeType: echo.NodeRunEnd, Key: echo.MustKey("run/end"), Data: []byte(`{"status":"failed","reason":"error"}`), Error: &echo.Failure{Message: "two: down"}},
		{NodeType: echo.NodeResume, Key: echo.MustKey("run/resume"), Data: []byte(`{"set_aside":[7,8,9]}`)},
		{NodeType: echo.NodeToolCall, Key: echo.MustKey("two/attempt1/turn1/tool1"), Phase: "two", Attempt: 1},
		{NodeType: echo.NodePhaseEnd, Key: echo.MustKey("two/end"), Phase: "two", Data: []byte(`not JSON`)},
		{NodeType: echo.NodeRunEnd, Key: echo.MustKey("run/end"), Data: []byte(`{"status":"completed","reason":"end_of_cascade","output":"all"}`)},
	}
	for i, e := range entries {
		e.Seq = uint64(i + 1)
	}
	at := func(n int) (status, reason, problem, two, twoError string) {
		d := summarize("s1", record.Of(entries[:n]), "running")
		require.Equal(t, uint64(n), d.Entries)
		if len(d.PhaseReports) > 1 {
			two, twoError = d.PhaseReports[1].Status, d.PhaseReports[1].Error
		}
		return d.Status, d.Reason, d.Error, two, twoError
	}
	for n, want := range map[int][5]string{
		1:  {"running", "", "", "", ""},
		6:  {"running", "", "", "running", ""},
		9:  {"failed", "error", "two: down", "failed", "down"},
		10: {"running", "", "", "running", ""},
		13: {"completed", "end_of_cascade", "", "failed", ""},
	} {
		status, reason, problem, two, twoError := at(n)
		require.Equal(t, want, [5]string{status, reason, problem, two, twoError}, "after %d entries", n)
	}
	d := summarize("s1", record.Of(entries), "running")
	require.Equal(t, []uint64{2, 2, 1, 1}, []uint64{d.Phases, d.Calls, d.ToolCalls, d.UnknownCostCalls})
	require.Equal(t, []int64{3, 2, 1}, []int64{d.TokensIn, d.TokensCached, d.TokensOut})
	require.Equal(t, &cost, d.CostUSD)
	require.Nil(t, d.PhaseReports[1].CostUSD, "no cost is known")
	require.Equal(t, "done", summarize("s1", record.Of(entries[:8]), "running").Output)
}

// TestSummaryOfASessionWithoutAnEnd: what a session is called whose end is not recorded follows
// from who runs it, unless its process died while it recorded why the run stopped.
func TestSummaryOfASessionWithoutAnEnd(t *testing.T) {
	t.Parallel()
	entries := []*echo.Entry{
		echo.NewEntry(echo.MustKey("run/start"), echo.RunStart{}),
		echo.NewEntry(echo.MustKey("one/start"), echo.PhaseStart{Visit: 1}),
		echo.NewEntry(echo.MustKey("one/attempt1/turn1/handoff"), echo.Handoff{Status: echo.StatusOverBudget, Reason: echo.StopBudget}),
		echo.NewEntry(echo.MustKey("one/end"), echo.PhaseEnd{Status: echo.StatusOverBudget, Reason: echo.StopBudget}),
	}
	for i, e := range entries {
		e.Seq = uint64(i + 1)
	}
	for open, want := range map[string][][3]string{ // after two entries, after three, after four: of the run, why, of the visit
		"running":    {{"running", "", "running"}, {"running", "", "running"}, {"running", "", "over_budget"}},
		"killed":     {{"killed", "", "killed"}, {"over_budget", "budget", "over_budget"}, {"over_budget", "budget", "over_budget"}},
		"unfinished": {{"unfinished", "", "unfinished"}, {"unfinished", "", "unfinished"}, {"unfinished", "", "over_budget"}},
	} {
		for i, want := range want {
			d := summarize("s1", record.Of(entries[:i+2]), open)
			require.Equal(t, want, [3]string{d.Status, d.Reason, d.PhaseReports[0].Status}, "%s, %d entries", open, i+2)
		}
	}
}
