package page_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term/contexts"
	"github.com/windlass-run/windlass/internal/term/page"
)

func elements(n int) []archive.BranchReport {
	var out []archive.BranchReport
	for i := 1; i <= n; i++ {
		b := archive.BranchReport{Branch: "each/item" + string(rune('0'+i%10)), Kind: "item", Number: i, Status: "completed", Attempts: 1, Turns: 1}
		b.Calls, b.TokensIn = 1, 1000
		if i%7 == 0 {
			b.Status, b.Error = "failed", "the answer\nis empty"
		}
		out = append(out, b)
	}
	return out
}

func withChildren() *page.Session {
	s := session("completed", "", false, "each")
	usd, all, below := 0.25, 1.0, 0.5
	s.ChildOf, s.ChildKey, s.Root = "01parent", "draft/attempt1/turn2/tool1", "01parent"
	s.CostUSD = &usd
	s.SessionFigures.Calls = 1
	sum := func(n, unknown int, usd *float64) *archive.TreeSum {
		return &archive.TreeSum{Sessions: n, Unknown: unknown, Calls: 2, CostUSD: usd}
	}
	at := s.StartedAt
	s.WithChildren = sum(4, 1, &all)
	s.PhaseReports[0].Visit = "each"
	s.PhaseReports[0].Branches = elements(12)
	s.Children = []archive.ChildReport{
		{
			Session: "01child1", Name: "background", How: "sub", Key: "each/child/background", CascadeID: "summary", Status: "completed", StartedAt: at,
			LastAt: at.Add(90 * time.Second), Own: sum(1, 0, &usd), WithChildren: sum(2, 0, &below), Children: []archive.ChildReport{
				{Session: "01child2", Name: "facts", How: "tool", Key: "outline/attempt1/turn1/tool1", CascadeID: "facts", Status: "failed", StartedAt: at, WithChildren: sum(1, 0, &usd)},
			},
		},
		{Session: "01child3", Name: "late", How: "async", Key: "each/async/late", CascadeID: "late", Status: "unfinished", Detached: true, StartedAt: at},
		{Session: "01child4", Name: "old", How: "sub", Key: "each/child/old", CascadeID: "old", Status: "completed", Copied: true, StartedAt: at, WithChildren: sum(1, 0, &usd)},
	}
	return s
}

// The page of a session with a list and with children: those that did not complete are listed of a long
// list, children stand below their parents, and money is that of the session and that of all.
func TestPageOfATree(t *testing.T) {
	t.Parallel()
	s := withChildren()
	require.Equal(t, `session   01jz4k
cascade   audit
child of  01parent, begun at draft/attempt1/turn2/tool1
status    completed
started   2026-03-01 12:00:00, took 1.0s
calls     1 model call, 0 tool calls: 0 tokens in (0 cached), 0 out
cost      $0.2500; with 4 children $1.00 + unknown (1 not here)

phase     status     attempts  turns  calls  failed  tools  tokens in  cached  tokens out     cost  time
--------  ---------  --------  -----  -----  ------  -----  ---------  ------  ----------  -------  ----
each      completed         0      0      0       0      0          0       0           0            0ms
  item 7  failed            1      1      1       0      0      1,000       0           0  unknown   0ms
each: 12 elements: 11 completed, 1 failed. --items lists all
  each/item7: the answer is empty

child       cascade  how              where                         status             calls     cost  with children   time  session
----------  -------  ---------------  ----------------------------  -----------------  -----  -------  -------------  -----  --------
background  summary  sub              each/child/background         completed              2  $0.2500        $0.5000  1m30s  01child1
  facts     facts    tool             outline/attempt1/turn1/tool1  failed                                   $0.2500         01child2
late        late     async, detached  each/async/late               unfinished                                               01child3
old         old      sub              each/child/old                completed, copied                        $0.2500         01child4

journal   in ClickHouse; not on this machine
handoff   windlass sessions handoff jz4k1
next      windlass context stats jz4k1  shows what each call was sent
`, write(t, contexts.Out{}, s))
	narrow := write(t, contexts.Out{Width: 80}, s)
	require.Contains(t, narrow, "01child2")
	require.Contains(t, narrow, "with children")
	s.Items = true
	require.Contains(t, write(t, contexts.Out{}, s), "  item 12 ")
	s.PhaseReports[0].Branches = append(elements(3), archive.BranchReport{Branch: "each/item4", Kind: "item", Number: 4, Status: "pending", Error: "it did not begin: element 2 had failed"})
	shown := write(t, contexts.Out{}, s)
	require.Contains(t, shown, "each: 4 elements: 3 completed, 1 not begun\n  each/item4: it did not begin: element 2 had failed\n")
	s.Children = nil
	s.WithChildren = &archive.TreeSum{Sessions: 2}
	require.Contains(t, write(t, contexts.Out{}, s), "; with 1 child ")
}

// What calls of children would have cost stands in the line of pretend money, also when the session
// itself has made no such call.
func TestPretendedOfChildren(t *testing.T) {
	t.Parallel()
	s, own, all := withChildren(), 0.25, 0.75
	require.NotContains(t, write(t, contexts.Out{}, s), "pretend")
	s.WithChildren.PretendUSD, s.WithChildren.PriceAs = &all, "m1"
	require.Contains(t, write(t, contexts.Out{}, s), "\npretend   $0.00 at prices of m1; with 4 children $0.7500; nothing was paid\n")
	s.PretendUSD, s.PriceAs = &own, "m1"
	require.Contains(t, write(t, contexts.Out{}, s), "\npretend   $0.2500 at prices of m1; with 4 children $0.7500; nothing was paid\n")
	s.WithChildren = nil
	require.Contains(t, write(t, contexts.Out{}, s), "\npretend   $0.2500 at prices of m1; nothing was paid\n")
}

