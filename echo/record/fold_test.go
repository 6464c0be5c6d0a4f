package record

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// results are all that follows from the entries that count.
type results struct {
	End       End
	Resume    Resumption
	Visits    []Visit
	Branches  map[string][]Branch
	Children  []Child
	Histories map[string][]uint64
	Routes    []echo.Route
	Callouts  []echo.Callout
	State     map[string]any
	Output    any
	Totals    Totals
	Counted   []uint64
}

func resultsOf(f *Fold) results {
	r := results{
		End: f.End(), Resume: ResumptionOf(f.Counted()), Histories: map[string][]uint64{}, Routes: f.Routes(), Callouts: f.Callouts(),
		State: map[string]any{"a": f.State("a"), "b": f.State("b")}, Output: f.Output(), Totals: f.Totals(), Counted: seqs(f.Counted()),
		Branches: map[string][]Branch{}, Children: f.Children(),
	}
	for _, v := range f.Visits() {
		for _, b := range f.Branches(v.Key) {
			b.Spent = Spent{}
			r.Branches[v.Key.String()] = append(r.Branches[v.Key.String()], b)
		}
		v.Spent = Spent{}
		r.Visits = append(r.Visits, v)
	}
	for key := range f.now.histories {
		r.Histories[key.String()] = seqs(f.History(key))
	}
	return r
}

func seqs(entries []*echo.Entry) []uint64 {
	out := []uint64{}
	for _, e := range entries {
		out = append(out, e.Seq)
	}
	return out
}

// Entries that do not count leave no trace in what follows from those that do, wherever a session
// is cut off.
func TestOnlyWhatCountsCounts(t *testing.T) {
	t.Parallel()
	resumed, tools := 0, 0
	for seed := range uint64(60) {
		entries := randomSession(t, seed)
		f := New()
		for n, e := range entries {
			f.Add(e)
			counted := Counted(entries[:n+1])
			require.Equal(t, seqs(counted), seqs(f.Counted()))
			if n%7 == 0 || n == len(entries)-1 || e.NodeType == echo.NodeResume {
				require.Equal(t, resultsOf(Of(counted)), resultsOf(f), "seed %d, after entry %d", seed, e.Seq)
				require.Equal(t, resultsOf(Of(entries[:n+1])), resultsOf(f))
			}
			if e.NodeType == echo.NodeResume {
				resumed++
			}
		}
		tools += f.Spent().ToolCalls
		requireWhole(t, f, entries)
	}
	require.Greater(t, resumed, 20)
	require.Greater(t, tools, 100)
}

// requireWhole holds that every paid call is in the sums, once.
func requireWhole(t *testing.T, f *Fold, entries []*echo.Entry) {
	t.Helper()
	var all, ofVisits, ofBackground Totals
	for _, e := range entries {
		all.Add(e)
		if e.Background() {
			ofBackground.Add(e)
		}
	}
	require.Equal(t, all, f.Spent().Totals)
	for _, v := range f.Visits() {
		ofVisits = ofVisits.Plus(v.Spent.Totals)
	}
	require.LessOrEqual(t, ofVisits.Calls+ofBackground.Calls, all.Calls)
	require.LessOrEqual(t, f.Totals().Calls+ofBackground.Calls, all.Calls)
	require.Equal(t, entries[len(entries)-1].At, f.Spent().LastAt)
}

// A run that resumes keeps what counted without the record of its stop, and loses nothing else.
func TestKept(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		entries := randomSession(t, seed)
		for n := range entries {
			part := entries[:n+1]
			kept := Kept(part)
			r := ResumptionOf(part)
			aside := map[uint64]bool{}
			for _, seq := range r.SetAside() {
				aside[seq] = true
			}
			var want []uint64
			for _, e := range Counted(part) {
				if !aside[e.Seq] {
					want = append(want, e.Seq)
				}
			}
			var got []uint64
			for _, e := range kept {
				if !e.Background() {
					got = append(got, e.Seq)
				}
			}
			require.Equal(t, want, got)
			require.Equal(t, background(part), background(kept))
			// What a run keeps records no stop any more, so that it resumes from there.
			require.False(t, r.Possible && !ResumptionOf(kept).Possible)
			require.Empty(t, ResumptionOf(kept).Stop)
		}
	}
}

