package simulate

import (
	"context"
	"math"
)

// The best schedule in hindsight. Under one class of settings a message's form depends only on the
// frontier: the turn as of which ages are taken. A schedule is a rising frontier for each call,
// never ahead of its turn. The cheapest is found by dynamic programming over call and frontier.

// sheet is what is sent with each frontier during one attempt. It belongs to one goroutine.
type sheet struct {
	ids   [][]uint32 // ids[f][i]: what is sent for message i with frontier f, by name
	sums  [][]int64  // sums[f][i]: tokens sent for the messages before i
	diffs [][]int    // diffs[f][g]: the first message that differs; nil until computed
}

type stage struct {
	at    int // messages of the history
	last  int // the last frontier that is not ahead of the call
	sheet *sheet
}

// best returns the cheapest schedule and its cost; of equal ones that which moves later. It takes
// time in proportion to the calls and the square of the frontiers, and ends with the cause of ctx.
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

// step returns, for each frontier of the next call, the least cost so far and the frontier before.
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

// differences returns, for every frontier g up to f, the first message that differs between g in
// the sheet before and f in this one.
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

// firstDifference returns the first index at which lists differ, at most the shorter length.
func firstDifference(a, b []uint32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
