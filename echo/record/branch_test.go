package record

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// treeRecord records a session of branches and children.
type treeRecord struct {
	t       *testing.T
	entries []*echo.Entry
}

func (r *treeRecord) put(e *echo.Entry, more ...func(*echo.Entry)) {
	r.t.Helper()
	e.SessionID, e.Seq, e.At = "s", uint64(len(r.entries)+1), time.Date(2026, 1, 2, 3, 4, len(r.entries), 0, time.UTC)
	e.SetKeyFields()
	for _, m := range more {
		m(e)
	}
	r.entries = append(r.entries, e)
}

func (r *treeRecord) say(key string, p echo.Payload, more ...func(*echo.Entry)) {
	r.t.Helper()
	r.put(echo.NewEntry(echo.MustKey(key), p), more...)
}

func (r *treeRecord) mark(n echo.NodeType, keys ...string) {
	r.t.Helper()
	for _, k := range keys {
		r.put(&echo.Entry{NodeType: n, Key: echo.MustKey(k)})
	}
}

// call records an answered call of a cost.
func (r *treeRecord) call(key string, usd float64) {
	r.t.Helper()
	e := echo.NewEntry(echo.MustKey(key), echo.ModelCall{Model: "m"})
	e.Message, e.CostUSD, e.Usage = text(echo.RoleAssistant, echo.KindAnswer, key), &usd, &echo.Usage{In: 10, Out: 1}
	r.put(e)
}

func (r *treeRecord) end(key string, output any) {
	r.t.Helper()
	r.say(key, echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Attempts: 1, Turns: 1, Output: output})
}

func (r *treeRecord) fail(key string, reason echo.StopReason) {
	r.t.Helper()
	r.say(key, echo.PhaseEnd{Status: echo.StatusFailed, Reason: reason, Attempts: 2}, failed(string(reason)))
}

// start records the start of a run of a cascade with these phases.
func (r *treeRecord) start(phases string) {
	r.t.Helper()
	header := fmt.Sprintf(`{"windlass_journal":3,"rules":3,"session_id":"s","cascade":{"phases":%s}}`, phases)
	r.say("run/start", echo.RunStart{Input: map[string]any{}, Header: json.RawMessage(header)})
}

type lineOf struct {
	key              string
	status           echo.Status
	reason           echo.StopReason
	attempts, turns  int
	usd, spent       float64
	output, err      string
	failed           int
	started, refused bool
}

func linesOf(branches []Branch) []lineOf {
	var out []lineOf
	for _, b := range branches {
		_, refused := b.Refusal()
		out = append(out, lineOf{
			b.Key.String(), b.Status, b.Reason, b.Attempts, b.Turns, b.Totals.CostUSD, b.Spent.Totals.CostUSD, echo.AsText(b.Output), b.Error,
			b.FailedItem, !b.StartedAt.IsZero(), refused,
		})
	}
	return out
}

// list records a list of five elements: two are done, one in its second attempt, one is not begun,
// one did not begin.
func list(t *testing.T) *treeRecord {
	t.Helper()
	r := &treeRecord{t: t}
	r.start(`[{"name":"each"}]`)
	r.say("each/start", echo.PhaseStart{Visit: 1}, func(e *echo.Entry) { e.Model = "m" })
	r.mark(echo.NodeBranchStart, "each/item1/start", "each/item2/start", "each/item3/start", "each/item4/start", "each/item5/start")
	r.call("each/item2/attempt1/turn1/model", 0.5)
	r.call("each/item1/attempt1/turn1/model", 0.25)
	r.say("each/item1/state/k", echo.State{Key: "k", Value: "of 1"})
	r.say("each/item2/state/k", echo.State{Key: "k", Value: "of 2"})
	r.say("each/item1/state/k", echo.State{Key: "k", Value: "of 1, later"})
	r.end("each/item1/finish", "one")
	r.say("each/item3/attempt1/verdict/fair", echo.Verdict{Validator: "fair", Reason: "no"})
	r.say("each/item3/attempt1/ward1/verdict/kind", echo.Verdict{Validator: "kind", Ward: "post", Mode: "advisory"})
	r.call("each/item3/attempt2/turn1/model", 1)
	r.call("each/item3/attempt2/turn2/model", 1)
	r.fail("each/item2/finish", echo.StopExhausted)
	r.say("each/item5/stopped", echo.Stopped{Item: 2})
	return r
}

