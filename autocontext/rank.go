package autocontext

import "math"

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
	out := make([]float64, len(scores))
	copy(out, scores)
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
// Groups with neither a word in common nor a callout are left out.
func byWords(task string, groups []Group, s SelectSettings, scores []Score) []int {
	texts := make([]string, len(groups))
	for i := range groups {
		texts[i] = groups[i].text()
	}
	relevance := normalized(spread(groups, newWordIndex(texts).scores(task)))
	var found []int
	for i := range groups {
		sc := &scores[i]
		sc.Keyword = relevance[i]
		sc.Recency = math.Exp2(-float64(len(groups)-1-i) / recencyHalf)
		sc.Total = s.KeywordWeight * sc.Keyword * (1 + s.RecencyWeight*sc.Recency)
		if groups[i].Callout {
			sc.Total += s.CalloutWeight
		}
		if sc.Total > 0 {
			found = append(found, i)
		}
	}
	return byScore(found, func(i int) float64 { return scores[i].Total })
}

// byMeaning ranks groups by the similarity of their embeddings to the task, neighbours included, and leaves out those
// below threshold times the best. It returns nil when no group has an embedding.
func byMeaning(groups []Group, threshold float64, scores []Score) []int {
	raw := make([]float64, len(groups))
	known := false
	for i := range groups {
		if groups[i].Embedded {
			known = true
			raw[i] = max(groups[i].Meaning, 0)
		}
	}
	if !known {
		return nil
	}
	meaning := normalized(spread(groups, raw))
	found := []int{}
	for i := range groups {
		m := meaning[i]
		scores[i].Meaning = &m
		if m > 0 && m >= threshold {
			found = append(found, i)
		}
	}
	return byScore(found, func(i int) float64 { return meaning[i] })
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

// fuse joins two rankings by the sum of the reciprocals of the ranks.
func fuse(a, b []int) []int {
	score := map[int]float64{}
	var list []int
	for _, ranking := range [][]int{a, b} {
		for rank, i := range ranking {
			if _, seen := score[i]; !seen {
				list = append(list, i)
			}
			score[i] += 1 / float64(fusionConstant+rank+1)
		}
	}
	return byScore(list, func(i int) float64 { return score[i] })
}