func background(entries []*echo.Entry) int {
	n := 0
	for _, e := range entries {
		if e.Background() {
			n++
		}
	}
	return n
}

// Results of parallel calls enter a history in the order of the calls.
func TestHistoryHasResultsInTheOrderOfTheirCalls(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		f := Of(randomSession(t, seed))
		for key := range f.now.histories {
			open := []echo.ToolCall(nil)
			for _, e := range f.History(key) {
				if e.Message.Role() == echo.RoleTool {
					require.NotEmpty(t, open)
					require.Equal(t, open[0].ID, e.Message.ToolCallID())
					open = open[1:]
					continue
				}
				require.Empty(t, open)
				open = e.Message.ToolCalls()
			}
		}
	}
}

// FuzzFold folds entries that may be anything, and asks for everything.
func FuzzFold(f *testing.F) {
	f.Add(`{"seq":1,"node_type":"run_start","key":"run/start"}
{"seq":2,"node_type":"phase_start","key":"run/start"}
{"seq":3,"node_type":"run_resume","key":"run/resume","data":{"set_aside":[1,2,9]}}
{"seq":3,"node_type":"run_end","key":"run/end","data":{"status":"failed"}}`)
	f.Add(`{"node_type":"phase_start","key":""}
{"node_type":"tool_call","key":"a/item2/sounding1/attempt1/turn1/tool1/tool2","message":{"role":"tool","content":"x"}}
{"node_type":"phase_end","key":"cards/end","data":{"status":"completed"}}
{"node_type":"phase_end","key":"a~2/end","data":7}`)
	f.Add(`{"node_type":"branch_start","key":"a/node1/start"}
{"node_type":"phase_start","key":"a/node1/begin"}
{"node_type":"state","key":"a/node1/item2/state/k","data":{"key":"k","value":1}}
{"node_type":"phase_end","key":"a/node1/item2/finish","data":{"status":"completed"}}
{"node_type":"branch_end","key":"a/node1/item2/end"}
{"node_type":"child_start","key":"a/node1/child/x","data":{"session":"s","input":{}}}
{"node_type":"child_end","key":"run/async/s","data":{"session":"s","status":"failed"}}
{"node_type":"branch_end","key":"a/node1/end"}`)
	f.Fuzz(func(t *testing.T, lines string) {
		fold, requests := New(), NewRequests()
		var entries []*echo.Entry
		for line := range strings.Lines(lines) {
			e := &echo.Entry{}
			if json.Unmarshal([]byte(line), e) != nil {
				return
			}
			entries = append(entries, e)
			fold.Add(e)
			_, _ = requests.Read(e)
			_ = requests.Rendered(e)
		}
		_, _, _, _ = fold.SessionID(), fold.CascadeID(), BudgetOf(entries), fold.Workspace()
		for _, v := range fold.Visits() {
			for _, e := range entries {
				_ = v.After(e)
			}
			_ = fold.Branches(v.Key)
		}
		_, _, _, _ = fold.Nodes(), fold.Children(), fold.Output(), fold.Callouts()
		_ = fold.State("k")
		require.Equal(t, resultsOf(fold).Counted, seqs(Counted(entries)))
		_ = Kept(entries)
	})
}

// Attempts that have begun stay begun, whatever the end of the visit says, or does not say.
func TestAttemptsOfAnEndThatDoesNotSay(t *testing.T) {
	t.Parallel()
	for _, data := range []string{`{"status":"failed"}`, `7`, `{"status":"failed","attempts":1}`} {
		f := New()
		for i, e := range []echo.Entry{
			{NodeType: echo.NodePhaseStart, Key: echo.MustKey("p/start")},
			{NodeType: echo.NodeModelCall, Key: echo.MustKey("p/attempt2/turn1/model")},
			{NodeType: echo.NodePhaseEnd, Key: echo.MustKey("p/end"), Data: json.RawMessage(data)},
		} {
			e.Seq = uint64(i + 1)
			f.Add(&e)
		}
		require.Equal(t, 2, f.Visits()[0].Attempts, data)
	}
}