func TestBranchesOfAList(t *testing.T) {
	t.Parallel()
	r := list(t)
	f := Of(r.entries)
	each := echo.PhaseKey("each", 1)
	want := []lineOf{
		{key: "each/item1", status: echo.StatusCompleted, reason: "answered", attempts: 1, turns: 1, usd: 0.25, spent: 0.25, output: "one", started: true},
		{key: "each/item2", status: echo.StatusFailed, reason: "attempts_exhausted", attempts: 2, turns: 1, usd: 0.5, spent: 0.5, err: "attempts_exhausted at each/item2/finish", started: true},
		{key: "each/item3", status: echo.StatusRunning, attempts: 2, turns: 2, usd: 2, spent: 2, started: true, refused: true},
		{key: "each/item4", status: echo.StatusPending},
		{key: "each/item5", status: echo.StatusPending, failed: 2},
	}
	require.Equal(t, want, linesOf(f.Branches(each)))
	require.Equal(t, echo.Step{Kind: echo.StepItem, Number: 3}, f.Branches(each)[2].Step)
	require.Equal(t, "m", f.Branches(each)[2].Model)

	visits := f.Visits()
	require.Len(t, visits, 1)
	require.Equal(t, echo.StatusRunning, visits[0].Status, "an element that ends does not end its visit")
	require.Equal(t, Position{Turns: 4}, visits[0].Position)
	require.InEpsilon(t, 2.75, visits[0].Totals.CostUSD, 1e-9)
	require.Equal(t, visits[0].Totals, visits[0].Spent.Totals)
	require.Empty(t, visits[0].Verdicts)
	require.Equal(t, []string{"k"}, visits[0].State)
	require.Equal(t, "of 2", f.State("k"), "the later element counts, not the later entry")
	require.Len(t, f.History(echo.MustKey("each/item3")), 2)
	require.Empty(t, f.Nodes())

	r.say("each/end", echo.PhaseEnd{Status: echo.StatusInterrupted, Reason: echo.StopInterrupted}, failed("interrupted"))
	f = Of(r.entries)
	want[2].status, want[2].reason = echo.StatusInterrupted, echo.StopInterrupted
	require.Equal(t, want, linesOf(f.Branches(each)))
	require.Empty(t, f.Branches(echo.PhaseKey("other", 1)))

	// A visit that begins again has no parts of the one before.
	r.say("each/start", echo.PhaseStart{Visit: 1})
	require.Empty(t, Of(r.entries).Branches(each))
}

// What branches set is that of the run when they have ended, in their order; what is set later
// counts.
func TestStateOfBranches(t *testing.T) {
	t.Parallel()
	r := &treeRecord{t: t}
	mark := func(key string) {
		r.say(key, echo.CalloutMark{Name: key}, func(e *echo.Entry) { e.ContentHash = "h" })
	}
	names := func() (names []string) {
		for _, c := range Of(r.entries).Callouts() {
			names = append(names, c.Name)
		}
		return names
	}
	state := func(name string) any { return Of(r.entries).State(name) }
	r.say("each/start", echo.PhaseStart{Visit: 1})
	r.say("each/state/a", echo.State{Key: "a", Value: "0"})
	mark("each/callout/x")
	r.mark(echo.NodeBranchStart, "each/item1/start", "each/item2/start")
	mark("each/item2/callout/x")
	r.say("each/item2/state/a", echo.State{Key: "a", Value: "2"})
	r.mark(echo.NodeBranchStart, "each/item1/item1/start", "each/item1/item2/start")
	r.say("each/item1/item2/state/b", echo.State{Key: "b", Value: "12"})
	r.say("each/item1/item1/state/b", echo.State{Key: "b", Value: "11"})
	mark("each/item1/item2/callout/x")
	mark("each/item1/callout/x")
	r.say("each/item1/state/a", echo.State{Key: "a", Value: "1"})
	require.Equal(t, []any{"2", "12", nil}, []any{state("a"), state("b"), state("c")})
	want := []string{"each/callout/x", "each/item1/callout/x", "each/item1/item2/callout/x", "each/item2/callout/x"}
	require.Equal(t, want, names())
	require.Equal(t, []string{"each/item1", "each/item2", "each/item1/item1", "each/item1/item2"}, keysOf(Of(r.entries).Branches(echo.PhaseKey("each", 1))))

	r.mark(echo.NodeBranchEnd, "each/item1/item1/end", "each/item1/item2/end")
	require.Equal(t, "12", state("b"))
	r.mark(echo.NodeBranchEnd, "each/item1/end", "each/item2/end")
	require.Equal(t, want, names())
	require.Equal(t, "2", state("a"))
	r.say("each/state/a", echo.State{Key: "a", Value: "3"})
	require.Equal(t, "3", state("a"))
}

func keysOf(branches []Branch) (keys []string) {
	for _, b := range branches {
		keys = append(keys, b.Key.String())
	}
	return keys
}

