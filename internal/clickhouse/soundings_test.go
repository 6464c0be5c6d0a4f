package clickhouse_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

func at[T any](v T) *T { return &v }

// tries are two sessions with soundings: n1 has a phase with three candidates, a step of refinement that brings a
// better one, and another phase whose third candidate has not ended; n2 has a list whose second element has candidates.
func tries(t *testing.T) []*echo.Entry {
	t.Helper()
	n1, n2 := &relative{t: t, session: "n1"}, &relative{t: t, session: "n2"}
	rewrite := func(text string) *echo.Mutation { return &echo.Mutation{Mode: "rewrite", Entry: "shorter", Text: text} }
	n1.start(map[string]any{})
	n1.say("draft/start", echo.PhaseStart{Visit: 1})
	n1.say("draft/sounding1/candidate", echo.Candidate{Index: 0, Factor: 3, Model: "small"})
	n1.say("draft/sounding2/candidate", echo.Candidate{Index: 1, Factor: 3, Model: "large", Mutation: rewrite("first text"), Species: "5bec1e5"})
	n1.say("draft/sounding3/candidate", echo.Candidate{Index: 2, Factor: 3, Model: "small", Mutation: rewrite("other text"), Species: "5bec1e5"})
	n1.call("draft/sounding1/attempt1/turn1/model", 0.25)
	n1.say("draft/sounding1/attempt1/turn1/verdict/short", echo.Verdict{Validator: "short", Valid: true})
	n1.say("draft/sounding3/attempt1/turn1/verdict/short", echo.Verdict{Validator: "short", Reason: "too long"})
	ballot := func(key string, b echo.Ballot) { n1.say(key, b) }
	ballot("draft/ballot1", echo.Ballot{Pair: 1, Judge: "judge", Order: []int{1, 2}, Labels: []string{"Q", "X"}, Said: "X", Winner: at(2), Why: "clearer", CostUSD: at(0.5)})
	ballot("draft/ballot2", echo.Ballot{
		Pair: 1, Reverse: true, Judge: "judge", Order: []int{2, 1}, Labels: []string{"L", "P"}, Said: "L", Winner: at(2), Vote: at(2), EValues: []float64{1.5, 0.5}, CostUSD: at(0.5),
	})
	ballot("draft/ballot3", echo.Ballot{Pair: 2, Judge: "judge", Order: []int{1, 2}, Labels: []string{"A", "B"}, Said: "A", Winner: at(1), CostUSD: at(0.5)})
	ballot("draft/ballot4", echo.Ballot{Pair: 2, Reverse: true, Judge: "judge", Order: []int{2, 1}, Labels: []string{"C", "D"}, Said: "C", Winner: at(2)})
	ballot("draft/ballot5", echo.Ballot{Pair: 3, Judge: "judge", Order: []int{1, 2}, Labels: []string{"E", "F"}, Said: "tie", CostUSD: at(0.5)})
	ballot("draft/ballot6", echo.Ballot{Pair: 3, Reverse: true, Judge: "judge", Order: []int{2, 1}, Labels: []string{"G", "H"}, Problem: "no verdict", CostUSD: at(0.5)})
	n1.say("draft/choice", echo.Choice{Winner: 2, How: echo.ChoiceVotes, Confidence: 0.9, EValue: 12, Pairs: 3, Flipped: 1, CostUSD: at(2.5), Standings: []echo.Standing{
		{Number: 1, State: echo.CandidateLost, CostUSD: at(0.25), Tokens: 120},
		{Number: 2, State: echo.CandidateWon, Votes: 1, EValue: 12, CostUSD: at(0.75), Tokens: 50},
		{Number: 3, State: echo.CandidateRejected, Why: "too long", Tokens: 7},
	}})
	n1.say("draft/reforge1/sounding1/candidate", echo.Candidate{Index: 0, Factor: 1, Model: "large", Mutation: rewrite("best text"), Species: "5bec1e5"})
	ballot("draft/reforge1/score1", echo.Ballot{Step: 1, Judge: "scorer", Order: []int{1}, Score: at(8.5), CostUSD: at(0.125)})
	n1.say("draft/reforge1/choice", echo.Choice{Step: 1, Winner: 1, How: echo.ChoicePareto, Standings: []echo.Standing{
		{Number: 0, State: echo.CandidateDominated}, {Number: 1, State: echo.CandidateWon, Quality: at(0.85), Value: at(0.5), CostUSD: at(0.25), Tokens: 9},
	}})
	n1.say("draft/end", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered})
	n1.say("polish/sounding3/candidate", echo.Candidate{Index: 2, Factor: 3, Model: "small"})

	n2.start(map[string]any{})
	n2.say("draft/item2/sounding1/candidate", echo.Candidate{Index: 0, Factor: 2, Model: "small"})
	n2.say("draft/item2/sounding2/candidate", echo.Candidate{Index: 1, Factor: 2, Model: "small", Mutation: rewrite("newer text"), Species: "5bec1e5"})
	n2.say("draft/item2/choice", echo.Choice{Winner: 2, How: echo.ChoiceCheapest, Tie: true, Standings: []echo.Standing{
		{Number: 1, State: echo.CandidateLost}, {Number: 2, State: echo.CandidateWon, SameAs: 2, Copies: 1},
	}})
	return append(n1.entries, n2.entries...)
}