// In a list each element may have children of the same name.
func TestChildrenOfElements(t *testing.T) {
	t.Parallel()
	s := withChildren()
	s.Children[0].Key, s.Children[2].Key = "each/item2/child/background", "each/item2/attempt1/turn1/tool1"
	out := write(t, contexts.Out{}, s)
	require.Contains(t, out, "\nbackground of item 2  summary ")
	require.Contains(t, out, "\nold of item 2         old ")
	require.Contains(t, out, "\nlate                  late ")
}

func tryOf(branch string, kind echo.StepKind, number int) archive.BranchReport {
	return archive.BranchReport{Branch: branch, Kind: kind, Number: number, Status: "completed"}
}

// Candidates stand below their phase or element with what became of them, the steps of refinement behind
// the first ones, and a line says what was chosen and where the judging is shown.
func TestPageOfSoundings(t *testing.T) {
	t.Parallel()
	s := session("completed", "", false, "draft", "each")
	s.PhaseReports[0].Visit, s.PhaseReports[1].Visit = "draft", "each"
	s.PhaseReports[0].Branches = []archive.BranchReport{
		tryOf("draft/sounding2", echo.StepSounding, 2), tryOf("draft/sounding1", echo.StepSounding, 1),
		tryOf("draft/reforge1", echo.StepReforge, 1), tryOf("draft/reforge1/sounding1", echo.StepSounding, 1),
	}
	for i := 1; i <= 6; i++ {
		of := fmt.Sprintf("each/item%d", i)
		s.PhaseReports[1].Branches = append(s.PhaseReports[1].Branches, tryOf(of, echo.StepItem, i), tryOf(of+"/sounding1", echo.StepSounding, 1))
	}
	s.PhaseReports[1].Branches[2].Status, s.PhaseReports[1].Branches[2].Error = "failed", "it broke"
	key := echo.MustKey
	usd := 0.01
	choice := &echo.Choice{Winner: 2, How: echo.ChoiceVotes, CostUSD: &usd, Standings: []echo.Standing{{Number: 1, State: echo.CandidateLost}, {Number: 2, State: echo.CandidateWon}}}
	first := inspect.SoundingStep{Choice: choice, Candidates: []inspect.Candidate{
		{Key: key("draft/sounding1"), Number: 1, Standing: &choice.Standings[0]}, {Key: key("draft/sounding2"), Number: 2, Standing: &choice.Standings[1], Kept: true},
	}}
	s.Soundings = []inspect.Sounding{{Key: key("draft"), Phase: "draft", Steps: []inspect.SoundingStep{first}}, {Key: key("each/item1"), Phase: "each"}}
	require.Contains(t, write(t, contexts.Out{}, s), `
phase           status     attempts  turns  calls  failed  tools  tokens in  cached  tokens out  cost  time
--------------  ---------  --------  -----  -----  ------  -----  ---------  ------  ----------  ----  ----
draft           completed         0      0      0       0      0          0       0           0         0ms
  sounding 1    lost              0      0      0       0      0          0       0           0         0ms
  sounding 2    kept              0      0      0       0      0          0       0           0         0ms
  reforge 1     completed         0      0      0       0      0          0       0           0         0ms
    sounding 1  completed         0      0      0       0      0          0       0           0         0ms
each            completed         0      0      0       0      0          0       0           0         0ms
  item 1        completed         0      0      0       0      0          0       0           0         0ms
  item 2        failed            0      0      0       0      0          0       0           0         0ms
  item 3        completed         0      0      0       0      0          0       0           0         0ms
  item 4        completed         0      0      0       0      0          0       0           0         0ms
  item 5        completed         0      0      0       0      0          0       0           0         0ms
  item 6        completed         0      0      0       0      0          0       0           0         0ms
draft: 2 candidates, 2 kept by votes, judging $0.0100. windlass soundings jz4k1 draft shows them
each: 6 elements: 5 completed, 1 failed. --items lists all
each: candidates of 1 element. windlass soundings jz4k1 each shows them
  each/item2: it broke
`)
	s.PhaseReports, s.Soundings = nil, []inspect.Sounding{{Key: echo.RunKey(), Steps: []inspect.SoundingStep{{
		Choice: choice, Candidates: []inspect.Candidate{{Key: key("run/sounding2"), Number: 2, Standing: &choice.Standings[1], Kept: true}},
	}}}}
	s.Children = []archive.ChildReport{
		{Session: "c2", Name: "x", How: echo.ChildSounding, Key: "run/sounding2/candidate", Status: "completed"},
		{Session: "c1", Name: "x", How: echo.ChildSounding, Key: "run/sounding1/candidate", Status: "failed"},
	}
	shown := write(t, contexts.Out{}, s)
	require.Contains(t, shown, "\n\nthe whole cascade: 2 candidates, 2 kept by votes, judging $0.0100. windlass soundings jz4k1 shows them\n")
	require.Regexp(t, `\nsounding 1 .* failed .*c1\nsounding 2 .* completed, kept .*c2\n`, shown)
}
