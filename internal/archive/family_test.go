package archive_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
)

// writeTree makes a session of a home of entries, after its start.
func writeTree(t *testing.T, home string, h journal.Header, entries ...*echo.Entry) {
	t.Helper()
	h.Rules, h.Input, h.Options, h.StartedAt = 1, []byte(`{}`), []byte(`{}`), began
	h.Cascade = []byte(`{"cascade_id":"` + h.SessionID + `"}`)
	j, err := journal.Create(config.SessionDir(home, h.SessionID), h)
	require.NoError(t, err)
	header, err := json.Marshal(h)
	require.NoError(t, err)
	start := echo.NewEntry(echo.MustKey("run/start"), echo.RunStart{})
	require.NoError(t, start.SetHeader(header))
	for i, e := range append([]*echo.Entry{start}, entries...) {
		e.SessionID, e.CascadeID, e.Seq, e.At = h.SessionID, h.SessionID, uint64(i+1), began.Add(time.Duration(i)*time.Second)
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}
	require.NoError(t, j.Close(t.Context()))
}

func asks(key string, usd float64) *echo.Entry {
	return &echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey(key), Model: "m", CostUSD: &usd, Usage: &echo.Usage{In: 10, Out: 1}, DurationMS: 5}
}

func begins(key, session string) *echo.Entry {
	return echo.NewEntry(echo.MustKey(key), echo.ChildStart{Session: session, Name: session + " name", How: echo.ChildSub, Cascade: session})
}

func ends(key, session string, status echo.Status, calls int, usd float64) *echo.Entry {
	e := echo.NewEntry(echo.MustKey(key), echo.ChildEnd{Session: session, Status: status, Reason: echo.StopEndOfCascade, Calls: calls})
	e.CostUSD, e.Usage = &usd, &echo.Usage{In: 10, Out: 1}
	return e
}

// TestFamily: the figures of a session are its own, and those with children have each call once, also of
// children whose records are not here.
func TestFamily(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	phase := func(name string) *echo.Entry { return echo.NewEntry(echo.MustKey(name), echo.PhaseStart{Visit: 1}) }
	over := echo.NewEntry(echo.MustKey("run/end"), echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade})
	writeTree(t, home, journal.Header{SessionID: "parent"},
		phase("draft/start"), begins("draft/child/a", "child"), ends("draft/child/a", "child", echo.StatusCompleted, 3, 0.75),
		begins("draft/child/b", "elsewhere"), ends("draft/child/b", "elsewhere", echo.StatusFailed, 2, 4),
		begins("draft/async/c", "open"), begins("draft/async/d", "parent"), asks("draft/attempt1/turn1/model", 0.25))
	writeTree(t, home, journal.Header{SessionID: "child", ChildOf: "parent", ChildKey: echo.MustKey("draft/child/a"), Root: "parent", Depth: 1},
		phase("one/start"), asks("one/attempt1/turn1/model", 0.5), begins("one/attempt1/turn1/tool1", "grandchild"),
		ends("one/attempt1/turn1/tool1", "grandchild", echo.StatusCompleted, 1, 0.25), over)
	writeTree(t, home, journal.Header{SessionID: "grandchild", ChildOf: "child", Root: "parent", Depth: 2}, phase("two/start"), asks("two/attempt1/turn1/model", 0.25))

	a := &archive.Archive{Home: home}
	r, err := a.Report(t.Context(), "parent")
	require.NoError(t, err)
	require.InDelta(t, 0.25, *r.CostUSD, 1e-9)
	require.Equal(t, uint64(1), r.Calls)
	require.InDelta(t, 0.25+0.5+0.25+4, *r.WithChildren.CostUSD, 1e-9)
	require.Equal(t, uint64(1+1+1+2), r.WithChildren.Calls)
	require.Equal(t, 4, r.WithChildren.Sessions)
	require.Equal(t, 2, r.WithChildren.Unknown, "one that has not ended, and a session that says it is its own child")
	require.Len(t, r.Children, 4)
	child := r.Children[0]
	require.Equal(t, "child name", child.Name)
	require.Equal(t, "draft/child/a", child.Key)
	require.Equal(t, "completed", child.Status)
	require.InDelta(t, 0.5, *child.Own.CostUSD, 1e-9)
	require.InDelta(t, 0.75, *child.WithChildren.CostUSD, 1e-9)
	require.Equal(t, "grandchild", child.Children[0].Session)
	require.Equal(t, archive.Killed, child.Children[0].Status, "its own record says how it stands")
	require.Nil(t, r.Children[1].Own)
	require.Equal(t, "failed", r.Children[1].Status)
	require.Equal(t, archive.Unfinished, r.Children[2].Status)
	require.Nil(t, r.Children[2].WithChildren)

	r, err = a.Report(t.Context(), "child")
	require.NoError(t, err)
	require.Equal(t, []string{"parent", "draft/child/a", "parent"}, []string{r.ChildOf, r.ChildKey, r.Root})
	text, err := json.Marshal(r)
	require.NoError(t, err)
	for _, part := range []string{`"child_of":"parent"`, `"cost_usd":0.5`, `"with_children":{"sessions":2,`, `"children":[{"session_id":"grandchild"`} {
		require.Contains(t, string(text), part)
	}
}