func TestSoundings(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	entries := tries(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries[:20]), "what is delivered twice counts once")
	for _, nulls := range []string{"", " SETTINGS join_use_nulls = 1"} {
		require.Equal(t, strings.Join([]string{
			"key | model | mutation | state | won_step | is_winner | how | votes | cost_usd | tokens | verdicts | rejections",
			"draft/item2/sounding1/candidate | small |  | lost | false | false | cheapest | 0 | NULL | 0 | 0 | 0",
			"draft/item2/sounding2/candidate | small | shorter | won | true | true | cheapest | 0 | NULL | 0 | 0 | 0",
			"draft/reforge1/sounding1/candidate | large | shorter | won | true | true | pareto | 0 | 0.25 | 9 | 0 | 0",
			"draft/sounding1/candidate | small |  | lost | false | false | votes | 0 | 0.25 | 120 | 1 | 0",
			"draft/sounding2/candidate | large | shorter | won | true | false | votes | 1 | 0.75 | 50 | 0 | 0",
			"draft/sounding3/candidate | small | shorter | rejected | false | false | votes | 0 | NULL | 7 | 1 | 1",
			"polish/sounding3/candidate | small |  | unfinished | false | false |  | 0 | NULL | 0 | 0 | 0", "",
		}, "\n"), result(t, db, `SELECT key, model, mutation, state, won_step, is_winner, how, votes, cost_usd, tokens, verdicts, rejections FROM soundings ORDER BY key`+nulls))
		require.Equal(t, strings.Join([]string{
			"key | step | pair | reverse | judge | shown | said | named | vote | score | why | problem | e_values | cost_usd",
			"draft/ballot1 | 0 | 1 | false | judge | [1,2] | X | 2 | NULL | NULL | clearer |  | [] | 0.5",
			"draft/ballot2 | 0 | 1 | true | judge | [2,1] | L | 2 | 2 | NULL |  |  | [1.5,0.5] | 0.5",
			"draft/ballot3 | 0 | 2 | false | judge | [1,2] | A | 1 | NULL | NULL |  |  | [] | 0.5",
			"draft/ballot4 | 0 | 2 | true | judge | [2,1] | C | 2 | NULL | NULL |  |  | [] | NULL",
			"draft/ballot5 | 0 | 3 | false | judge | [1,2] | tie | NULL | NULL | NULL |  |  | [] | 0.5",
			"draft/ballot6 | 0 | 3 | true | judge | [2,1] |  | NULL | NULL | NULL |  | no verdict | [] | 0.5",
			"draft/reforge1/score1 | 1 | 0 | false | scorer | [1] |  | NULL | NULL | 8.5 |  |  | [] | 0.125", "",
		}, "\n"), result(t, db, `SELECT key, step, pair, reverse, judge, shown, said, named, vote, score, why, problem, e_values, cost_usd FROM ballots ORDER BY key`+nulls))
		require.Equal(t, strings.Join([]string{
			"judge | sessions | ballots | scores | without_verdict | ties | pairs | votes | flips | flip_rate | first_shown_rate | cost_usd | unknown_cost_ballots",
			"judge | 1 | 6 | 0 | 1 | 1 | 2 | 1 | 1 | 0.5 | 0.75 | 2.5 | 1",
			"scorer | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | NULL | NULL | 0.125 | 0", "",
		}, "\n"), result(t, db, "SELECT * FROM judges ORDER BY judge"+nulls))
	}
}

// A candidate whose beginning a fork has copied was begun by the session that the fork comes from, also where the fork
// has recorded it again with its rewritten instructions: a sum WHERE NOT copied has what it took once.
func TestSoundingsOfAFork(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	candidate := echo.Candidate{Index: 0, Factor: 2, Model: "m", Mutation: &echo.Mutation{Mode: "rewrite", Entry: "shorter"}, Species: "5bec1e5"}
	rewritten := candidate
	rewritten.Mutation = candidate.Mutation.WithText("as the model says")
	var entries []*echo.Entry
	for session, header := range map[string]map[string]any{"o1": {}, "f1": {"parent": "o1", "parent_seq": 4}} {
		r := &relative{t: t, session: session}
		r.start(header)
		r.say("draft/start", echo.PhaseStart{Visit: 1})
		r.say("draft/sounding1/candidate", candidate)
		r.call("draft/sounding1/rewrite/model1", 0.25)
		r.say("draft/sounding1/candidate", rewritten)
		r.say("draft/choice", echo.Choice{Winner: 1, How: echo.ChoiceOnly, Standings: []echo.Standing{{Number: 1, State: echo.CandidateWon, CostUSD: at(0.25)}}})
		entries = append(entries, r.entries...)
	}
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	require.Equal(t, "session_id | seq | rewritten | cost_usd | copied\nf1 | 3 | as the model says | 0.25 | true\no1 | 3 | as the model says | 0.25 | false\n",
		result(t, db, "SELECT session_id, seq, rewritten, cost_usd, copied FROM soundings ORDER BY session_id"))
	require.Equal(t, "0.25", scalar(t, db, "SELECT sum(cost_usd) FROM soundings WHERE NOT copied"))
	require.Equal(t, "0.25", scalar(t, db, "SELECT sum(cost_usd) FROM cost_by_session"))
	got, err := clickhouse.WinningRewrites(t.Context(), db, "draft", "5bec1e5", 5)
	require.NoError(t, err)
	require.Equal(t, []string{"as the model says"}, got)
}

// Rewrites that were kept at the end are shown to later ones of the same species, the newest first.
func TestWinningRewrites(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, tries(t)))
	for _, tt := range []struct {
		phase, species string
		limit          int
		want           []string
	}{
		{"draft", "5bec1e5", 5, []string{"best text", "newer text"}},
		{"draft", "5bec1e5", 1, []string{"best text"}},
		{"draft", "other", 5, nil},
		{"polish", "5bec1e5", 5, nil},
	} {
		got, err := clickhouse.WinningRewrites(t.Context(), db, tt.phase, tt.species, tt.limit)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, "%+v", tt)
	}
}
