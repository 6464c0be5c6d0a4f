package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// relative writes the log of a session of a tree.
type relative struct {
	t       *testing.T
	session string
	entries []*echo.Entry
}

func (r *relative) put(e *echo.Entry) *echo.Entry {
	r.t.Helper()
	e.SessionID, e.CascadeID, e.Seq = r.session, "of_"+r.session, uint64(len(r.entries)+1)
	minute := map[string]int{"t1": 2, "t2": 1, "t4": 2}[r.session] // each child ends before its parent is told, but for t4
	e.At = time.Date(2026, 3, 3, 12, minute, len(r.entries), 0, time.UTC)
	r.entries = append(r.entries, placed(e))
	return e
}

func (r *relative) say(key string, p echo.Payload) *echo.Entry {
	r.t.Helper()
	return r.put(echo.NewEntry(echo.MustKey(key), p))
}

func (r *relative) start(header map[string]any) {
	r.t.Helper()
	header["session_id"] = r.session
	b, err := json.Marshal(header)
	require.NoError(r.t, err)
	r.say("run/start", echo.RunStart{Input: map[string]any{}, Header: b})
}

// call records a model call; a cost below zero is not known.
func (r *relative) call(key string, usd float64) {
	r.t.Helper()
	e := r.say(key, echo.ModelCall{Model: "m"})
	e.Model, e.Provider, e.Usage = "gpt-5", "api.example.org", &echo.Usage{In: 100, Cached: 10, Out: 20}
	if usd >= 0 {
		e.CostUSD = &usd
	}
}

func (r *relative) begin(key, session string, how echo.ChildKind, detach bool) {
	r.t.Helper()
	r.say(key, echo.ChildStart{
		Session: session, Name: "name of " + session, How: how, Cascade: "of_" + session, Hash: "0123456789abcdef", File: session + ".json",
		Input: map[string]any{}, Detach: detach,
	})
}

// finish records that a child has ended which is a session of its own.
func (r *relative) finish(key string, child *relative, status echo.Status) {
	r.t.Helper()
	sums := record.Of(child.entries).Sums()
	all := sums.Totals.Plus(sums.Children.Totals)
	d := echo.ChildEnd{Session: child.session, Status: status, Reason: echo.StopEndOfCascade, Calls: all.Calls, Unknown: all.UnknownCosts}
	if all.UnknownCosts > 0 {
		d.Known = all.CostUSD
	}
	e := r.say(key, d)
	e.Usage = &all.Usage
	if all.UnknownCosts == 0 {
		e.CostUSD = &all.CostUSD
	}
	if status != echo.StatusCompleted {
		e.Error = &echo.Failure{Kind: "error", Message: "it did not work"}
	}
}

func (r *relative) end(status echo.Status) {
	r.t.Helper()
	r.say("run/end", echo.RunEnd{Status: status, Reason: echo.StopEndOfCascade})
}

// family is a tree of sessions: t1 has a list with wards, and began t2, which began t3; t4, which failed, was
// resumed since and goes on; and t5, of which there are no rows.
func family(t *testing.T) []*echo.Entry {
	t.Helper()
	t1, t2, t3, t4 := &relative{t: t, session: "t1"}, &relative{t: t, session: "t2"}, &relative{t: t, session: "t3"}, &relative{t: t, session: "t4"}
	child := func(of, key string, depth int) map[string]any {
		return map[string]any{"child_of": of, "child_key": key, "root": "t1", "depth": depth}
	}
	t3.start(child("t2", "look/attempt1/turn1/tool2", 2))
	t3.call("count/attempt1/turn1/model", 0.25)
	t3.end(echo.StatusCompleted)

	t2.start(child("t1", "each/child/check", 1))
	t2.say("look/start", echo.PhaseStart{Visit: 1})
	t2.call("look/attempt1/turn1/model", 0.5)
	t2.begin("look/attempt1/turn1/tool2", "t3", echo.ChildTool, false)
	t2.finish("look/attempt1/turn1/tool2", t3, echo.StatusCompleted)
	t2.call("look/attempt1/turn2/model", -1)
	t2.end(echo.StatusCompleted)

	t4.start(child("t1", "each/async/log", 1))
	t4.call("write/attempt1/turn1/model", 0.125)
	t4.end(echo.StatusFailed)

	t1.start(map[string]any{})
	t1.say("each/start", echo.PhaseStart{Visit: 1})
	t1.begin("each/child/check", "t2", echo.ChildSub, false)
	t1.finish("each/child/check", t2, echo.StatusCompleted)
	t1.begin("each/async/log", "t4", echo.ChildAsync, false)
	t1.finish("run/async/t4", t4, echo.StatusFailed)
	t1.begin("each/attempt1/turn1/tool1", "t5", echo.ChildSpawn, true)
	t1.list()

	t4.say("run/resume", echo.Resume{SetAside: []uint64{3}})
	for len(t4.entries) < len(t1.entries) { // until after the end that t1 was told
		t4.call(fmt.Sprintf("write/attempt1/turn%d/model", len(t4.entries)), 0.125)
	}
	all := []*echo.Entry{}
	for _, r := range []*relative{t1, t2, t3, t4} {
		all = append(all, r.entries...)
	}
	return all
}

