package selection

import (
	"cmp"
	"math"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// place is what a ranking says of a group: its index and the score that put it there.
type place struct {
	group int
	score float64
}

// ranked orders groups by a score above zero, the highest first; of equal ones the newer.
func ranked(scores []float64) []place {
	out := make([]place, 0, len(scores))
	for i, s := range scores {
		if s > 0 {
			out = append(out, place{group: i, score: s})
		}
	}
	slices.SortFunc(out, func(a, b place) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.group, a.group)) })
	return out
}

// A message is often found by its neighbour: a question by its answer, a result by its call. So
// groups share relevance within a visit, more from those before (docs/selection.md).
const (
	shareOfPrevious = 0.6
	shareOfNext     = 0.45
	neighbours      = 4
)

// spread adds to each score the shares of its neighbours' scores.
func spread(groups []Group, scores []float64) []float64 {
	out := slices.Clone(scores)
	eachNeighbour(groups, func(i, j int, share float64) { out[i] += share * scores[j] })
	return out
}

// eachNeighbour tells for each group i its neighbours j in the same visit, and their shares.
func eachNeighbour(groups []Group, tell func(i, j int, share float64)) {
	for i := range groups {
		before, after := shareOfPrevious, shareOfNext
		for d := 1; d <= neighbours; d++ {
			if j := i - d; j >= 0 && groups[j].Segment == groups[i].Segment {
				tell(i, j, before)
			}
			if j := i + d; j < len(groups) && groups[j].Segment == groups[i].Segment {
				tell(i, j, after)
			}
			before, after = before/2, after/2
		}
	}
}

// recencyHalf is the number of groups, not the time, after which recency has halved.
const recencyHalf = 10

// byWords ranks groups by keyword_weight * relevance * (1 + recency_weight * recency) +
// callout_weight for callouts: what is irrelevant does not become relevant by being new. Recency
// counts by itself only when keyword_weight is zero.
func (sel *selected) byWords(relevance []float64) []place {
	groups, s := sel.groups, &sel.settings
	relevance = normalized(spread(groups, relevance))
	totals := make([]float64, len(groups))
	for i := range groups {
		sc := &sel.Scores[i]
		sc.Keyword = relevance[i]
		sc.Recency = math.Exp2(-float64(len(groups)-1-i) / recencyHalf)
		totals[i] = wordScore(sc, s)
	}
	return ranked(totals)
}

func wordScore(sc *echo.Score, s *Settings) float64 {
	total := s.KeywordWeight * sc.Keyword * (1 + s.RecencyWeight*sc.Recency)
	if s.KeywordWeight == 0 {
		total = s.RecencyWeight * sc.Recency
	}
	if sc.Callout {
		total += s.CalloutWeight
	}
	return total
}

// rawShare is the weight of a group's own similarity: it decides among those that do not stand out.
const rawShare = 0.01

// bySimilarity ranks groups by the similarity of their embeddings to the task. It returns nil when
// no group has one.
//
// Everything said in one session is somewhat similar to any task in it, more so with some embedders
// than with others. So what counts, and what neighbours share in, is by how much a group is above
// the mean and one standard deviation of all. Left out is what is less similar than threshold times
// the most similar group, and not near enough to a similar one either.
func (sel *selected) bySimilarity(threshold float64) []place {
	groups := sel.groups
	if !slices.ContainsFunc(groups, func(g Group) bool { return g.Embedded }) {
		return nil
	}
	similar := make([]float64, len(groups))
	for i := range groups {
		if !groups[i].Embedded {
			continue
		}
		if s := groups[i].Similarity; !math.IsNaN(s) { // a store's answer may be no number
			similar[i] = min(max(s, -1), 1)
		}
		sel.Scores[i].Similarity = &similar[i]
	}
	scores := standingOut(groups, similar)
	raw := make([]float64, len(groups))
	for i := range raw {
		raw[i] = max(similar[i], 0)
	}
	near := nearest(groups, normalized(raw))
	for i := range scores {
		scores[i] += rawShare * raw[i]
		if near[i] < threshold {
			scores[i] = 0
		}
	}
	return ranked(scores)
}

// standingOut returns by how much groups and their neighbours stand out: 1 for the one that does most.
func standingOut(groups []Group, similar []float64) []float64 {
	return normalized(spread(groups, outstanding(groups, similar)))
}

// outstanding returns by how much groups are above the mean similarity and one standard deviation.
func outstanding(groups []Group, similar []float64) []float64 {
	var n, sum, squares float64
	for i, s := range similar {
		if groups[i].Embedded {
			n, sum, squares = n+1, sum+s, squares+s*s
		}
	}
	mean := sum / n
	floor := mean + math.Sqrt(max(squares/n-mean*mean, 0))
	out := make([]float64, len(similar))
	for i, s := range similar {
		out[i] = max(s-floor, 0)
	}
	return out
}

func nearest(groups []Group, scores []float64) []float64 {
	out := slices.Clone(scores)
	eachNeighbour(groups, func(i, j int, share float64) { out[i] = max(out[i], share*scores[j]) })
	return out
}

func normalized(scores []float64) []float64 {
	if best := slices.Max(append([]float64{0}, scores...)); best > 0 {
		for i := range scores {
			scores[i] /= best
		}
	}
	return scores
}

// fusionConstant dampens the first ranks in reciprocal rank fusion (Cormack, Clarke and Buettcher,
// 2009); between 5 and 60 it hardly matters here (docs/selection.md).
const fusionConstant = 20

// similarityWeight is the weight of the ranking by similarity; words, which find more, have 1.
const similarityWeight = 0.5

// fuse joins two rankings of n groups by the sum of the reciprocals of the ranks.
func fuse(n int, words, similarity []place) []place {
	scores := make([]float64, n)
	add := func(ranking []place, weight float64) {
		for rank, p := range ranking {
			scores[p.group] += weight / float64(fusionConstant+rank+1)
		}
	}
	add(words, 1)
	add(similarity, similarityWeight)
	return ranked(scores)
}
