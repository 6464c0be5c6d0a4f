package simulate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// words are what random conversations speak of.
var words = []string{"src/main.go", "order_1234", "the", "test", "fails", "at", "line", "42.7", "because", "reservation", "ERR_TIMEOUT", "v2.0.1"}

func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(" \n"[r.IntN(2)])
	}
	return b.String()
}

// recordedLine is a random conversation as a line of a file: users that speak in between, several
// calls at once, results and arguments short and long, an assistant that speaks first or twice,
// calls without a result.
func recordedLine(r *rand.Rand) string {
	type object = map[string]any
	list := []object{}
	if r.IntN(2) == 0 {
		list = append(list, object{"role": "system", "content": prose(r, 20)})
	}
	if r.IntN(4) == 0 {
		list = append(list, object{"role": "assistant", "content": "How can I help?"})
	}
	list = append(list, object{"role": "user", "content": prose(r, 30)})
	for range 2 + r.IntN(14) {
		if r.IntN(5) == 0 {
			list = append(list, object{"role": "assistant", "content": prose(r, r.IntN(900))}, object{"role": "user", "content": prose(r, 5)})
			continue
		}
		calls, results := []object{}, []object{}
		for range 1 + r.IntN(3) {
			id := fmt.Sprintf("c%d", r.IntN(12)) // some are used again
			args, _ := json.Marshal(object{"path": words[r.IntN(len(words))], "text": prose(r, r.IntN(150))})
			calls = append(calls, object{"id": id, "type": "function", "function": object{"name": "look", "arguments": string(args)}})
			if r.IntN(12) > 0 {
				results = append(results, object{"role": "tool", "tool_call_id": id, "content": prose(r, r.IntN(400))})
			}
		}
		list = append(list, object{"role": "assistant", "content": prose(r, r.IntN(20)), "tool_calls": calls})
		list = append(list, results...)
		if r.IntN(15) == 0 {
			list = append(list, object{"role": "assistant", "content": "And again."})
		}
	}
	line, _ := json.Marshal(list)
	return string(line)
}

func randomConversations(t *testing.T, n int, seed uint64) []*Conversation {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 3))
	var lines []string
	for range n {
		lines = append(lines, recordedLine(r))
	}
	all, err := Read("random", strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	return all
}

// tight settings make short conversations age.
func tight(advance cascade.Advance) cascade.Intra {
	in := cascade.DefaultIntra()
	in.Window, in.MaskAfter, in.ReasoningLimit, in.Advance, in.StepTurns = 2, 1, 300, advance, 3
	return in
}

// What the search of schedules says that a schedule costs is what its replay through the builder
// costs: for the schedules of full history, of every turn and of steps, and for the one that it
// finds itself. And nothing that the builder chooses by itself is cheaper than what the search
// found.
func TestSchedulesCostWhatTheirReplaysCost(t *testing.T) {
	t.Parallel()
	price := Prices{Name: "0.1", Input: 1, Cached: 0.1}
	better := 0
	for i, c := range randomConversations(t, 60, 5) {
		if regrows(c) {
			continue // what is sent for a message then depends on more than the frontier
		}
		r := newReplayer(c, false)
		class, _ := Policy{Intra: tight(cascade.AdvanceCost)}.class()
		scheduled := Policy{Intra: class}.settings(c, price, true)
		co := lay(c, scheduled)
		full := Run{Calls: must(r.replay(t.Context(), Policy{}.settings(c, price, false), price, nil))(t)}
		schedule, least := search(t, co.stages, price)
		found := Run{Calls: must(r.replay(t.Context(), scheduled, price, co.asOf(schedule)))(t)}
		require.InDelta(t, least, found.total().money, 1e-6, "conversation %d", i)
		require.InDelta(t, full.total().money, cost(co.stages, make([]int, len(co.stages)), price), 1e-6, "conversation %d", i)
		for _, advance := range []cascade.Advance{cascade.AdvanceEveryTurn, cascade.AdvanceStep, cascade.AdvanceCost} {
			calls := must(r.replay(t.Context(), Policy{Intra: tight(advance)}.settings(c, price, false), price, nil))(t)
			run := Run{Calls: calls}
			chosen := make([]int, len(calls))
			for k := range calls {
				chosen[k] = calls[k].AsOf // all turns are frontiers in a conversation this short
			}
			require.InDelta(t, run.total().money, cost(co.stages, chosen, price), 1e-6, "conversation %d, %s", i, advance)
			require.GreaterOrEqual(t, run.total().money, least-1e-6, "conversation %d, %s", i, advance)
			if run.total().money > least+1 {
				better++
			}
		}
	}
	require.Greater(t, better, 50, "hindsight is no better than anything: the test does not look at what it should")
}

