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
	Histories map[string][]uint64
	Branches  []Branch
	Routes    []echo.Route
	Callouts  []echo.Callout
	State     map[string]any
	Output    any
	Totals    Totals
	Counted   []uint64
}

func resultsOf(f *Fold) results {
	r := results{
		End: f.End(), Resume: f.Resumption(), Histories: map[string][]uint64{}, Branches: f.Branches(), Routes: f.Routes(), Callouts: f.Callouts(),
		State: map[string]any{"a": f.State("a"), "b": f.State("b")}, Output: f.Output(), Totals: f.Totals(), Counted: seqs(f.Counted()),
	}
	for _, v := range f.Visits() {
		v.Spent = Spent{}
		r.Visits = append(r.Visits, v)
		r.Histories[v.Key.String()] = seqs(f.History(v.Key))
	}
	for _, b := range r.Branches {
		r.Histories[b.Key.String()] = seqs(f.History(b.Key))
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

// Entries that do not count leave no trace in what follows from those that do, wherever a session is cut off.
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
		tools += len(f.Branches()) - 1
		requireWhole(t, f, entries)
	}
	require.Greater(t, resumed, 20)
	require.Greater(t, tools, 100)
}

// requireWhole holds that every paid call is in the sums, once.
func requireWhole(t *testing.T, f *Fold, entries []*echo.Entry) {
	t.Helper()
	var all, ofVisits Totals
	for _, e := range entries {
		all.Add(e)
	}
	require.Equal(t, all, f.Spent().Totals)
	for _, v := range f.Visits() {
		ofVisits = ofVisits.Plus(v.Spent.Totals)
	}
	require.LessOrEqual(t, ofVisits.Calls+f.Background().Calls, all.Calls)
	require.LessOrEqual(t, f.Totals().Calls+f.Background().Calls, all.Calls)
	require.Equal(t, entries[len(entries)-1].At, f.Spent().LastAt)
}

// Every branch but those of tools begins in the one that it grows from; one that ended well has ended with all below it.
func TestBranches(t *testing.T) {
	t.Parallel()
	items := 0
	for seed := range uint64(60) {
		entries := randomSession(t, seed)
		f := Of(entries)
		known := map[echo.Key]Branch{}
		for _, b := range f.Branches() {
			known[b.Key] = b
			p := b.Key.Path()
			parent, ok := known[b.Parent]
			require.True(t, ok, "a parent is there before what grows from it")
			if len(p.Branches) > 0 && len(p.Effect) == 0 {
				items++
				require.LessOrEqual(t, parent.First, b.First)
				require.NotEmpty(t, f.History(b.Key))
			}
			require.LessOrEqual(t, b.First, b.Last)
			require.False(t, b.StartedAt.After(b.LastAt))
		}
		for _, b := range f.Branches() {
			if f.End().Status == echo.StatusCompleted && len(SetAside(entries)) == 0 {
				require.True(t, b.Ended, b.Key)
			}
		}
		require.Equal(t, f.End().Whole, known[echo.Key{}].Ended)
	}
	require.Greater(t, items, 20)
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
		conversations := []echo.Key{}
		for _, v := range f.Visits() {
			conversations = append(conversations, v.Key)
		}
		for _, b := range f.Branches() {
			conversations = append(conversations, b.Key)
		}
		for _, key := range conversations {
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
		_, _ = fold.Newest()
		_, _, _, _ = fold.SessionID(), fold.CascadeID(), fold.Budget(), fold.Workspace()
		for _, v := range fold.Visits() {
			for _, e := range entries {
				_ = v.After(e)
			}
		}
		require.Equal(t, resultsOf(fold).Counted, seqs(Counted(entries)))
		_ = Kept(entries)
	})
}

// The tool of a phase and a check by a tool end nothing but themselves; a tool call of a turn is a
// branch that ends with its result.
func TestToolsThatEndNoBranch(t *testing.T) {
	t.Parallel()
	f := New()
	for i, key := range []string{"p/attempt1/tool", "p/item1/attempt1/tool", "p/attempt1/turn2/validate/check", "p/attempt1/turn2/tool1"} {
		f.Add(&echo.Entry{Seq: uint64(i + 1), NodeType: echo.NodeToolCall, Key: echo.MustKey(key)})
	}
	ended := map[string]bool{}
	for _, b := range f.Branches() {
		ended[b.Key.String()] = b.Ended
	}
	require.Equal(t, map[string]bool{"": false, "p/item1": false, "p/attempt1/turn2/tool1": true}, ended)
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