// TestBranches: the elements of a list have figures of their own, which are in those of the phase.
func TestBranches(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	mark := func(key string) *echo.Entry {
		return &echo.Entry{NodeType: echo.NodeBranchStart, Key: echo.MustKey(key)}
	}
	failed := echo.NewEntry(echo.MustKey("each/item2/finish"), echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError, Attempts: 1, Turns: 1})
	failed.Error = &echo.Failure{Kind: "error", Message: "it is empty"}
	writeTree(t, home, journal.Header{SessionID: "s"},
		echo.NewEntry(echo.MustKey("each/start"), echo.PhaseStart{Visit: 1}), mark("each/item1/start"), mark("each/item2/start"), mark("each/item3/start"), mark("each/item4/start"),
		asks("each/item1/attempt1/turn1/model", 0.5), asks("each/item2/attempt1/turn1/model", 0.25), failed, asks("each/item3/attempt1/turn1/model", 0.25),
		echo.NewEntry(echo.MustKey("each/item1/finish"), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Attempts: 1, Turns: 1}),
		echo.NewEntry(echo.MustKey("each/item4/stopped"), echo.Stopped{Item: 2}))
	r, err := (&archive.Archive{Home: home}).Report(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, r.PhaseReports, 1)
	p := r.PhaseReports[0]
	require.Equal(t, uint64(3), p.Calls)
	require.InDelta(t, 15, p.DurationMS, 0)
	require.Len(t, p.Branches, 4)
	var got [][3]string
	for _, b := range p.Branches {
		got = append(got, [3]string{b.Branch, b.Status, b.Error})
	}
	require.Equal(t, [][3]string{
		{"each/item1", "completed", ""},
		{"each/item2", "failed", "it is empty"},
		{"each/item3", archive.Killed, ""},
		{"each/item4", "pending", "it did not begin: element 2 had failed"},
	}, got)
	require.InDelta(t, 0.5, *p.Branches[0].CostUSD, 0)
	require.InDelta(t, 5, p.Branches[0].DurationMS, 0)
}

// TestFamilyElsewhere: another machine, which has only the rows, sees the same tree and the same sums.
func TestFamilyElsewhere(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	home := t.TempDir()
	phase := func(name string) *echo.Entry { return echo.NewEntry(echo.MustKey(name), echo.PhaseStart{Visit: 1}) }
	end := func() *echo.Entry {
		return echo.NewEntry(echo.MustKey("run/end"), echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade})
	}
	writeTree(t, home, journal.Header{SessionID: "parent"}, phase("draft/start"), begins("draft/child/a", "child"),
		ends("draft/child/a", "child", echo.StatusCompleted, 1, 0.5), asks("draft/attempt1/turn1/model", 0.25), end())
	writeTree(t, home, journal.Header{SessionID: "child", ChildOf: "parent", ChildKey: echo.MustKey("draft/child/a"), Root: "parent", Depth: 1},
		phase("one/start"), asks("one/attempt1/turn1/model", 0.5), end())
	here, there := with(home, db), with(t.TempDir(), db)
	_, err := ship(t, here)
	require.NoError(t, err)
	local, err := here.Report(t.Context(), "parent")
	require.NoError(t, err)
	stored, err := there.Report(t.Context(), "parent")
	require.NoError(t, err)
	require.Equal(t, local.SessionFigures, stored.SessionFigures)
	require.Equal(t, local.WithChildren, stored.WithChildren)
	require.Equal(t, local.Children, stored.Children)
	require.Equal(t, uint64(1), local.ChildrenBegun)
	require.InDelta(t, 0.75, *local.WithChildrenUSD, 1e-9)
	for _, a := range []*archive.Archive{here} {
		list, away, err := archive.ListRuns(t.Context(), a, 0, clickhouse.Filter{})
		require.NoError(t, err)
		require.NoError(t, away)
		require.Equal(t, "parent", list[0].ID)
		require.Equal(t, local.Below, list[0].Below)
	}
}

// TestTimesOfPhases: a phase took as long as its end says, with its children and with elements that ran
// in parallel; one that has not ended as long as its model calls.
func TestTimesOfPhases(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	begin := func(name string) *echo.Entry { return echo.NewEntry(echo.MustKey(name), echo.PhaseStart{Visit: 1}) }
	end := func(name string, ms float64) *echo.Entry {
		e := echo.NewEntry(echo.MustKey(name), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Attempts: 1, Turns: 1})
		e.DurationMS = ms
		return e
	}
	branch := func(name string) *echo.Entry {
		return &echo.Entry{NodeType: echo.NodeBranchStart, Key: echo.MustKey(name)}
	}
	writeTree(t, home, journal.Header{SessionID: "timed"},
		begin("plan/start"), begins("plan/child/a", "a"), ends("plan/child/a", "a", echo.StatusCompleted, 1, 0.5), asks("plan/attempt1/turn1/model", 0.25), end("plan/end", 90),
		begin("each/start"), branch("each/item1/start"), branch("each/item2/start"), asks("each/item1/attempt1/turn1/model", 0.25), end("each/item1/finish", 8),
		asks("each/item2/attempt1/turn1/model", 0.25), end("each/item2/finish", 7), end("each/end", 9),
		begin("last/start"), asks("last/attempt1/turn1/model", 0.25))
	r, err := (&archive.Archive{Home: home}).Report(t.Context(), "timed")
	require.NoError(t, err)
	var took, called []float64
	for _, p := range r.PhaseReports {
		took, called = append(took, p.TookMS), append(called, p.DurationMS)
		for _, b := range p.Branches {
			took, called = append(took, b.TookMS), append(called, b.DurationMS)
		}
	}
	require.Equal(t, []float64{90, 9, 8, 7, 5}, took)
	require.Equal(t, []float64{5, 10, 5, 5, 5}, called)
}