// graph records a graph: plan, then fetch and read beside each other, then join; fetch fails and its
// handler runs in its place.
func graph(t *testing.T) *treeRecord {
	t.Helper()
	r := &treeRecord{t: t}
	r.start(`[{"name":"join","after":["fetch","read"]},{"name":"plan"},{"name":"fetch","after":["plan"]},{"name":"read","after":["plan"]},{"name":"log","after":["plan"]},{"name":"mend"}]`)
	r.mark(echo.NodeBranchStart, "join/node1/start", "plan/node2/start", "fetch/node3/start", "read/node4/start", "log/node5/start")
	r.say("plan/node2/begin", echo.PhaseStart{Visit: 1}, func(e *echo.Entry) { e.Model = "m" })
	r.call("plan/node2/attempt1/turn1/model", 1)
	r.say("plan/node2/state/k", echo.State{Key: "k", Value: "plan"})
	r.end("plan/node2/finish", "the plan")
	r.say("read/node4/begin", echo.PhaseStart{Visit: 1})
	r.say("fetch/node3/begin", echo.PhaseStart{Visit: 1})
	r.say("read/node4/state/k", echo.State{Key: "k", Value: "read"})
	r.fail("fetch/node3/finish", echo.StopError)
	r.say("fetch/node3/route", echo.Route{From: "fetch", To: "mend", Reason: "on_error"})
	r.say("mend/node3/begin", echo.PhaseStart{Visit: 1})
	r.say("mend/node3/state/k", echo.State{Key: "k", Value: "mend"})
	r.end("mend/node3/finish", "mended")
	return r
}

func TestNodesOfAGraph(t *testing.T) {
	t.Parallel()
	r := graph(t)
	f := Of(r.entries)
	visits := map[string]echo.Status{}
	for _, v := range f.Visits() {
		visits[v.Key.String()] = v.Status
		require.Equal(t, 1, v.Number)
	}
	require.Equal(t, map[string]echo.Status{
		"plan/node2": echo.StatusCompleted, "read/node4": echo.StatusRunning, "fetch/node3": echo.StatusFailed, "mend/node3": echo.StatusCompleted,
	}, visits)
	want := []lineOf{
		{key: "join/node1", status: echo.StatusPending},
		{key: "plan/node2", status: echo.StatusCompleted, reason: "answered", attempts: 1, turns: 1, usd: 1, spent: 1, output: "the plan", started: true},
		{key: "fetch/node3", status: echo.StatusFailed, reason: "error", attempts: 2, err: "error at fetch/node3/finish", started: true},
		{key: "read/node4", status: echo.StatusRunning, started: true},
		{key: "log/node5", status: echo.StatusPending},
		{key: "mend/node3", status: echo.StatusCompleted, reason: "answered", attempts: 1, output: "mended", started: true},
	}
	require.Equal(t, want, linesOf(f.Nodes()))
	require.Len(t, f.Routes(), 1)
	require.Equal(t, 4, f.Sums().Phases)
	require.Nil(t, f.Output(), "others come after all that have completed")
	require.Equal(t, "read", f.State("k"), "the later one in the file, of two that are not after each other")

	stopped := graph(t)
	stopped.say("run/end", echo.RunEnd{Status: echo.StatusInterrupted, Reason: echo.StopInterrupted}, failed("interrupted"))
	of := Of(stopped.entries)
	require.Equal(t, echo.StatusInterrupted, of.Nodes()[3].Status)
	require.Equal(t, echo.StatusInterrupted, of.Visits()[1].Status)
	require.Equal(t, echo.StatusFailed, of.Visits()[2].Status)

	r.end("read/node4/finish", "was read")
	r.say("log/node5/begin", echo.PhaseStart{Visit: 1})
	r.end("log/node5/finish", "logged")
	require.Equal(t, "logged", Of(r.entries).Output())
	r.say("join/node1/begin", echo.PhaseStart{Visit: 1})
	r.end("join/node1/finish", "joined")
	require.Equal(t, "logged", Of(r.entries).Output(), "the last in the file that no other comes after")
	r.mark(echo.NodeBranchEnd, "join/node1/end", "plan/node2/end", "fetch/node3/end", "read/node4/end", "log/node5/end")
	f = Of(r.entries)
	require.Equal(t, "read", f.State("k"), "the handler set it in the place of the third phase")
	require.Empty(t, f.now.trunk.open)
}

