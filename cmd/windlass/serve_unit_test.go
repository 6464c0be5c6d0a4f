package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/server"
)

// seqsOf reads what is there of a tail.
func seqsOf(t *testing.T, tail *journalTail) (seqs []uint64, ended bool) {
	t.Helper()
	for {
		entries, over, err := tail.Next()
		require.NoError(t, err)
		for _, e := range entries {
			seqs = append(seqs, e.Seq)
		}
		if over || len(entries) == 0 {
			return seqs, over
		}
	}
}

// TestTail follows a journal that grows, tears, is mended and ends.
func TestTail(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s1")
	j, err := journal.Create(dir, journal.Header{Rules: engine.Rules, SessionID: "s1", Cascade: []byte(`{}`), Input: []byte(`{}`)})
	require.NoError(t, err)
	log := echo.NewLog("s1", nil, j)
	add := func(n int) {
		for i := range n {
			require.NoError(t, log.Append(&echo.Entry{NodeType: echo.NodeState, Key: echo.MustKey(fmt.Sprint(i))}))
		}
		log.Flush()
	}
	alive := true
	path := filepath.Join(dir, journal.File)
	tail, err := openTail(path, 3, func() bool { return alive })
	require.NoError(t, err)
	defer tail.Close() //nolint:errcheck // only read from
	seqs, ended := seqsOf(t, tail)
	require.Empty(t, seqs, "there is only a header")
	require.False(t, ended)
	add(2)
	seqs, _ = seqsOf(t, tail)
	require.Empty(t, seqs, "none of these is wanted")
	add(3)
	seqs, _ = seqsOf(t, tail)
	require.Equal(t, []uint64{3, 4, 5}, seqs)
	add(2*tailBatch + 1)
	seqs, ended = seqsOf(t, tail)
	require.Len(t, seqs, 2*tailBatch+1)
	require.Equal(t, uint64(6), seqs[0])
	require.False(t, ended)

	// A crash tears the last line; whoever goes on cuts it off and writes another one in its place.
	require.NoError(t, log.Close(context.Background()))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"session_id":"s1","seq":519,"at":"2026-01-01T00:00:00Z","node_type":"state","key":"torn and much longer than what comes`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	seqs, _ = seqsOf(t, tail)
	require.Empty(t, seqs)
	j, rec, err := journal.Open(dir)
	require.NoError(t, err)
	log = echo.ContinueLog("s1", uint64(len(rec.Entries)), nil, j)
	add(1)
	seqs, _ = seqsOf(t, tail)
	require.Equal(t, []uint64{519}, seqs)

	// What was written before the end is read before the end is told.
	add(1)
	require.NoError(t, log.Close(context.Background()))
	alive = false
	tail.quiet = lookEvery
	seqs, ended = seqsOf(t, tail)
	require.Equal(t, []uint64{520}, seqs)
	require.True(t, ended)
}

// TestTailTakesLongEntriesOneByOne: however long entries are, a reader is not given more at once than it has to be, as there
// may be many readers.
func TestTailTakesLongEntriesOneByOne(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s1")
	j, err := journal.Create(dir, journal.Header{Rules: engine.Rules, SessionID: "s1", Cascade: []byte(`{}`), Input: []byte(`{}`)})
	require.NoError(t, err)
	log := echo.NewLog("s1", nil, j)
	for i := range 5 {
		require.NoError(t, log.Append(&echo.Entry{NodeType: echo.NodeState, Key: echo.MustKey(fmt.Sprint(i)), Data: []byte(`"` + strings.Repeat("x", tailBytes*2/3) + `"`)}))
	}
	require.NoError(t, log.Close(context.Background()))
	tail, err := openTail(filepath.Join(dir, journal.File), 1, func() bool { return false })
	require.NoError(t, err)
	defer tail.Close() //nolint:errcheck // only read from
	for _, want := range []int{2, 2, 1} {
		entries, _, err := tail.Next()
		require.NoError(t, err)
		require.Len(t, entries, want)
	}
	_, ended, err := tail.Next()
	require.NoError(t, err)
	require.True(t, ended)
}

// TestSummary reads off how a run that was taken up again stands: its newest end counts, and what was set aside does not.
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
		d := summarize("s1", entries[:n], "running")
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
	d := summarize("s1", entries, "running")
	require.Equal(t, []int{2, 2, 1, 1}, []int{d.Phases, d.Calls, d.ToolCalls, d.UnknownCostCalls})
	require.Equal(t, []int64{3, 2, 1}, []int64{d.TokensIn, d.TokensCached, d.TokensOut})
	require.Equal(t, &cost, d.CostUSD)
	require.Nil(t, d.PhaseReports[1].CostUSD, "no cost is known")
	require.Equal(t, "done", summarize("s1", entries[:8], "running").Output)
}

// TestSummaryOfASessionWithoutAnEnd: what a session is called whose end is not recorded follows from who runs it, unless its
// process died while it recorded why the run stopped.
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
		"unfinished": {{"unfinished", "", "running"}, {"unfinished", "", "running"}, {"unfinished", "", "over_budget"}},
	} {
		for i, want := range want {
			d := summarize("s1", entries[:i+2], open)
			require.Equal(t, want, [3]string{d.Status, d.Reason, d.PhaseReports[0].Status}, "%s, %d entries", open, i+2)
		}
	}
}

// TestServedLimits: a request gets the limits that it asks for, but never more than the server grants.
func TestServedLimits(t *testing.T) {
	t.Parallel()
	usd := func(v float64) *float64 { return &v }
	for name, tt := range map[string]struct {
		asked, most *float64
		base        float64
		want        *float64
		refused     bool
	}{
		"nothing is said":                   {nil, nil, 0, nil, false},
		"the cascade's stays":               {nil, nil, 3, nil, false},
		"the cascade's, below the server's": {nil, usd(5), 3, nil, false},
		"the cascade's, above the server's": {nil, usd(2), 3, usd(2), false},
		"the cascade has none":              {nil, usd(2), 0, usd(2), false},
		"the request's":                     {usd(9), nil, 3, usd(9), false},
		"the request takes it away":         {usd(0), nil, 3, usd(0), false},
		"the request's, below the server's": {usd(1), usd(2), 3, usd(1), false},
		"the request's, as the server's":    {usd(2), usd(2), 1, usd(2), false},
		"the request's, above the server's": {usd(2.5), usd(2), 1, nil, true},
		"the request wants no limit":        {usd(0), usd(2), 1, nil, true},
		"the request's, below zero":         {usd(-1), usd(2), 1, nil, true},
		"the server has no limit":           {usd(7), usd(0), 1, usd(7), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := grants{budget: core.Limits{MaxUSD: tt.most}}
			o, err := g.limits(&server.Budget{MaxUSD: tt.asked}, cascade.Budget{MaxUSD: tt.base})
			if tt.refused {
				require.EqualError(t, err, fmt.Sprintf("the request asks for a max_usd of %v, and this server grants a run 2 at most", *tt.asked))
				return
			}
			require.NoError(t, err)
			require.Equal(t, core.Limits{MaxUSD: tt.want}, o)
		})
	}
}