// The same with attempts that did not pass: what is sent for their messages changes with the next
// attempt.
func TestSchedulesOfAttemptsCostWhatTheirReplaysCost(t *testing.T) {
	t.Parallel()
	price := Prices{Name: "0.1", Input: 1, Cached: 0.1}
	r := rand.New(rand.NewPCG(8, 8))
	for i := range 20 {
		c := attempts(r)
		replayer := newReplayer(c, false)
		class, _ := Policy{Intra: tight(cascade.AdvanceCost)}.class()
		scheduled := Policy{Intra: class}.settings(c, price, true)
		co := lay(c, scheduled)
		schedule, least := search(t, co.stages, price)
		found := Run{Calls: must(replayer.replay(t.Context(), scheduled, price, co.asOf(schedule)))(t)}
		require.InDelta(t, least, found.total().money, 1e-6, "conversation %d", i)
		for _, advance := range []cascade.Advance{cascade.AdvanceEveryTurn, cascade.AdvanceStep, cascade.AdvanceCost} {
			run := Run{Calls: must(replayer.replay(t.Context(), Policy{Intra: tight(advance)}.settings(c, price, false), price, nil))(t)}
			require.GreaterOrEqual(t, run.total().money, least-1e-6, "conversation %d, %s", i, advance)
			for _, call := range run.Calls {
				require.Empty(t, call.Invalid)
			}
		}
	}
}

// attempts is a conversation of attempts that use tools.
func attempts(r *rand.Rand) *Conversation {
	c := &Conversation{File: "attempts", Number: 1}
	add := func(attempt, turn int, m *echo.Message) {
		c.Items = append(c.Items, echo.Item{Message: m, Attempt: attempt, Turn: turn})
	}
	add(0, 0, echo.NewText(echo.RoleUser, echo.KindTask, prose(r, 30)))
	for attempt := 1; attempt <= 5; attempt++ {
		if attempt > 1 {
			add(attempt, 0, echo.NewText(echo.RoleUser, echo.KindRetry, prose(r, 12)))
		}
		turn := 1
		for ; turn <= 1+r.IntN(4); turn++ {
			call := echo.ToolCall{ID: fmt.Sprintf("c%d_%d", attempt, turn), Name: "look", Arguments: `{"path":"src/main.go"}`}
			add(attempt, turn, echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call}}))
			add(attempt, turn, echo.NewToolResult(call, echo.Text(prose(r, r.IntN(300))), false))
		}
		add(attempt, turn, echo.NewText(echo.RoleAssistant, echo.KindAnswer, prose(r, r.IntN(300)+1)))
	}
	return c
}

// regrows reports whether a request of a conversation ends with the assistant's own words, so that
// something is added behind them that a later request may not have.
func regrows(c *Conversation) bool {
	for _, p := range c.points() {
		if c.Items[p.at-1].Message.Role() == echo.RoleAssistant {
			return true
		}
	}
	return false
}

func must(calls []Call, err error) func(*testing.T) []Call {
	return func(t *testing.T) []Call {
		t.Helper()
		require.NoError(t, err)
		return calls
	}
}

// What is measured here of the messages is what the builder reports of its views, and no request is
// invalid.
func TestReplayAgreesWithTheBuildersReport(t *testing.T) {
	t.Parallel()
	price := Prices{Name: "0.1", Input: 1, Cached: 0.1}
	saved := int64(0)
	for i, c := range randomConversations(t, 40, 9) {
		for _, advance := range []cascade.Advance{cascade.AdvanceEveryTurn, cascade.AdvanceStep, cascade.AdvanceCost} {
			set := Policy{Intra: tight(advance)}.settings(c, price, false)
			calls := must(newReplayer(c, true).replay(t.Context(), set, price, nil))(t)
			b := autocontext.NewBuilder(set)
			var carry echo.Carry
			for k, p := range c.points() {
				step, err := b.Build(c.Items[:p.at], carry)
				require.NoError(t, err)
				require.Nil(t, step.Ask)
				carry = step.Carry
				report := step.View.Report()
				require.Equal(t, report.ContextSize, calls[k].Tokens, "conversation %d, %s, call %d", i, advance, k+1)
				if regrows(c) { // what is added behind a message is counted with it
					require.LessOrEqual(t, report.SharedSize, calls[k].Shared, "conversation %d, %s, call %d", i, advance, k+1)
				} else {
					require.Equal(t, report.SharedSize, calls[k].Shared, "conversation %d, %s, call %d", i, advance, k+1)
				}
				require.Len(t, calls[k].Request, report.MessageCount)
				require.Empty(t, calls[k].Invalid, "conversation %d, %s, call %d", i, advance, k+1)
				saved += report.TokensSaved
			}
		}
	}
	require.Positive(t, saved)
}

