package main

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
)

// turned is the share of its verdicts that the median judge turns when the order of the candidates is reversed, as far as
// a judge here can.
const turned = 0.45

// judge is how a simulated judge comes to its verdicts.
type judge struct {
	name  string
	place func(k int) int     // the place that it prefers, from 0
	bias  func(k int) float64 // in this share of pairs it names whoever is at that place
	noise func(k int) float64 // this share of ballots names anyone
	holds holding             // how long an opinion lasts
	ties  bool                // it never names anyone
}

// holding is how long a judge keeps to an opinion.
type holding int

const (
	forAPair      holding = iota // both ballots of a pair have the same opinion
	forABallot                   // each ballot has one of its own
	forAnElection                // all ballots have the same
)

func first(int) int    { return 0 }
func last(k int) int   { return k - 1 }
func middle(k int) int { return k / 2 }

func always(share float64) func(int) float64 { return func(int) float64 { return share } }

// noiseFor returns which share of ballots has to name anyone, so that this share of pairs turns.
func noiseFor(share float64) func(k int) float64 {
	return func(k int) float64 { return 1 - math.Sqrt(1-share*float64(k)/float64(k-1)) }
}

// half of what is turned is by bias, in a judge that has bias and noise.
const half = turned / 2

// judges are those that are measured.
var judges = []judge{
	{name: "steady"},
	{name: "first", place: first, bias: always(turned)},
	{name: "last", place: last, bias: always(turned)},
	{name: "middle", place: middle, bias: always(turned)},
	{name: "noise", noise: noiseFor(turned)},
	{name: "first and noise", place: first, bias: always(half), noise: noiseFor(half / (1 - half))},
	{name: "wavering", holds: forABallot},
}

// odd are judges that are no use: one that names nobody, one that names whoever comes first, and one with a taste that has
// nothing to do with how good the candidates are.
var odd = []judge{
	{name: "always a tie", ties: true},
	{name: "always the first", place: first, bias: always(1)},
	{name: "taste of its own", holds: forAnElection},
}

// taste is which candidates a judge prefers, of those with the numbers 1 to k.
type taste struct {
	k          int
	best       int     // so many are preferred, equally, from the first on; k: none is preferred
	preference float64 // with which an opinion is for one of these
	first      int     // the number of the first of them, from 0
}

// number returns the number of the i-th of them, from 0.
func (t taste) number(i int) int { return 1 + (t.first+i)%t.k }

// preferred reports whether a candidate is one of the best.
func (t taste) preferred(number int) bool { return (number-1-t.first+t.k)%t.k < t.best }

// opinion draws for whom a judge is.
func (t taste) opinion(r *rand.Rand) int {
	if u := r.Float64(); t.best == t.k || u < t.preference {
		return t.number(r.IntN(t.best))
	}
	return t.number(t.best + r.IntN(t.k-t.best))
}

// mind is what a judge has in mind in the two ballots of a pair.
type mind struct {
	byPlace bool
	names   [2]int
}

// mindOf draws it: the same whenever and in whatever order it is asked for.
func (j *judge) mindOf(t taste, election string, pair int) mind {
	held := election
	if j.holds != forAnElection {
		held += "/" + strconv.Itoa(pair)
	}
	opinions, r := random(held+"/opinion"), random(election+"/"+strconv.Itoa(pair))
	var m mind
	m.byPlace = j.bias != nil && r.Float64() < j.bias(t.k)
	opinion := t.opinion(opinions)
	for i := range m.names {
		if m.names[i] = opinion; i == 1 && j.holds == forABallot {
			m.names[i] = t.opinion(opinions)
		}
		if j.noise != nil && r.Float64() < j.noise(t.k) {
			m.names[i] = 1 + r.IntN(t.k)
		}
	}
	return m
}

// says returns whom the judge names in the first or the second ballot of a pair; 0: nobody.
func (j *judge) says(m mind, ballot int, order []int) int {
	switch {
	case j.ties:
		return 0
	case m.byPlace:
		return order[j.place(len(order))]
	default:
		return m.names[ballot]
	}
}

// random returns random numbers that follow from a seed.
func random(seed string) *rand.Rand {
	h := fnv.New128a()
	_, _ = h.Write([]byte(seed))
	sum := h.Sum(nil)
	var a, b uint64
	for i := range 8 {
		a, b = a<<8|uint64(sum[i]), b<<8|uint64(sum[8+i])
	}
	return rand.New(rand.NewPCG(a, b))
}
