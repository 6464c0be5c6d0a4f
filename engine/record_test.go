package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// checkFold holds what every record must: it comes to what the run came to.
func checkFold(t *testing.T, entries []*echo.Entry, res *Result) {
	t.Helper()
	f := record.Of(entries)
	end := f.End()
	require.True(t, end.Whole)
	require.Equal(t, fmt.Sprint(res.Status, res.Reason, echo.AsText(res.Output)), fmt.Sprint(end.Status, end.Reason, echo.AsText(end.Output)))
	if !hasNodes(entries) { // the output of a graph is not that of what ended last
		require.Equal(t, echo.AsText(res.Output), echo.AsText(f.Output()))
	}
	require.Equal(t, res.SessionID, f.SessionID())
	require.Equal(t, res.CascadeID, f.CascadeID())
	odd := 0 // calls that failed by an error of no provider: a run takes them for free
	for _, e := range f.Counted() {
		if d, err := echo.Read[echo.ModelCall](e); err == nil && d.Failed {
			odd++
		}
	}
	checkTotals(t, res.Totals, f.Totals(), odd)
	visits := f.Visits()
	require.Len(t, visits, len(res.Phases))
	var sum record.Totals
	for _, v := range visits { // of a graph, in the order in which they began
		at := slices.IndexFunc(res.Phases, func(p PhaseResult) bool { return p.Phase == v.Phase && p.Visit == v.Number })
		require.GreaterOrEqual(t, at, 0)
		p := &res.Phases[at]
		if v.Node > 0 && p.Status != echo.StatusCompleted && p.Status != echo.StatusFailed { // a node that was stopped has no end of its own
			p.Status, p.Reason, p.Error, p.Attempts = end.Status, end.Reason, "", v.Attempts
		}
		require.Equal(t, fmt.Sprint(p.Phase, p.Visit, p.Status, p.Reason, p.Attempts, p.Turns, p.Error, echo.AsText(p.Output)),
			fmt.Sprint(v.Phase, v.Number, v.Status, v.Reason, v.Attempts, v.Turns, v.Error, echo.AsText(v.Output)))
		require.Equal(t, []int{p.MaskedResults, p.Recalls, p.Rereads}, []int{v.Reads.Masked, v.Reads.Recalls, v.Reads.Rereads})
		if odd == 0 {
			checkTotals(t, p.Totals, v.Totals, 0)
		}
		sum = sum.Plus(v.Totals)
	}
	if len(f.Choices(echo.RunKey())) == 0 { // judges of the whole cascade are of no visit
		require.Equal(t, sum.Calls, f.Totals().Calls)
	}
	checkRequests(t, f, entries)
}

func checkTotals(t *testing.T, want effect.Totals, got record.Totals, odd int) {
	t.Helper()
	require.Equal(t, want.Calls, got.Calls-got.Failed)
	require.Equal(t, want.Usage, got.Usage)
	require.InDelta(t, want.CostUSD, got.CostUSD, 1e-9)
	require.Equal(t, want.UnknownCosts, got.UnknownCosts-odd)
	require.Equal(t, want.Scripted, got.Scripted > 0)
}

// checkRequests holds that what each call was sent is a beginning of its visit's history.
func checkRequests(t *testing.T, f *record.Fold, entries []*echo.Entry) {
	t.Helper()
	requests := 0
	for req, err := range record.RequestsOf(entries) {
		require.NoError(t, err)
		requests++
		history := f.History(record.Conversation(req.Selection.Key))
		require.Equal(t, seqs(req.History), seqs(history[:len(req.History)]))
	}
	selections := 0
	for _, e := range entries {
		if e.NodeType == echo.NodeSelection {
			selections++
		}
	}
	require.Equal(t, selections, requests)
}

func seqs(entries []*echo.Entry) []uint64 {
	out := []uint64{}
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

func hasNodes(entries []*echo.Entry) bool {
	return slices.ContainsFunc(entries, func(e *echo.Entry) bool {
		b := e.Key.Path().Branches
		return len(b) > 0 && b[0].Kind == echo.StepNode
	})
}