// A simulation gives the same report however its conversations are spread over processors, and in
// the order of the files.
func TestSimulation(t *testing.T) {
	t.Parallel()
	all := randomConversations(t, 12, 1)
	for i, c := range all {
		if i >= 6 {
			c.File = "second"
		}
	}
	sim := &Simulation{
		Policies: WithHindsight(ComparisonSet()),
		Prices:   []Prices{{Name: "1", Input: 1, Cached: 1}, {Name: "2:0.2", Input: 2, Cached: 0.2, USD: true}},
	}
	run := func() *Report {
		sum := NewCollector(sim)
		next := 0
		require.NoError(t, sim.Run(t.Context(), all, func(o *Outcome) error {
			require.Same(t, all[next], o.Conversation)
			next++
			sum.Add(o)
			return nil
		}))
		require.Equal(t, len(all), next)
		return sum.Report()
	}
	r := run()
	require.Equal(t, r, run())
	require.Len(t, r.Groups, 4)
	require.Len(t, r.Total, 2)
	require.Equal(t, []string{"random", "random", "second", "second"}, []string{r.Groups[0].File, r.Groups[1].File, r.Groups[2].File, r.Groups[3].File})
	for _, g := range append(r.Groups, r.Total...) {
		full, hindsight := g.Policies[0], g.Policies[4]
		require.Equal(t, "hindsight", hindsight.Policy)
		require.InDelta(t, 1, *hindsight.OfBest, 1e-12)
		require.InDelta(t, 1, full.OfFull, 1e-12)
		require.Zero(t, full.Saved)
		require.Equal(t, g.TokensFull, full.TokensSent)
		require.Equal(t, full.References, full.Kept, "full history keeps everything")
		require.Positive(t, full.References)
		for _, s := range g.Policies {
			require.GreaterOrEqual(t, *s.OfBest, 1-1e-9, s.Policy)
			require.Zero(t, s.Invalid, s.FirstInvalid)
			require.GreaterOrEqual(t, s.Worst, s.OfFull-1e-9, "the worst is no better than the sum")
		}
	}
	first, second, total := r.Groups[0], r.Groups[2], r.Total[0]
	require.Equal(t, first.Calls+second.Calls, total.Calls)
	for i := range total.Policies {
		require.InDelta(t, first.Policies[i].Money+second.Policies[i].Money, total.Policies[i].Money, 1e-6)
	}
	data, err := json.Marshal(r)
	require.NoError(t, err, "no figure is infinite or not a number")
	require.Contains(t, string(data), `"of_best":1,`)
}

func TestSimulationEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	all := randomConversations(t, 8, 2)
	p, _ := NamedPolicy(PolicyFull)
	sim := &Simulation{Policies: []Policy{p}, Prices: []Prices{{Input: 1}}}
	full := fmt.Errorf("the disk is full")
	seen := 0
	err := sim.Run(t.Context(), all, func(*Outcome) error {
		if seen++; seen == 3 {
			return full
		}
		return nil
	})
	require.ErrorIs(t, err, full)
	require.Equal(t, 3, seen)
}

// A policy with clear_tool_uses does more than a schedule can say: no hindsight is claimed for it.
func TestReportWithoutHindsight(t *testing.T) {
	t.Parallel()
	p, _, err := ParsePolicy("clearing", "--policy", []byte(`{"clear_tool_uses": {"trigger_tokens": 1000}}`))
	require.NoError(t, err)
	sim := &Simulation{Policies: WithHindsight([]Policy{p}), Prices: []Prices{{Input: 1, Cached: 0.1}}}
	sum := NewCollector(sim)
	require.NoError(t, sim.Run(t.Context(), randomConversations(t, 3, 4), func(o *Outcome) error { sum.Add(o); return nil }))
	s := sum.Report().Groups[0].Policies
	require.Len(t, s, 1)
	require.Nil(t, s[0].OfBest)
	require.False(t, math.IsNaN(s[0].OfFull))
}
