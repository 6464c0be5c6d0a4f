package inspect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
)

// tries is a session with a phase of three candidates, of which the first fails, with two pairs of ballots and a step of
// refinement; and a whole cascade that was tried twice and has no choice yet.
func tries(t *testing.T) *inspect.Record {
	t.Helper()
	var entries []*echo.Entry
	add := func(key string, p echo.Payload) *echo.Entry {
		e := echo.NewEntry(echo.MustKey(key), p)
		e.Seq, e.SessionID = uint64(len(entries)+1), "s1"
		e.SetKeyFields()
		entries = append(entries, e)
		return e
	}
	call := func(key string, usd float64) {
		e := add(key, echo.ModelCall{Model: "m"})
		e.Model, e.Usage, e.CostUSD = "m", &echo.Usage{In: 10, Out: 2}, &usd
	}
	add("draft/start", echo.PhaseStart{Visit: 1})
	add("draft/sounding1/candidate", echo.Candidate{Index: 0, Factor: 3, Model: "small"})
	add("draft/sounding2/candidate", echo.Candidate{Index: 1, Factor: 3, Model: "large", Mutation: &echo.Mutation{Mode: "augment", Entry: "Be brief."}})
	add("draft/sounding3/candidate", echo.Candidate{Index: 2, Factor: 3, Model: "small"})
	call("draft/sounding2/attempt1/turn1/model", 0.25)
	call("draft/sounding2/attempt1/turn1/ward1/validate/x/model", 0.125)
	add("draft/sounding2/attempt1/turn1/verdict/short", echo.Verdict{Validator: "short", Valid: true})
	add("draft/sounding1/finish", echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError}).Error = &echo.Failure{Message: "it broke"}
	add("draft/sounding2/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Turns: 1, Output: "two"})
	add("draft/sounding3/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered, Turns: 2, Output: map[string]any{"n": 3}})
	usd := 0.5
	ballot := func(n string, b echo.Ballot) {
		b.Judge, b.CostUSD = "judge", &usd
		add("draft/ballot"+n, b)
	}
	ballot("1", echo.Ballot{Pair: 1, Order: []int{2, 3}, Labels: []string{"K", "P"}, Said: "K", Winner: new(2), Why: "short"})
	ballot("2", echo.Ballot{Pair: 1, Reverse: true, Order: []int{3, 2}, Labels: []string{"X", "Z"}, Said: "Z", Winner: new(2), Vote: new(2), EValues: []float64{0.5, 1.5}})
	ballot("3", echo.Ballot{Pair: 2, Order: []int{3, 2}, Labels: []string{"A", "B"}, Said: "A", Winner: new(3)})
	ballot("4", echo.Ballot{Pair: 2, Reverse: true, Order: []int{2, 3}, Labels: []string{"C", "D"}, Said: "tie", Why: "equal"})
	add("draft/choice", echo.Choice{
		Winner: 2, How: echo.ChoiceCheapest, Tie: true, Confidence: 0.9, EValue: 1.5, Pairs: 2, Flipped: 1, Prefix: &echo.Prefix{Shared: 2000, Waited: 2, Cached: 4000, SavedUSD: new(0.01)},
		Standings: []echo.Standing{
			{Number: 1, State: echo.CandidateFailed, Why: "it broke"}, {Number: 2, State: echo.CandidateWon, Votes: 1, EValue: 1.5}, {Number: 3, State: echo.CandidateLost, EValue: 0.5},
		},
	})
	add("draft/reforge1/sounding1/candidate", echo.Candidate{Factor: 1, Model: "large"})
	call("draft/reforge1/sounding1/attempt1/turn1/model", 1)
	add("draft/reforge1/score1", echo.Ballot{Step: 1, Judge: "judge", Order: []int{1}, Score: new(7.5), Why: "fine"})
	add("draft/reforge1/choice", echo.Choice{Step: 1, Winner: 0, How: echo.ChoiceVotes, Confidence: 0.9, EValue: 20, Pairs: 1, Standings: []echo.Standing{
		{Number: 0, State: echo.CandidateWon, Votes: 1}, {Number: 1, State: echo.CandidateLost},
	}})
	add("run/sounding1/candidate", echo.Candidate{Factor: 2})
	add("run/sounding1/candidate", echo.ChildStart{Session: "c1", How: echo.ChildSounding})
	add("run/sounding2/candidate", echo.Candidate{Index: 1, Factor: 2})
	add("run/sounding2/candidate", echo.ChildStart{Session: "c2", How: echo.ChildSounding})
	e := add("run/sounding2/candidate", echo.ChildEnd{Session: "c2", Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: "done", Calls: 3, Copied: &echo.CopiedTotals{Calls: 2, Usage: echo.Usage{In: 5}, CostUSD: 0.25}})
	e.Usage, e.CostUSD = &echo.Usage{In: 30, Out: 6}, &usd
	r, err := inspect.New("s1", entries)
	require.NoError(t, err)
	return r
}

func TestSoundings(t *testing.T) {
	t.Parallel()
	r := tries(t)
	all, err := r.Soundings("")
	require.NoError(t, err)
	require.Len(t, all, 2)
	draft, whole := all[0], all[1]
	require.Equal(t, "draft/sounding2", draft.Kept.String(), "a step of refinement brought nothing better")
	require.Len(t, draft.Steps, 2)
	first := draft.Steps[0]
	require.Len(t, first.Candidates, 3)
	one, two, three := first.Candidates[0], first.Candidates[1], first.Candidates[2]
	require.Equal(t, "it broke", one.Error)
	require.Equal(t, echo.CandidateFailed, one.Standing.State)
	require.True(t, two.Kept)
	require.Equal(t, 2, two.Calls)
	require.InDelta(t, 0.375, *two.CostUSD, 1e-12)
	require.Equal(t, "two", two.Output)
	require.Len(t, two.Verdicts, 1)
	require.False(t, three.Kept)
	require.JSONEq(t, `{"n":3}`, three.Output)
	require.Len(t, first.Pairs, 2)
	vote, ok := first.Pairs[0].Vote()
	require.True(t, ok)
	require.Equal(t, 2, vote)
	require.False(t, first.Pairs[0].Flipped())
	require.True(t, first.Pairs[1].Flipped())
	require.Equal(t, []inspect.Judge{{Model: "judge", Ballots: 4, Pairs: 2, Flips: 1, Ties: 1, CostUSD: new(2.0)}}, first.Judges)
	require.InDelta(t, 0.5, first.Judges[0].FlipRate(), 1e-12)
	require.Nil(t, draft.Steps[1].Judges[0].CostUSD, "a cost is not known")
	require.False(t, draft.Steps[1].Candidates[0].Kept)

	require.Empty(t, whole.Phase)
	require.True(t, whole.Kept.IsZero())
	require.Nil(t, whole.Steps[0].Choice)
	require.Equal(t, echo.StatusRunning, whole.Steps[0].Candidates[0].Status)
	c := whole.Steps[0].Candidates[1]
	require.Equal(t, []any{"c2", echo.StatusCompleted, "done", 5, int64(35)}, []any{c.Session, c.Status, c.Output, c.Calls, c.Usage.In})
	require.InDelta(t, 0.5+0.25, *c.CostUSD, 1e-12, "with what the child of a fork has copied")

	only, err := r.Soundings("draft")
	require.NoError(t, err)
	require.Len(t, only, 1)
	_, err = r.Soundings("drfat")
	require.EqualError(t, err, `session s1 has no soundings of "drfat"; it has some of draft, run`)
	require.Equal(t, failure.InvalidRequest, failure.KindOf(err))
	_, err = list(t).Soundings("")
	require.EqualError(t, err, "session s1 has no soundings: no phase of it was tried several times")
}

// A candidate is picked by its number: without a step it is one of the first ones.
func TestPickOfCandidates(t *testing.T) {
	t.Parallel()
	r := &inspect.Record{ID: "s1"}
	for i, key := range []string{"draft/sounding1", "draft/sounding2", "draft/reforge1/sounding2", "draft/reforge2/sounding1", "each/item3/sounding2", "next"} {
		k := echo.MustKey(key + "/attempt1/turn1/model")
		r.Calls = append(r.Calls, inspect.Call{Number: i + 1, Key: k, Visit: k.VisitKey(), Phase: k.Path().Phase, Attempt: 1, Turn: 1})
	}
	for want, p := range map[int]inspect.Pick{
		1: {Sounding: 1}, 2: {Phase: "draft", Sounding: 2}, 3: {Reforge: 1}, 4: {Sounding: 1, Reforge: 2}, 5: {Item: 3, Sounding: 2}, 6: {},
	} {
		c, err := r.Pick(p)
		require.NoError(t, err)
		require.Equal(t, want, c.Number, p)
	}
	_, err := r.Pick(inspect.Pick{Sounding: 3, Reforge: 1})
	require.EqualError(t, err, "session s1 has no model call of candidate 3 in step 1 of refinement; it has 6 calls")
	_, err = r.Pick(inspect.Pick{Reforge: -1})
	require.EqualError(t, err, "attempts, turns, elements, candidates and steps of refinement are counted from 1")
}