// Requests of branches stand for themselves, and the end of one forgets nothing of the others.
func TestRequestsOfBranches(t *testing.T) {
	t.Parallel()
	var rec record
	messages := map[string][]*echo.Message{}
	add := func(key string) {
		m := text(echo.RoleUser, echo.KindTask, key)
		of := Conversation(echo.MustKey(key)).String()
		messages[of] = append(messages[of], m)
		rec.add(echo.NodeMessage, key, m)
	}
	sel := func(key string) { rec.sel(key, messages[Conversation(echo.MustKey(key)).String()]...) }
	rec.add(echo.NodePhaseStart, "fetch/node2/begin", nil)
	rec.add(echo.NodePhaseStart, "read/node3/begin", nil)
	add("fetch/node2/item1/task")
	add("fetch/node2/item2/task")
	add("read/node3/task")
	sel("fetch/node2/item1/attempt1/turn1/context")
	sel("read/node3/attempt1/turn1/context")
	rec.add(echo.NodePhaseEnd, "fetch/node2/item1/finish", nil)
	add("fetch/node2/item2/attempt1/retry")
	sel("fetch/node2/item2/attempt1/turn1/context")
	rec.add(echo.NodePhaseStart, "mend/node2/begin", nil)
	rec.add(echo.NodePhaseEnd, "fetch/node2/finish", nil)
	sel("read/node3/attempt1/turn2/context")
	keys := []string{}
	r := NewRequests()
	for _, e := range rec.entries {
		req, err := r.Read(e)
		require.NoError(t, err)
		if req != nil {
			keys = append(keys, req.Key().String())
		}
	}
	require.Equal(t, []string{
		"fetch/node2/item1/attempt1/turn1/model", "read/node3/attempt1/turn1/model", "fetch/node2/item2/attempt1/turn1/model", "read/node3/attempt1/turn2/model",
	}, keys)
	require.Len(t, r.histories, 1)
	require.Len(t, r.selections.views, 1)
	require.Len(t, r.dialects, 2)
}

// Children are those that count; their money is summed up once, whatever is set aside.
func TestChildren(t *testing.T) {
	t.Parallel()
	r := &treeRecord{t: t}
	begin := func(key, session string, how echo.ChildKind) {
		r.say(key, echo.ChildStart{Session: session, Name: session, How: how, Cascade: "c", Hash: "h", Input: map[string]any{}})
	}
	end := func(key, session string, usd float64, unknown int, more ...func(*echo.Entry)) {
		d := echo.ChildEnd{Session: session, Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Calls: 2, Unknown: unknown}
		e := echo.NewEntry(echo.MustKey(key), d)
		if unknown == 0 {
			e.CostUSD = &usd
		} else {
			d.Known = usd
			e.Set(d)
		}
		e.Usage, e.Pretend, e.Scripted = &echo.Usage{In: 7, Out: 1}, &echo.Pretend{Model: "p", USD: 2}, true
		r.put(e, more...)
	}
	r.start(`[]`)
	r.say("draft/start", echo.PhaseStart{Visit: 1})
	begin("draft/child/a", "sa", echo.ChildSub)
	end("draft/child/a", "sa", 0.5, 0)
	begin("draft/async/b", "sb", echo.ChildAsync)
	begin("draft/attempt1/turn1/tool1", "sc", echo.ChildTool)
	end("draft/attempt1/turn1/tool1", "sc", 0.25, 1, failed("error"))
	failedAt := uint64(len(r.entries))
	end("run/async/sb", "sb", 1, 0)
	end("run/async/none", "sx", 1, 0)

	f := Of(r.entries)
	children := f.Children()
	require.Len(t, children, 3)
	require.Equal(t, []string{"sa", "sb", "sc"}, []string{children[0].Session, children[1].Session, children[2].Session})
	require.Equal(t, "draft/async/b", children[1].Key.String())
	require.Equal(t, echo.StatusCompleted, children[1].End.Status)
	require.Equal(t, Totals{Calls: 2, Scripted: 2, Usage: echo.Usage{In: 7, Out: 1}, CostUSD: 1, PretendUSD: 2, PriceAs: "p"}, children[1].Totals)
	require.Equal(t, "error at draft/attempt1/turn1/tool1", children[2].Error)
	require.InEpsilon(t, 0.25, children[2].Totals.CostUSD, 1e-9)
	require.Zero(t, f.Totals())
	require.Zero(t, f.Spent().Totals)
	require.Equal(t, 4, f.Sums().Children.Begun, "also of one whose start is not there, as in a fork that has copied it")
	require.Equal(t, 4, f.Sums().Children.Ended)
	require.InEpsilon(t, 2.75, f.Sums().Children.Totals.CostUSD, 1e-9)

	// The failed child is resumed, and has taken more when it ends.
	r.say("run/resume", echo.Resume{SetAside: []uint64{failedAt}})
	f = Of(r.entries)
	require.Nil(t, f.Children()[2].End)
	end("draft/attempt1/turn1/tool1", "sc", 0.75, 0)
	f = Of(r.entries)
	require.Empty(t, f.Children()[2].Error)
	require.Equal(t, Below{Begun: 4, Ended: 4, Totals: f.Sums().Children.Totals}, f.Sums().Children)
	require.InEpsilon(t, 3.25, f.Sums().Children.Totals.CostUSD, 1e-9)
	require.Zero(t, f.Sums().Children.Totals.UnknownCosts)
	require.Equal(t, ChildTotals(r.entries[len(r.entries)-1]), f.Children()[2].Totals)
	require.Zero(t, ChildTotals(r.entries[0]))
}
