package selection

import (
	"cmp"
	"math"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Term is a part of a score: Weight times Value. The terms of a score add up to its total.
type Term struct {
	Name   string  `json:"name"` // one of the terms below
	Weight float64 `json:"weight"`
	Value  float64 `json:"value"`
	Rank   int     `json:"rank,omitempty"` // of the ranking that Value is the reciprocal of, from 1; 0: of none
}

// The terms of scores.
const (
	TermWords      = "words"      // relevance by words, or the reciprocal of the rank by it
	TermRecency    = "recency"    // relevance by words times recency, or recency by itself
	TermCallout    = "callout"    // 1: the group holds a callout
	TermMeaning    = "meaning"    // by how much the similarity stands out, or the reciprocal of the rank by it
	TermSimilarity = "similarity" // of the group itself, as a share of the most similar
)

// Terms lists the names of terms in the order in which scores have them.
func Terms() []string {
	return []string{TermWords, TermRecency, TermCallout, TermMeaning, TermSimilarity}
}

// Explain returns the terms of each score of a selection, none for what was not ranked. The arguments
// are those that the selection was made with.
func Explain(of *echo.Selected, groups []Group, s Settings) [][]Term {
	x := explainer{of: of, groups: groups, settings: s}
	terms := x.byWords
	embedded := slices.ContainsFunc(groups, func(g Group) bool { return g.Embedded })
	switch {
	case s.Strategy == echo.StrategySemantic && embedded:
		x.similarity()
		terms = x.bySimilarity
	case s.Strategy == echo.StrategyHybrid && embedded:
		x.similarity()
		x.rank()
		terms = x.byRanks
	}
	out := make([][]Term, len(groups))
	for i := range groups {
		if of.Scores[i].Total != 0 {
			out[i] = terms(i)
		}
	}
	return out
}

// explainer works a selection out again, from its scores and its groups.
type explainer struct {
	of       *echo.Selected
	groups   []Group
	settings Settings

	share, standing     []float64   // of the highest similarity; by which they stand out
	ofWords, ofMeanings map[int]int // the ranks of groups, from 1
}

func (x *explainer) byWords(i int) []Term {
	s, sc := &x.settings, &x.of.Scores[i]
	terms := []Term{
		{Name: TermWords, Weight: s.KeywordWeight, Value: sc.Keyword},
		{Name: TermRecency, Weight: s.KeywordWeight * s.RecencyWeight, Value: sc.Keyword * sc.Recency},
	}
	if s.KeywordWeight == 0 {
		terms = []Term{{Name: TermRecency, Weight: s.RecencyWeight, Value: sc.Recency}}
	}
	if sc.Callout {
		terms = append(terms, Term{Name: TermCallout, Weight: s.CalloutWeight, Value: 1})
	}
	return terms
}

func (x *explainer) similarity() {
	similar := make([]float64, len(x.groups))
	x.share = make([]float64, len(x.groups))
	for i := range x.of.Scores {
		if m := x.of.Scores[i].Similarity; m != nil {
			similar[i], x.share[i] = *m, max(*m, 0)
		}
	}
	x.standing, x.share = standingOut(x.groups, similar), normalized(x.share)
}

func (x *explainer) bySimilarity(i int) []Term {
	return []Term{
		{Name: TermMeaning, Weight: 1, Value: x.standing[i]},
		{Name: TermSimilarity, Weight: rawShare, Value: x.share[i]},
	}
}

// rank makes the rankings that are fused.
func (x *explainer) rank() {
	words, meanings := make([]float64, len(x.groups)), make([]float64, len(x.groups))
	for i := range x.groups {
		words[i] = wordScore(&x.of.Scores[i], &x.settings)
		meanings[i] = x.standing[i] + rawShare*x.share[i]
	}
	x.ofWords, x.ofMeanings = ranksOf(ranked(words)), ranksOf(ranked(meanings))
}

func ranksOf(ranking []place) map[int]int {
	out := map[int]int{}
	for rank, p := range ranking {
		out[p.group] = rank + 1
	}
	return out
}

func (x *explainer) byRanks(i int) []Term {
	var terms []Term
	if rank := x.ofWords[i]; rank > 0 {
		terms = append(terms, Term{Name: TermWords, Weight: 1, Value: 1 / float64(fusionConstant+rank), Rank: rank})
	}
	if rank := x.ofMeanings[i]; rank > 0 {
		terms = append(terms, Term{Name: TermMeaning, Weight: similarityWeight, Value: 1 / float64(fusionConstant+rank), Rank: rank})
	}
	return terms
}

// Cut is where a budget ended: before the first group of a rank that did not fit.
type Cut struct {
	Rank     int   `json:"rank"`     // of that group
	Left     int64 `json:"left"`     // of the tokens or messages
	Needs    int64 `json:"needs"`    // that the group has of them
	Messages bool  `json:"messages"` // the number of messages ended, not that of tokens
	Smaller  int   `json:"smaller"`  // groups of later ranks that fitted
}

// CutOf returns where the budget of a selection ended; nil when all that was ranked fitted.
func CutOf(of *echo.Selected, s Settings) *Cut {
	order := make([]*echo.Score, 0, len(of.Scores))
	for i := range of.Scores {
		if of.Scores[i].Rank > 0 {
			order = append(order, &of.Scores[i])
		}
	}
	slices.SortFunc(order, func(a, b *echo.Score) int { return cmp.Compare(a.Rank, b.Rank) })
	tokens, messages := s.MaxTokens, int64(math.MaxInt64)
	if s.MaxMessages > 0 {
		messages = int64(s.MaxMessages)
	}
	var cut *Cut
	in := map[echo.Hash]bool{}
	for _, sc := range order {
		n := int64(sc.Messages)
		switch {
		case sc.Chosen && cut != nil:
			cut.Smaller++
		case sc.Chosen:
			tokens, messages, in[sc.ID] = tokens-sc.Tokens, messages-n, true
		case cut != nil || in[sc.ID]:
		case sc.Tokens > tokens:
			cut = &Cut{Rank: sc.Rank, Left: tokens, Needs: sc.Tokens}
		default:
			cut = &Cut{Rank: sc.Rank, Left: messages, Needs: n, Messages: true}
		}
	}
	return cut
}
