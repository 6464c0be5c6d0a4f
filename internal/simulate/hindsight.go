package simulate

import (
	"context"
	"math"
)

// The best schedule in hindsight. Under one class of settings everything that ages is a function of the message and of
// the turn as of which ages are taken: the frontier. So a way through a conversation is a frontier for each call, which
// never goes back and is never ahead of the call's own turn. The dynamic programme below finds the cheapest one. It goes
// over call and frontier: what the calls up to k cost at least when call k is made with frontier f.

// sheet is what becomes of the messages of a conversation with each frontier, while one attempt is under way. It belongs
// to one goroutine.
type sheet struct {
	// ids[f][i] names what is sent for message i with frontier f: two equal ids are the same bytes.
	ids [][]uint32
	// sums[f][i] is the tokens of what is sent for the messages before i.
	sums [][]int64
	// diffs[f][g] is the first message for which something else is sent with g than with f; nil until it is asked for.
	diffs [][]int
}

// stage is one call as the programme sees it.
type stage struct {
	at    int // messages of the history
	last  int // the last frontier that is not ahead of the call
	sheet *sheet
}

// cost returns what the requests of a schedule cost: a frontier for each stage.
func cost(stages []stage, schedule []int, p Prices) float64 {
	total := 0.0
	for k, st := range stages {
		shared := int64(0)
		if k > 0 {
			before := stages[k-1]
			shared = st.sheet.shared(before, schedule[k-1], schedule[k])
		}
		total += p.Money(st.sheet.sums[schedule[k]][st.at], shared)
	}
	return total
}

// shared returns the tokens at the beginning of a request with frontier f that the request before it, with frontier g,
// has as well.
func (s *sheet) shared(before stage, g, f int) int64 {
	return s.sums[f][min(firstDifference(before.sheet.ids[g], s.ids[f]), before.at)]
}

// best returns the cheapest schedule and its cost. Of schedules that cost the same it takes the one that moves later. It
// takes time in proportion to the calls and the square of the frontiers.
// It ends early, with the cause, when ctx does.
func best(ctx context.Context, stages []stage, p Prices) ([]int, float64, error) {
	if len(stages) == 0 {
		return nil, 0, nil
	}
	costs := make([]float64, stages[0].last+1)
	for f := range costs {
		costs[f] = p.Money(stages[0].sheet.sums[f][stages[0].at], 0)
	}
	from := make([][]int32, len(stages))
	for k := 1; k < len(stages); k++ {
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		costs, from[k] = step(stages[k-1], stages[k], costs, p)
	}
	end := 0
	for f, c := range costs {
		if c < costs[end] {
			end = f
		}
	}
	schedule := make([]int, len(stages))
	for k, f := len(stages)-1, end; k >= 0; k-- {
		schedule[k] = f
		if k > 0 {
			f = int(from[k][f])
		}
	}
	return schedule, costs[end], nil
}

// step goes from one call to the next: for each frontier of the next call the least cost so far and the frontier that it
// comes from.
func step(was, is stage, costs []float64, p Prices) ([]float64, []int32) {
	next, from := make([]float64, is.last+1), make([]int32, is.last+1)
	for f := range next {
		next[f] = math.Inf(1)
		tokens := is.sheet.sums[f][is.at]
		diff := is.sheet.differences(was.sheet, f)
		for g := 0; g <= min(f, was.last); g++ {
			shared := is.sheet.sums[f][min(diff[g], was.at)]
			// Of equal costs the later g is taken: staying is preferred to moving.
			if c := costs[g] + p.Money(tokens, shared); c <= next[f] {
				next[f], from[f] = c, int32(g)
			}
		}
	}
	return next, from
}

// differences returns, for every frontier g up to f, the first message for which something else is sent with g by the
// sheet before than with f by this one.
func (s *sheet) differences(before *sheet, f int) []int {
	if before == s && s.diffs[f] != nil {
		return s.diffs[f]
	}
	diff := make([]int, f+1)
	for g := range diff {
		diff[g] = firstDifference(before.ids[g], s.ids[f])
	}
	if before == s {
		s.diffs[f] = diff
	}
	return diff
}

// firstDifference returns the first place at which two lists differ: at most the length of the shorter.
func firstDifference(a, b []uint32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
