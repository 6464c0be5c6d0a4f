package judging

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
)

// graded has a judge give these points to answers that are called a, b, c...; "" is no verdict.
func graded(points map[string][]string) judgeFunc {
	given := map[string]int{}
	return func(p paper) (string, error) {
		name := p.texts[0]
		list := points[name]
		given[name]++
		return list[(given[name]-1)%len(list)], nil
	}
}

func points(v ...float64) (list []string) {
	for _, p := range v {
		list = append(list, fmt.Sprintf(`{"why":"so","score":%v}`, p))
	}
	return list
}

func priced(costs ...float64) []Entrant {
	list := make([]Entrant, len(costs))
	for i, c := range costs {
		list[i] = entrant(i+1, string(rune('a'+i)))
		list[i].CostUSD = &c
		if c < 0 {
			list[i].CostUSD = nil
		}
	}
	return list
}

func TestPareto(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		points   map[string][]string
		entrants []Entrant
		winners  map[soundings.Policy]int
		states   string // by prefer_quality
	}{
		"three, one is dominated": {
			map[string][]string{"a": points(9, 9), "b": points(8, 8), "c": points(7, 7)},
			priced(1, 0.1, 0.5),
			map[soundings.Policy]int{"": 2, soundings.Balanced: 2, soundings.PreferCheap: 2, soundings.PreferQuality: 1},
			"1 won, 2 lost, 3 dominated",
		},
		"little saved, much lost": {
			map[string][]string{"a": points(9, 9), "b": points(5, 5)},
			priced(1, 0.9),
			map[soundings.Policy]int{soundings.Balanced: 1, soundings.PreferCheap: 2, soundings.PreferQuality: 1},
			"1 won, 2 lost",
		},
		"the mean of both": {
			map[string][]string{"a": points(10, 0), "b": points(6, 7)},
			priced(1, 1),
			map[soundings.Policy]int{soundings.Balanced: 2, soundings.PreferCheap: 2, soundings.PreferQuality: 2},
			"1 dominated, 2 won",
		},
		"equals: the first": {
			map[string][]string{"a": points(6), "b": points(6)},
			priced(1, 1),
			map[soundings.Policy]int{soundings.Balanced: 1, soundings.PreferCheap: 1, soundings.PreferQuality: 1},
			"1 won, 2 lost",
		},
		"unknown costs count as most": {
			map[string][]string{"a": points(6), "b": points(6), "c": points(7)},
			priced(-1, 3, -1),
			map[soundings.Policy]int{soundings.Balanced: 3, soundings.PreferCheap: 2, soundings.PreferQuality: 3},
			"1 dominated, 2 lost, 3 won",
		},
		"all unknown: the best": {
			map[string][]string{"a": points(6), "b": points(8)},
			priced(-1, -1),
			map[soundings.Policy]int{soundings.Balanced: 2, soundings.PreferCheap: 2, soundings.PreferQuality: 2},
			"1 dominated, 2 won",
		},
		"all free: the best": {
			map[string][]string{"a": points(6), "b": points(8)},
			priced(0, 0),
			map[soundings.Policy]int{soundings.Balanced: 2, soundings.PreferCheap: 2, soundings.PreferQuality: 2},
			"1 dominated, 2 won",
		},
		"one score is nonsense": {
			map[string][]string{"a": {"eleven", `{"score":9}`}, "b": points(8)},
			priced(1, 1),
			map[soundings.Policy]int{soundings.Balanced: 1, soundings.PreferCheap: 1, soundings.PreferQuality: 1},
			"1 won, 2 dominated",
		},
		"no score at all counts as none": {
			map[string][]string{"a": {"eleven"}, "b": points(1)},
			priced(1, 1),
			map[soundings.Policy]int{soundings.Balanced: 2, soundings.PreferCheap: 2, soundings.PreferQuality: 2},
			"1 dominated, 2 won",
		},
	} {
		for policy, winner := range tc.winners {
			t.Run(name+" "+string(policy), func(t *testing.T) {
				t.Parallel()
				b := setup(t, graded(tc.points))
				c, err := b.choose(&soundings.Soundings{Pareto: &soundings.Pareto{Policy: policy, ShowFrontier: true}}, tc.entrants...)
				require.NoError(t, err)
				require.Equal(t, echo.ChoicePareto, c.How)
				require.Equal(t, winner, c.Winner)
				require.False(t, c.Tie)
				require.Zero(t, c.Pairs)
				require.Zero(t, c.Confidence)
				require.InDelta(t, callCost*2*float64(len(tc.entrants)), *c.CostUSD, 1e-9)
				if policy == soundings.PreferQuality {
					require.Equal(t, tc.states, states(c))
				}
				for _, s := range c.Standings {
					require.Equal(t, s.State == echo.CandidateDominated, s.Value == nil, "the frontier has values")
				}
				keys, warned := warnings(t, b)
				require.Empty(t, keys, warned)
			})
		}
	}
}

