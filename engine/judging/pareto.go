package judging

import (
	"cmp"
	"context"
	"math"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/election"
)

// scoresEach is how many times a judge gives points to an answer.
const scoresEach = 2

// frontier has the judge give points to each answer, and chooses among those that no other one dominates. Where no
// answer gets any points it is a tie among all.
//
// It returns those that are left to a person, where the policy is that one chooses.
func (j *judge) frontier(ctx context.Context, c *echo.Choice) ([]answer, error) {
	groups := make([][]int, len(j.field.answers))
	for i, a := range j.field.answers {
		groups[i] = []int{a.number}
	}
	if err := j.fit(groups); err != nil {
		return nil, err
	}
	qualities, err := j.score(ctx)
	if err != nil {
		return nil, err
	}
	points := make([]point, len(qualities))
	known := false
	for i, quality := range qualities {
		a := j.field.answers[i]
		points[i] = point{answer: a}
		if s := j.field.of(a.number); quality == nil {
			s.Why = cmp.Or(s.Why, "no judge gave it points")
		} else {
			s.Quality, points[i].quality, known = quality, *quality, true
		}
	}
	if !known {
		c.Tie = true
		c.How, c.Winner = untie(j.q.Settings.Tie(), j.q.Step, j.field.answers)
		return nil, nil
	}
	left := undominated(points)
	if j.q.Settings.Pareto.ShowFrontier {
		c.Frontier = shown(points)
	}
	for _, p := range points {
		if !p.in(left) {
			j.field.of(p.number).State = echo.CandidateDominated
		}
	}
	for i := range left {
		left[i].value = valueOf(left[i], left)
		j.field.of(left[i].number).Value = &left[i].value
	}
	c.How, c.Winner = echo.ChoicePareto, follow(j.q.Settings.Pareto.Prefers(), left).number
	if j.q.Settings.Pareto.Policy != soundings.Interactive {
		return nil, nil
	}
	return j.field.among(numbersOf(left)), nil
}

// numbersOf returns the numbers of points.
func numbersOf(points []point) []int {
	out := make([]int, len(points))
	for i, p := range points {
		out[i] = p.number
	}
	return out
}

// score returns the quality of each answer from 0 to 1, the mean of its points; nil when it got none.
func (j *judge) score(ctx context.Context) ([]*float64, error) {
	answers := j.field.answers
	sheets := make([]sheet, 0, scoresEach*len(answers))
	for _, a := range answers {
		for range scoresEach {
			sheets = append(sheets, j.sheet(echo.StepScore, len(sheets)+1, []int{a.number}))
		}
	}
	replies, err := j.ask(ctx, sheets)
	if err != nil {
		return nil, err
	}
	qualities := make([]*float64, len(answers))
	for i := range answers {
		sum, given := 0.0, 0
		for k := range scoresEach {
			at := scoresEach*i + k
			b := j.ballot(&sheets[at], replies[at])
			readScore(replies[at], &b)
			if err := j.follow(&sheets[at], &b); err != nil {
				return nil, err
			}
			if b.Score != nil {
				sum += *b.Score
				given++
			}
			if err := j.bench.Place().Rec.Add(sheets[at].key, b); err != nil {
				return nil, err
			}
		}
		if given > 0 {
			qualities[i] = new(election.Round(sum / float64(given) / mostPoints))
		}
	}
	return qualities, nil
}

// point is an answer with its quality, from 0 to 1. One without points has 0.
type point struct {
	answer
	quality, value float64
}

func (p point) in(list []point) bool {
	for _, q := range list {
		if q.number == p.number {
			return true
		}
	}
	return false
}

// dominates reports whether p is at least as good and as cheap as q, and better or cheaper.
func (p point) dominates(q point) bool {
	return p.quality >= q.quality && p.cost <= q.cost && (p.quality > q.quality || p.cost < q.cost)
}

// undominated returns the frontier, by number.
func undominated(points []point) []point {
	var left []point
	for _, p := range points {
		if len(p.dominatedBy(points)) == 0 {
			left = append(left, p)
		}
	}
	return left
}

// dominatedBy returns the numbers of those that dominate p, in order.
func (p point) dominatedBy(points []point) []int {
	var by []int
	for _, q := range points {
		if q.dominates(p) {
			by = append(by, q.number)
		}
	}
	return by
}

// shown returns what is recorded of all points, so that a person sees the frontier.
func shown(points []point) []echo.FrontierPoint {
	list := make([]echo.FrontierPoint, len(points))
	for i, p := range points {
		list[i] = echo.FrontierPoint{Number: p.number, Quality: p.quality, DominatedBy: p.dominatedBy(points)}
		if !math.IsInf(p.cost, 1) {
			list[i].WeighedUSD = &points[i].cost
		}
	}
	return list
}

// valueOf returns how near a point of the frontier is to one of the best quality at no cost, from 0 to 1. Cost is its
// share of the greatest one that is known on the frontier; one that is not known counts as that:
//
//	value = 1 - sqrt((1 - quality)^2 + (cost / greatest cost)^2) / sqrt(2)
func valueOf(p point, frontier []point) float64 {
	greatest := 0.0
	for _, q := range frontier {
		if !math.IsInf(q.cost, 1) {
			greatest = max(greatest, q.cost)
		}
	}
	cost := 0.0
	switch {
	case math.IsInf(p.cost, 1):
		cost = 1
	case greatest > 0:
		cost = p.cost / greatest
	}
	lack := 1 - p.quality
	return election.Round(1 - math.Sqrt((float64(lack*lack)+float64(cost*cost))/2))
}

// follow chooses from the frontier: the greatest value, the least cost, or the best quality. Of several it
// prefers the better one, then the cheaper one, then the first.
func follow(policy soundings.Policy, frontier []point) point {
	return frontier[bestOf(len(frontier), func(i int) []float64 {
		p := frontier[i]
		switch policy {
		case soundings.PreferCheap:
			return []float64{-p.cost, p.quality}
		case soundings.PreferQuality:
			return []float64{p.quality, -p.cost}
		default:
			return []float64{p.value, p.quality, -p.cost}
		}
	})]
}
