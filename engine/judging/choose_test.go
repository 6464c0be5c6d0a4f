package judging

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
)

func TestChooseByVotes(t *testing.T) {
	t.Parallel()
	b := setup(t, names("blue"))
	c, err := b.choose(&soundings.Soundings{}, entrants("The sea is wet.", "The sea is blue.", "The sea is deep.")...)
	require.NoError(t, err)
	require.Equal(t, echo.ChoiceVotes, c.How)
	require.Equal(t, 2, c.Winner)
	require.False(t, c.Tie)
	require.InDelta(t, 0.9, c.Confidence, 0)
	require.GreaterOrEqual(t, c.EValue, 10.0)
	require.Zero(t, c.Flipped)
	require.InDelta(t, callCost*2*float64(c.Pairs), *c.CostUSD, 1e-9)
	require.Equal(t, "1 lost, 2 won, 3 lost", states(c))
	require.Equal(t, c.Pairs, c.Standings[1].Votes)
	require.InDelta(t, 1, *c.Standings[1].Quality, 0)

	keys, ballots := recorded[echo.Ballot](t, b)
	require.Len(t, ballots, 2*c.Pairs)
	require.Equal(t, []string{"p/ballot1", "p/ballot2"}, keys[:2])
	first, second := ballots[0], ballots[1]
	require.Equal(t, []int{1, 1}, []int{first.Pair, second.Pair})
	require.Equal(t, []bool{false, true}, []bool{first.Reverse, second.Reverse})
	require.Equal(t, []int{first.Order[2], first.Order[1], first.Order[0]}, second.Order)
	require.Nil(t, first.Vote)
	require.Equal(t, 2, *second.Vote)
	require.Len(t, second.EValues, 3)
	require.Equal(t, "so it is", first.Why)
	require.Equal(t, "m", first.Judge)
	keys, choices := recorded[echo.Choice](t, b)
	require.Equal(t, []string{"p/choice"}, keys)
	require.Equal(t, asJSON(c), asJSON(choices[0]))
}
