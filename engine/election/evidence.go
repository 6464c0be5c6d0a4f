package election

import (
	"math"
	"slices"
	"strconv"
)

// evidence is how e-values among k candidates are made of votes. It keeps those that it has made.
type evidence struct {
	alternatives []alternative
	made         map[tally]float64
}

// tally is how many votes of all that were cast are for one candidate.
type tally struct{ votes, cast int }

// alternative is one strength of preference: by which factor its likelihood grows with a vote for the candidate, and
// with a vote for another one.
type alternative struct {
	prior, up, down float64
}

// grid are the strengths of preference that are averaged over: a candidate that is preferred gets a vote with
// probability 1/k + strength (1-1/k). Few votes have to do, so nearly all of the weight is where they say most: five to
// none decide between two candidates at confidence 0.9, and fewer cannot, whatever the strengths; so do eight to one,
// and eleven to two. The weak preference is for long elections. docs/soundings.md has what else was tried.
var grid = []struct{ strength, prior float64 }{
	{0.9, 0.28},
	{0.8, 0.70},
	{0.5, 0.02},
}

// evidenceAmong returns how e-values among k candidates are made.
func evidenceAmong(k int) *evidence { return evidenceOf(grid, k) }

func evidenceOf(strengths []struct{ strength, prior float64 }, k int) *evidence {
	ev := &evidence{made: map[tally]float64{}}
	if k < 2 {
		return ev
	}
	for _, g := range strengths {
		rest := float64(k - 1)
		ev.alternatives = append(ev.alternatives, alternative{
			prior: g.prior,
			up:    1 + float64(g.strength*rest), // k q, with q = 1/k + strength (1-1/k)
			down:  1 - g.strength,               // k (1-q) / (k-1)
		})
	}
	return ev
}

// of returns the e-value of a candidate with so many votes of all that were cast.
func (ev *evidence) of(votes, cast int) float64 {
	value, ok := ev.made[tally{votes, cast}]
	if ok {
		return value
	}
	for _, a := range ev.alternatives {
		value += float64(a.prior * power(a.up, votes).times(power(a.down, cast-votes)).float())
	}
	ev.made[tally{votes, cast}] = value
	return value
}

// scaled is m 2^e, with m from 0.5 to 1, or 0: likelihoods of many votes are outside of what a float64 can hold.
type scaled struct {
	m float64
	e int
}

// limit is far above every threshold; the sums of e-values stay numbers below it.
const limit = 1000

func scale(m float64, e int) scaled {
	m, by := math.Frexp(m)
	return scaled{m, e + by}
}

func (s scaled) times(t scaled) scaled { return scale(float64(s.m*t.m), s.e+t.e) }

func (s scaled) float() float64 { return math.Ldexp(s.m, min(s.e, limit)) }

// power returns x to the n, for x from 0 and n from 0.
func power(x float64, n int) scaled {
	result, square := scale(1, 0), scale(x, 0)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = result.times(square)
		}
		square = square.times(square)
	}
	return result
}

// sum adds from the least to the greatest: it is the same in whatever order the values come.
func sum(values []float64) float64 {
	all := 0.0
	values = slices.Clone(values)
	slices.Sort(values)
	for _, v := range values {
		all += v
	}
	return all
}

// threshold returns the e-value that a winner needs.
func threshold(confidence float64) float64 {
	if !(confidence > 0 && confidence < 1) {
		return math.Inf(1)
	}
	return Round(1 / (1 - confidence))
}

// Round returns a value with six significant digits, as all e-values are compared and recorded.
func Round(value float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 6, 64), 64)
	if err != nil {
		return value // it cannot be: what is formatted can be parsed
	}
	return rounded
}