func TestScoresAreRecorded(t *testing.T) {
	t.Parallel()
	b := setup(t, graded(map[string][]string{"a": {`{"score":9,"why":"good"}`, "no"}, "b": points(3, 4)}))
	c, err := b.choose(&soundings.Soundings{Pareto: &soundings.Pareto{}}, append(priced(1, 2), entrant(3, "a"))...)
	require.NoError(t, err)
	require.Equal(t, "1 won, 2 dominated, 3 same", states(c))
	require.InDelta(t, 0.9, *c.Standings[0].Quality, 0)
	require.InDelta(t, 0.35, *c.Standings[1].Quality, 0)
	require.InDelta(t, 1-1/1.414214+0.0, *c.Standings[0].Value, 0.01, "it costs as much as any of the frontier")
	keys, ballots := recorded[echo.Ballot](t, b)
	require.Equal(t, []string{"p/score1", "p/score2", "p/score3", "p/score4"}, keys)
	first := ballots[0]
	require.Equal(t, echo.Ballot{Judge: "m", Order: []int{1}, Labels: first.Labels, Score: new(9.0), Why: "good", CostUSD: new(callCost)}, first)
	require.Equal(t, `the reply has no JSON object with "score": no`, ballots[1].Problem)
	require.NotEqual(t, first.Labels, ballots[1].Labels)
}

// show_frontier records who is dominated by whom, and the costs as they were weighed.
func TestFrontierIsRecorded(t *testing.T) {
	t.Parallel()
	for show, want := range map[bool][]echo.FrontierPoint{
		false: nil,
		true: {
			{Number: 1, Quality: 0.9, WeighedUSD: new(1.0)},
			{Number: 2, Quality: 0.6, WeighedUSD: new(2.0), DominatedBy: []int{1, 3}},
			{Number: 3, Quality: 0.8, WeighedUSD: new(0.5)},
			{Number: 4, Quality: 0.7, DominatedBy: []int{1, 3}},
		},
	} {
		b := setup(t, graded(map[string][]string{"a": points(9), "b": points(6), "c": points(8), "d": points(7)}))
		entrants := priced(1, 3, 0.5, -1)
		entrants[1].Weighed = new(2.0)
		c, err := b.choose(&soundings.Soundings{Pareto: &soundings.Pareto{ShowFrontier: show}}, entrants...)
		require.NoError(t, err)
		require.Equal(t, want, c.Frontier)
	}
}

// Where a judge gives no points at all, nothing is known of quality: it is a tie.
func TestNoPointsAtAll(t *testing.T) {
	t.Parallel()
	b := setup(t, says("no"))
	c, err := b.choose(&soundings.Soundings{Pareto: &soundings.Pareto{}}, priced(3, 1, 2)...)
	require.NoError(t, err)
	require.True(t, c.Tie)
	require.Equal(t, echo.ChoiceCheapest, c.How)
	require.Equal(t, 2, c.Winner)
	require.Equal(t, "no judge gave it points", c.Standings[0].Why)
	require.Nil(t, c.Standings[0].Quality)
}
