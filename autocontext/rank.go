package autocontext

import (
	"cmp"
	"math"
	"slices"
)

// place is what a ranking says of a group: its index and the score that put it there.
type place struct {
	group int
	score float64
}

// ranked orders groups by a score, the higher first; of equal ones the newer. What has no score above zero is left out.
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

// A message is often found by its neighbour: a question by its answer, a result by the call before it. So a group also gets
// a share of the relevance of those around it in the same visit, half as much with each step, and more from those before
// it, because answers follow questions. Measured on questions about long conversations (docs/selection.md).
const (
	shareOfPrevious = 0.6
	shareOfNext     = 0.45
	neighbours      = 4
)

// spread adds to each score the shares of its neighbours' scores.
func spread(groups []Group, scores []float64) []float64 {
	out := slices.Clone(scores)
	for i := range scores {
		before, after := shareOfPrevious, shareOfNext
		for d := 1; d <= neighbours; d++ {
			if j := i - d; j >= 0 && groups[j].Segment == groups[i].Segment {
				out[i] += before * scores[j]
			}
			if j := i + d; j < len(scores) && groups[j].Segment == groups[i].Segment {
				out[i] += after * scores[j]
			}
			before, after = before/2, after/2
		}
	}
	return out
}

// recencyHalf is the number of groups after which recency has halved. It counts places and not time: in a run that is
// minutes old as a whole, the newest message is no more relevant for that.
const recencyHalf = 10

// byWords ranks groups by keyword_weight * relevance * (1 + recency_weight * recency) + callout_weight for callouts. Recency
// multiplies relevance instead of adding to it: what has nothing to do with the task does not become relevant by being new.
// Groups with neither a word in common nor a callout are left out. Only when keyword_weight is zero, so that there is no
// relevance to multiply, recency stands for itself.
func (sel *Selected) byWords(relevance []float64, groups []Group, s SelectSettings) []place {
	relevance = normalized(spread(groups, relevance))
	totals := make([]float64, len(groups))
	for i := range groups {
		sc := &sel.Scores[i]
		sc.Keyword = relevance[i]
		sc.Recency = math.Exp2(-float64(len(groups)-1-i) / recencyHalf)
		totals[i] = s.KeywordWeight * sc.Keyword * (1 + s.RecencyWeight*sc.Recency)
		if s.KeywordWeight == 0 {
			totals[i] = s.RecencyWeight * sc.Recency
		}
		if groups[i].Callout {
			totals[i] += s.CalloutWeight
		}
	}
	return ranked(totals)
}

// byMeaning ranks groups by the similarity of their embeddings to the task, neighbours included, and leaves out those
// below threshold times the best. It returns nil when no group has an embedding.
func (sel *Selected) byMeaning(groups []Group, threshold float64) []place {
	meaning := make([]float64, len(groups))
	known := false
	for i := range groups {
		if groups[i].Embedded {
			known = true
			if m := groups[i].Meaning; m > 0 { // a store's answer may be no number
				meaning[i] = min(m, 1)
			}
		}
	}
	if !known {
		return nil
	}
	meaning = normalized(spread(groups, meaning))
	for i := range meaning {
		sel.Scores[i].Meaning = &meaning[i]
	}
	return slices.DeleteFunc(ranked(meaning), func(p place) bool { return p.score < threshold })
}

// normalized divides by the largest score.
func normalized(scores []float64) []float64 {
	best := 0.0
	for _, s := range scores {
		best = max(best, s)
	}
	if best > 0 {
		for i := range scores {
			scores[i] /= best
		}
	}
	return scores
}

// fusionConstant dampens the weight of the first ranks in reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009, who
// use 60; 20 found more here, where only the first few dozen ranks matter).
const fusionConstant = 20

// fuse joins two rankings of n groups by the sum of the reciprocals of the ranks.
func fuse(n int, a, b []place) []place {
	scores := make([]float64, n)
	for _, ranking := range [][]place{a, b} {
		for rank, p := range ranking {
			scores[p.group] += 1 / float64(fusionConstant+rank+1)
		}
	}
	return ranked(scores)
}
