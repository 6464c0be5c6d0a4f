package chosen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/chosen"
)

func standings(states ...echo.CandidateState) (list []echo.Standing) {
	for i, s := range states {
		list = append(list, echo.Standing{Number: i + 1, State: s})
	}
	return list
}

func TestFrontiers(t *testing.T) {
	t.Parallel()
	first := echo.Choice{Winner: 1, How: echo.ChoicePareto, Frontier: []echo.FrontierPoint{
		{Number: 1, Quality: 0.85, WeighedUSD: new(0.02)},
		{Number: 2, Quality: 0.6, WeighedUSD: new(0.03), DominatedBy: []int{1, 3}},
		{Number: 3, Quality: 0.7, WeighedUSD: new(0.01)},
		{Number: 4, Quality: 0.5, DominatedBy: []int{1, 2, 3}},
	}}
	none := echo.Choice{Step: 1, Winner: 0, How: echo.ChoicePareto}
	second := echo.Choice{Step: 2, Winner: 0, How: echo.ChoicePareto, Frontier: []echo.FrontierPoint{{Number: 0, Quality: 1}}}
	require.Equal(t, []string{
		"1 (0.85, $0.0200), kept; 3 (0.70, $0.0100); dominated: 2 (0.60, $0.0300) by 1 and 3, 4 (0.50, cost not known) by 1, 2 and 3",
		"step 2: 0 (1.00, cost not known), kept",
	}, chosen.Frontiers([]echo.Choice{first, none, second}))
}

func TestLine(t *testing.T) {
	t.Parallel()
	cent := 0.0123
	three := standings(echo.CandidateLost, echo.CandidateWon, echo.CandidateLost)
	for want, c := range map[string]echo.Choice{
		"3 candidates, 2 kept by votes, judging $0.0123":                                     {Winner: 2, How: echo.ChoiceVotes, CostUSD: &cent, Standings: three},
		"3 candidates, 1 kept as the cheapest of a tie, judging at a cost that is not known": {Winner: 1, How: echo.ChoiceCheapest, Tie: true, Standings: three},
		"3 candidates, 1 kept as the first of a tie, as no cost is known, judging $0.0123":   {Winner: 1, How: echo.ChoiceUnpriced, Tie: true, CostUSD: &cent, Standings: three},
		"3 candidates, 1 kept as the first of a tie, judging $0.0123":                        {Winner: 1, How: echo.ChoiceFirst, Tie: true, CostUSD: &cent, Standings: three},
		"3 candidates (1 failed, 1 rejected), 3 kept as the only one left":                   {Winner: 3, How: echo.ChoiceOnly, CostUSD: new(float64), Standings: standings(echo.CandidateFailed, echo.CandidateRejected, echo.CandidateWon)},
		"2 candidates, 1 kept as all answers are the same":                                   {Winner: 1, How: echo.ChoiceSame, CostUSD: new(float64), Standings: standings(echo.CandidateWon, echo.CandidateSame)},
		"3 candidates, 2 kept by quality and cost, judging $0.0123":                          {Winner: 2, How: echo.ChoiceCost, CostUSD: &cent, Standings: three},
		"3 candidates, 2 kept from the frontier of quality and cost, judging $0.0123":        {Winner: 2, How: echo.ChoicePareto, CostUSD: &cent, Standings: three},
		"2 candidates, one answer written from them, writing it $0.0123":                     {Winner: -1, How: echo.ChoiceAggregate, CostUSD: &cent, Standings: standings(echo.CandidateUsed, echo.CandidateUsed)},
		"2 candidates, one answer written from them":                                         {Winner: -1, How: echo.ChoiceAggregate, CostUSD: new(float64), Standings: standings(echo.CandidateUsed, echo.CandidateUsed)},
		"1 candidate, the best so far stays by votes, judging $0.0123":                       {Step: 1, How: echo.ChoiceVotes, CostUSD: &cent, Standings: append(standings(echo.CandidateLost), echo.Standing{})},
		"1 candidate, a tie: the best so far stays, judging $0.0123":                         {Step: 1, How: echo.ChoiceFirst, Tie: true, CostUSD: &cent, Standings: append(standings(echo.CandidateLost), echo.Standing{})},

		"3 candidates, 2 kept by ada":                                             {Winner: 2, How: echo.ChoicePerson, CostUSD: new(float64), Standings: three, Person: &echo.Chooser{By: "ada"}},
		"3 candidates, 2 kept by a person, judging $0.0123":                       {Winner: 2, How: echo.ChoicePerson, Pairs: 5, CostUSD: &cent, Standings: three, Person: &echo.Chooser{}},
		"3 candidates, all rejected by ada":                                       {Winner: -1, How: echo.ChoiceNone, CostUSD: new(float64), Standings: three, Person: &echo.Chooser{By: "ada", Said: "none"}},
		"3 candidates, 1 kept as the cheapest of a tie, as ada found":             {Winner: 1, How: echo.ChoiceCheapest, Tie: true, CostUSD: new(float64), Standings: three, Person: &echo.Chooser{By: "ada", Said: "tie"}},
		"3 candidates, 1 kept as the first, as nobody chose in time":              {Winner: 1, How: echo.ChoiceFirst, CostUSD: new(float64), Standings: three, Person: &echo.Chooser{TimedOut: true}},
		"3 candidates, 2 kept by votes, as nobody chose in time, judging $0.0123": {Winner: 2, How: echo.ChoiceVotes, Pairs: 5, CostUSD: &cent, Standings: three, Person: &echo.Chooser{TimedOut: true}},
		"3 candidates, 2 kept by e\ufffd[31mvil name":                             {Winner: 2, How: echo.ChoicePerson, CostUSD: new(float64), Standings: three, Person: &echo.Chooser{By: "e\x1b[31mvil name"}},
	} {
		require.Equal(t, want, chosen.Line(&c))
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	a, b := 0.01, 0.02
	first := echo.Choice{Winner: 2, How: echo.ChoiceVotes, CostUSD: &a, Standings: standings(echo.CandidateLost, echo.CandidateWon)}
	better := echo.Choice{Step: 1, Winner: 1, How: echo.ChoiceVotes, CostUSD: &b, Standings: standings(echo.CandidateWon)}
	worse := echo.Choice{Step: 2, How: echo.ChoiceFirst, Tie: true, CostUSD: &b, Standings: standings(echo.CandidateLost)}
	require.Empty(t, chosen.Sum(nil))
	require.Equal(t, chosen.Line(&first), chosen.Sum([]echo.Choice{first}))
	require.Equal(t, "2 candidates, 2 kept by votes, 2 steps of refinement: candidate 1 of step 1 kept by votes, judging $0.0500", chosen.Sum([]echo.Choice{first, better, worse}))
	worse.CostUSD = nil
	require.Equal(t, "2 candidates, 2 kept by votes, 1 step of refinement: none better, judging at a cost that is not known", chosen.Sum([]echo.Choice{first, worse}))
}