// list records elements with wards, two of them beside each other.
func (r *relative) list() {
	mark := func(n echo.NodeType, key string) { r.put(&echo.Entry{NodeType: n, Key: echo.MustKey(key)}) }
	usd := 0.125
	mark(echo.NodeBranchStart, "each/item1/start")
	mark(echo.NodeBranchStart, "each/item2/start")
	r.call("each/item2/attempt1/turn1/model", 0.5)
	r.call("each/item1/attempt1/turn1/model", 0.25)
	r.say("each/item2/attempt1/turn1/ward1/verdict/fair", echo.Verdict{Validator: "fair", Reason: "too short", Ward: "turn", Mode: "retry", CostUSD: &usd})
	r.call("each/item1/attempt1/ward2/validate/kind/model", 0.125)
	r.say("each/item1/attempt1/ward2/verdict/kind", echo.Verdict{Validator: "kind", Valid: true, Ward: "post", Mode: "advisory", CostUSD: &usd})
	r.say("each/item1/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Attempts: 1, Turns: 1, Output: "one"})
	r.call("each/item2/attempt2/turn1/model", 0.5)
	r.say("each/item2/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Attempts: 2, Turns: 2, Output: "two"})
	mark(echo.NodeBranchEnd, "each/item1/end")
	mark(echo.NodeBranchEnd, "each/item2/end")
	r.say("each/end", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopItems})
	r.end(echo.StatusCompleted)
}

// TestChildren: sums of a session are its own, and those of its children beside them are what the fold of its
// entries says, whatever setting a user has.
func TestChildren(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	entries := family(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries[:20]), "what is delivered twice counts once")
	bySession := map[string][]*echo.Entry{}
	for _, e := range entries {
		bySession[e.SessionID] = append(bySession[e.SessionID], e)
	}
	for _, nulls := range []string{"", " SETTINGS join_use_nulls = 1"} {
		for id, of := range bySession {
			sums := record.Of(of).Sums()
			var rows []struct {
				Calls, Children, Ended, ChildCalls, Unknown uint64
				In                                          int64
				Cost, Below, All                            *float64
			}
			require.NoError(t, clickhouse.Conn(db).Select(t.Context(), &rows, `SELECT calls AS Calls, children AS Children, children_ended AS Ended,
				children_calls AS ChildCalls, children_unknown_cost_calls AS Unknown, children_tokens_in AS In, cost_usd AS Cost,
				children_cost_usd AS Below, with_children_usd AS All FROM sessions WHERE session_id = '`+id+"'"+nulls))
			require.Len(t, rows, 1)
			got := rows[0]
			require.Equal(t, []int{sums.Totals.Calls, sums.Children.Begun, sums.Children.Ended, sums.Children.Totals.Calls, sums.Children.Totals.UnknownCosts},
				[]int{int(got.Calls), int(got.Children), int(got.Ended), int(got.ChildCalls), int(got.Unknown)}, id)
			require.Equal(t, sums.Children.Totals.Usage.In, got.In)
			all := sums.Totals.Plus(sums.Children.Totals)
			requireUSD(t, sums.Totals.KnownUSD(), got.Cost)
			requireUSD(t, sums.Children.Totals.KnownUSD(), got.Below)
			requireUSD(t, all.KnownUSD(), got.All)
		}
		require.Equal(t, strings.Join([]string{
			"child_session | root | depth | status | error | ended | calls | cost_usd | with_children_calls | with_children_usd",
			"t2 | t1 | 1 | completed |  | 1 | 2 | 0.5 | 3 | 0.75", // one cost is not known
			"t3 | t1 | 2 | completed |  | 1 | 1 | 0.25 | 1 | 0.25",
			"t4 | t1 | 1 | unfinished |  | 0 | 18 | 2.25 | 18 | 2.25",
			"t5 | t1 | 1 | unfinished |  | 0 | NULL | NULL | NULL | NULL", "",
		}, "\n"), result(t, db, `SELECT child_session, root, depth, status, error, isNotNull(ended_at) AS ended, calls, cost_usd, with_children_calls, with_children_usd
			FROM children ORDER BY child_session`+nulls))
	}
	require.Equal(t, "root | calls\nt1 | "+fmt.Sprint(4+2+1+18)+"\n", result(t, db, "SELECT root, sum(calls) AS calls FROM sessions GROUP BY root"))
}

