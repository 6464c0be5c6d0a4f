package judging

import (
	"math"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/engine/election"
)

// weigh gives each answer its value of quality and cost together, and returns the number of the best: that of the
// greatest value, then of the greatest quality, then the cheapest, then the first.
//
//	value = quality_weight * quality + cost_weight * (1 - normalized cost)
func (f *field) weigh(s *soundings.CostAware) int {
	quality, cost := s.Weights()
	costs := make([]float64, len(f.answers))
	for i, a := range f.answers {
		costs[i] = a.cost
	}
	for i, n := range normalized(costs, s.Normalized()) {
		to := f.of(f.answers[i].number)
		to.Value = new(election.Round(float64(quality**to.Quality) + float64(cost*(1-n))))
	}
	return f.answers[bestOf(len(f.answers), func(i int) []float64 {
		to := f.of(f.answers[i].number)
		return []float64{*to.Value, *to.Quality, -f.answers[i].cost}
	})].number
}

// normalized returns costs as numbers from 0, for cheap, to 1. A cost that is not known is 1. When all that are known
// are the same they are 0: then cost tells nothing.
//
//   - min_max: (cost - least) / (most - least).
//   - z_score: by how many standard deviations the cost is above the mean, from -3 to 3, as a share of that span. One
//     cost that is far out does not press all others together.
//   - log_scale: min_max of log(1 + cost / least cost above 0). Twice as much counts the same for cheap and for
//     expensive ones.
func normalized(costs []float64, by soundings.Normalization) []float64 {
	known := make([]float64, 0, len(costs))
	for _, c := range costs {
		if !math.IsInf(c, 1) {
			known = append(known, c)
		}
	}
	scale := scaleOf(known, by)
	out := make([]float64, len(costs))
	for i, c := range costs {
		out[i] = 1
		if !math.IsInf(c, 1) {
			out[i] = election.Round(min(max(scale(c), 0), 1))
		}
	}
	return out
}

// scaleOf returns what maps a known cost to a number from 0 to 1.
func scaleOf(known []float64, by soundings.Normalization) func(float64) float64 {
	least, most := bounds(known)
	switch {
	case most <= least:
		return func(float64) float64 { return 0 }
	case by == soundings.ZScore:
		return zScore(known)
	case by == soundings.LogScale:
		unit := math.Inf(1)
		for _, c := range known {
			if c > 0 {
				unit = min(unit, c)
			}
		}
		low, high := math.Log1p(least/unit), math.Log1p(most/unit)
		return func(c float64) float64 { return (math.Log1p(c/unit) - low) / (high - low) }
	}
	return func(c float64) float64 { return (c - least) / (most - least) }
}

func bounds(values []float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	return least, most
}

// zScore is for costs that are not all the same.
func zScore(known []float64) func(float64) float64 {
	const span = 3
	n := float64(len(known))
	mean, squares := 0.0, 0.0
	for _, c := range known {
		mean += c / n
	}
	for _, c := range known {
		squares += float64((c - mean) * (c - mean))
	}
	deviation := math.Sqrt(squares / n)
	if deviation == 0 {
		return func(float64) float64 { return 0 }
	}
	return func(c float64) float64 { return ((c-mean)/deviation + span) / (2 * span) }
}
