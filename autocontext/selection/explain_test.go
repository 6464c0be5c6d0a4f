package selection

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// explainable groups say a few words each, some with an embedding, some of them callouts.
func explainable(r *rand.Rand, embedded bool) []Group {
	words := strings.Fields("apple pear cherry plum melon grape the of quince")
	groups := make([]Group, 1+r.IntN(30))
	for i := range groups {
		var text []string
		for range 1 + r.IntN(8) {
			text = append(text, words[r.IntN(len(words))])
		}
		groups[i] = said(fmt.Sprint(i, " ", strings.Join(text, " ")))
		groups[i].Segment, groups[i].Tokens, groups[i].Callout = 1+i/7, int64(1+r.IntN(50)), r.IntN(6) == 0
		if embedded && r.IntN(8) > 0 {
			groups[i].Embedded, groups[i].Similarity = true, 2*r.Float64()-1
		}
	}
	return groups
}

// The terms of a score add up to it, by every strategy; what was not ranked has none.
func TestTermsAddUp(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[string]bool{}
	for i := range 600 {
		s := Settings{MaxTokens: int64(r.IntN(300)), MaxMessages: r.IntN(8), KeywordWeight: float64(r.IntN(3)) * 0.2, RecencyWeight: 0.3, CalloutWeight: 0.3}
		s.Strategy = []echo.Strategy{echo.StrategyHeuristic, echo.StrategySemantic, echo.StrategyHybrid, echo.StrategyLLM}[i%4]
		s.Prefilter = s.Strategy == echo.StrategyHybrid && r.IntN(2) == 0
		if s.Strategy == echo.StrategySemantic {
			s.Threshold = 0.5
		}
		groups := explainable(r, r.IntN(4) > 0)
		sel, _ := NewIndex().Select("apple and pear", groups, s, &MenuAnswer{Failed: "nobody is there"})
		terms := Explain(sel, groups, s)
		require.Len(t, terms, len(groups))
		for k, sc := range sel.Scores {
			sum := 0.0
			for _, term := range terms[k] {
				seen[string(s.Strategy)+" "+term.Name] = true
				require.Contains(t, Terms(), term.Name)
				sum += term.Weight * term.Value
			}
			require.InDelta(t, sc.Total, sum, 1e-12, "%s: group %d of %d", s.Strategy, k, len(groups))
			require.Equal(t, sc.Total != 0, len(terms[k]) > 0)
		}
	}
	for _, of := range []string{
		"heuristic words", "heuristic recency", "heuristic callout", "semantic meaning", "semantic similarity",
		"hybrid words", "hybrid meaning", "hybrid recency", "llm words", "llm recency", "llm callout",
	} {
		require.True(t, seen[of], of)
	}
}

// By hand: the first of both rankings.
func TestTermsOfRanks(t *testing.T) {
	t.Parallel()
	groups := saidAll("apple", "pear")
	groups[0].Embedded, groups[0].Similarity = true, 0.9
	groups[1].Embedded, groups[1].Similarity = true, 0.1
	s := Settings{Strategy: echo.StrategyHybrid, Prefilter: true, MaxTokens: 100, KeywordWeight: 1}
	sel, _ := NewIndex().Select("apple", groups, s, nil)
	require.Equal(t, []Term{{TermWords, 1, 1.0 / 21, 1}, {TermMeaning, 0.5, 1.0 / 21, 1}}, Explain(sel, groups, s)[0])
}

// The budget ends before the first group that did not fit; smaller ones behind it may have.
func TestCutOf(t *testing.T) {
	t.Parallel()
	scores := func(sizes ...int64) *echo.Selected { // a negative one did not come in
		out := &echo.Selected{}
		for i, n := range sizes {
			out.Scores = append(out.Scores, echo.Score{ID: echo.Hash(fmt.Sprint(i)), Rank: i + 1, Tokens: max(n, -n), Messages: 2, Chosen: n > 0})
		}
		return out
	}
	require.Nil(t, CutOf(scores(10, 20), Settings{MaxTokens: 30}))
	require.Nil(t, CutOf(scores(), Settings{MaxTokens: 30}))
	require.Equal(t, &Cut{Rank: 2, Left: 20, Needs: 25, Smaller: 1}, CutOf(scores(10, -25, 15, -30), Settings{MaxTokens: 30}))
	require.Equal(t, &Cut{Rank: 1, Left: 5, Needs: 10}, CutOf(scores(-10), Settings{MaxTokens: 5}))
	require.Equal(t, &Cut{Rank: 3, Left: 1, Needs: 2, Messages: true}, CutOf(scores(1, 1, -1), Settings{MaxTokens: 30, MaxMessages: 5}))
	twice := scores(10, -10)
	twice.Scores[1].ID = twice.Scores[0].ID
	require.Nil(t, CutOf(twice, Settings{MaxTokens: 30}), "what says the same came in once")
	unranked := scores(10, -10)
	unranked.Scores[1].Rank = 0
	require.Nil(t, CutOf(unranked, Settings{MaxTokens: 30}))
}