// TestChildrenOfForks: what a fork has copied of its children is in no sum of it; a child whose start it has
// copied, and which ended for it as a session of its own, is.
func TestChildrenOfForks(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	entries := family(t)
	fork := func(id string, upto uint64, ended string) (fork []*echo.Entry) {
		for _, e := range entries {
			if e.SessionID != "t1" {
				continue
			}
			mine := *e
			mine.SessionID = id
			if mine.NodeType == echo.NodeRunStart {
				mine.Data = fmt.Appendf(nil, `{"input":{},"work_dir":"","header":{"session_id":%q,"parent":"t1","parent_seq":%d}}`, id, upto)
			}
			if d, err := echo.Read[echo.ChildEnd](&mine); err == nil && mine.NodeType == echo.NodeChildEnd && d.Session == "t2" {
				d.Session = ended
				mine.Set(d)
			}
			fork = append(fork, &mine)
		}
		return fork
	}
	f1, f2 := fork("f1", 4, "t2"), fork("f2", 3, "t6")
	require.NoError(t, clickhousetest.Insert(t.Context(), db, slices.Concat(entries, f1, f2)))
	sums := record.Of(f1).Sums().Children
	require.Equal(t, []int{2, 1}, []int{sums.Begun, sums.Ended})
	sums = record.Of(f2).Sums().Children
	require.Equal(t, []int{3, 2}, []int{sums.Begun, sums.Ended})
	require.Equal(t, "children | children_ended | children_cost_usd\n2 | 1 | 0.125\n3 | 2 | 0.875\n",
		result(t, db, "SELECT children, children_ended, children_cost_usd FROM sessions WHERE session_id IN ('f1', 'f2') ORDER BY session_id"))
	require.Equal(t, "child_session | copied\nt2 | true\nt4 | false\nt5 | false\n",
		result(t, db, "SELECT child_session, copied FROM children WHERE session_id = 'f1' ORDER BY child_session"))
}

// TestSelectionsOfElements: the settings of a list are those of all its elements, and stay when one of them ends.
func TestSelectionsOfElements(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	r := &relative{t: t, session: "list"}
	r.start(map[string]any{})
	r.say("each/node1/begin", echo.PhaseStart{Visit: 1, Context: &echo.PhaseContext{
		Dialect: "native", Policy: json.RawMessage(`{"enabled":true,"advance":"step"}`), Price: &echo.Price{Input: 10, Cached: 1},
	}}).Model = "gpt-5"
	turn := func(item, turn int) {
		at := echo.MustKey(fmt.Sprintf("each/node1/item%d/attempt1/turn%d", item, turn))
		m := echo.NewText(echo.RoleUser, echo.KindTask, at.String())
		r.put(&echo.Entry{NodeType: echo.NodeMessage, Key: at.Step(echo.StepPrompt), Message: m, ContentHash: m.Hash()})
		r.put(&echo.Entry{NodeType: echo.NodeSelection, Key: at.Step(echo.StepContext), Model: "gpt-5", Selection: &echo.Selection{
			Delta: turn > 1, Spans: []echo.Span{{From: turn - 1, Count: 1, Form: "full", Reason: "recent", Hashes: []echo.Hash{m.Hash()}, Tokens: []int64{7}}},
		}})
	}
	turn(1, 1)
	turn(2, 1)
	r.say("each/node1/item1/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered})
	turn(2, 2)
	r.say("each/node1/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopItems})
	require.NoError(t, clickhousetest.Insert(t.Context(), db, r.entries))
	require.Equal(t, strings.Join([]string{
		"key | branch | node | item | model | strategy | messages",
		"each/node1/item1/attempt1/turn1/model | each/node1/item1 | 1 | 1 | gpt-5 | step | 1",
		"each/node1/item2/attempt1/turn1/model | each/node1/item2 | 1 | 2 | gpt-5 | step | 1",
		"each/node1/item2/attempt1/turn2/model | each/node1/item2 | 1 | 2 | gpt-5 | step | 2", "",
	}, "\n"), result(t, db, "SELECT key, branch, node, item, model, strategy, length(hash) AS messages FROM context_selections ORDER BY seq"))
}
