package record

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// A session that failed twice, was stopped, and came to its end: its state after each of its
// entries.
func TestFoldOfASessionThatResumes(t *testing.T) {
	t.Parallel()
	s := newSession(t, 0)
	usd := 0.5
	turn := echo.PhaseKey("work", 1).Attempt(1).Turn(1)
	model := turn.Step(echo.StepModel)
	visit := echo.PhaseKey("work", 1)
	failedCall := func(what string) *echo.Entry {
		e := echo.NewEntry(model, echo.ModelCall{})
		e.Error = &echo.Failure{Kind: what, Message: what}
		return e
	}
	answered := echo.NewEntry(model, echo.ModelCall{})
	answered.Message, answered.CostUSD, answered.Usage = text(echo.RoleAssistant, echo.KindAnswer, "done"), &usd, &echo.Usage{In: 7, Out: 3}
	files := &echo.Workspace{Branch: "main"}
	log := echo.NewLog("s1", ticking(), nil, s)
	var got []string
	f := New()
	var all []*echo.Entry
	for _, e := range []*echo.Entry{
		echo.NewEntry(echo.RunKey().Step(echo.StepStart), echo.RunStart{Budget: &echo.Budget{MaxTokens: 5}}),
		echo.NewEntry(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1}),
		failedCall("server"),
		withError(echo.NewEntry(visit.Step(echo.StepHandoff), echo.Handoff{Status: echo.StatusFailed, Workspace: files})),
		withError(echo.NewEntry(visit.Step(echo.StepEnd), echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError, Masked: 9})),
		withError(echo.NewEntry(echo.RunKey().Step(echo.StepEnd), echo.RunEnd{Status: echo.StatusFailed, Reason: echo.StopError})),
		echo.NewEntry(echo.RunKey().Step(echo.StepResume), echo.Resume{SetAside: []uint64{6, 5, 4, 3}}),
		answered,
		echo.NewEntry(visit.Step(echo.StepHandoff), echo.Handoff{Status: echo.StatusInterrupted, Reason: echo.StopInterrupted}),
		withError(echo.NewEntry(visit.Step(echo.StepEnd), echo.PhaseEnd{Status: echo.StatusInterrupted, Reason: echo.StopInterrupted})),
		echo.NewEntry(echo.RunKey().Step(echo.StepResume), echo.Resume{SetAside: []uint64{10, 9}}),
		echo.NewEntry(visit.Step(echo.StepEnd), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Output: "done", Recalls: 1}),
		echo.NewEntry(visit.Step(echo.StepRoute), echo.Route{From: "work"}),
		echo.NewEntry(echo.RunKey().Step(echo.StepEnd), echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: "done"}),
		echo.NewEntry(echo.CardsKey().Step(echo.StepWarning), echo.Warning{Message: "late"}),
	} {
		require.NoError(t, log.Append(e))
		f.Add(e)
		all = append(all, e)
		end, r := f.End(), ResumptionOf(all)
		line := fmt.Sprintf("%s %s %v %q; resume %v %v %v", end.Status, end.Reason, end.Whole, end.Error, r.Possible, r.Stop, r.Failed)
		for _, v := range f.Visits() {
			line += fmt.Sprintf("; %s %s %q %d", v.Status, v.Reason, v.Error, v.Turns)
		}
		got = append(got, line)
	}
	require.Equal(t, []string{
		`running  false ""; resume true [] []`,
		`running  false ""; resume true [] []; running  "" 0`,
		`running  false ""; resume true [] []; running  "" 0`,
		`running  false ""; resume true [] []; running  "" 0`,
		`running  false ""; resume true [] []; failed error "down" 0`,
		`failed error true "down"; resume true [] [6 5 4 3]; failed error "down" 0`,
		`running  false ""; resume true [] []; running  "" 0`,
		`running  false ""; resume true [] []; running  "" 1`,
		`interrupted interrupted false ""; resume true [9] []; running  "" 1`,
		`interrupted interrupted false ""; resume true [10 9] []; interrupted interrupted "down" 1`,
		`running  false ""; resume true [] []; running  "" 1`,
		`running  false ""; resume true [] []; completed answered "" 1`,
		`running  false ""; resume true [] []; completed answered "" 1`,
		`completed end_of_cascade true ""; resume false [] []; completed answered "" 1`,
		`completed end_of_cascade true ""; resume false [] []; completed answered "" 1`,
	}, got)
	v := f.Visits()[0]
	require.Equal(t, Totals{Calls: 1, Usage: echo.Usage{In: 7, Out: 3}, CostUSD: 0.5}, f.Totals())
	require.Equal(t, f.Totals(), v.Totals)
	require.Equal(t, Totals{Calls: 2, Failed: 1, UnknownCosts: 1, Usage: echo.Usage{In: 7, Out: 3}, CostUSD: 0.5}, f.Spent().Totals)
	require.Equal(t, f.Spent().Totals, v.Spent.Totals)
	require.Equal(t, Reads{Recalls: 1}, v.Reads)
	require.Equal(t, files, f.Workspace(), "the files were read, whatever became of the stop")
	require.Nil(t, BudgetOf(all))
	require.Equal(t, int64(5), BudgetOf(all[:6]).MaxTokens)
	require.Equal(t, uint64(15), f.Entries())
	require.Equal(t, "done", f.Output())
	require.Equal(t, "done", f.End().Output)
	require.Equal(t, &usd, f.Totals().KnownUSD())
	require.Nil(t, Totals{Calls: 1, UnknownCosts: 1}.KnownUSD())
}

func withError(e *echo.Entry) *echo.Entry {
	e.Error = &echo.Failure{Kind: "x", Message: "down"}
	return e
}

func TestFoldOfNothing(t *testing.T) {
	t.Parallel()
	f := New()
	require.Equal(t, End{Status: echo.StatusRunning}, f.End())
	require.Equal(t, Resumption{Possible: true}, ResumptionOf(nil))
	require.Empty(t, f.Visits())
	require.Zero(t, f.StartedAt())
	require.Equal(t, "", f.SessionID()+f.CascadeID())
	require.Nil(t, f.Start())
}

// An end that cannot be read is the end of a run that failed.
func TestEndThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, data := range []string{``, `7`, `{"status":"never heard of"}`, `{"status":"running"}`} {
		entries := []*echo.Entry{
			{Seq: 1, NodeType: echo.NodePhaseStart, Key: echo.MustKey("p/start")},
			{Seq: 2, NodeType: echo.NodePhaseEnd, Key: echo.MustKey("p/end"), Data: []byte(data)},
			{Seq: 3, NodeType: echo.NodeRunEnd, Key: echo.MustKey("run/end"), Data: []byte(data)},
		}
		f := Of(entries)
		require.Equal(t, End{Status: echo.StatusFailed, Whole: true}, f.End())
		require.Equal(t, echo.StatusFailed, f.Visits()[0].Status)
		require.False(t, ResumptionOf(entries).Possible)
	}
}

func TestMayResume(t *testing.T) {
	t.Parallel()
	for end, want := range map[End]bool{
		{Status: echo.StatusRunning}:                                               true,
		{Status: echo.StatusInterrupted}:                                           true,
		{Status: echo.StatusInterrupted, Whole: true}:                              true,
		{Status: echo.StatusOverBudget, Whole: true}:                               true,
		{Status: echo.StatusFailed, Reason: echo.StopError, Whole: true}:           true,
		{Status: echo.StatusFailed, Reason: echo.StopExhausted, Whole: true}:       false,
		{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Whole: true}: false,
	} {
		require.Equal(t, want, end.MayResume(), "%+v", end)
	}
}
