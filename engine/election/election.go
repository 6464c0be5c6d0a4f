// Package election decides by ballots which of several candidates is preferred: which orders a judge sees,
// what a pair of ballots is worth, and when there is enough evidence. It is pure and asks nobody.
//
// # Pairs
//
// Judges prefer places: the first answer that they see, or the last. So the unit is a pair of ballots: a random
// order of the candidates, and its reverse. A pair is one vote when both ballots name the same candidate, and
// none otherwise. If the judge prefers no candidate, what it says depends on places only, and as the order is
// random each vote is for each of the k candidates with probability 1/k, whatever the places that it prefers.
// That is the hypothesis that the election tests: "no candidate is preferred".
//
// # E-values
//
// The e-value of a candidate is the likelihood of the votes if the candidate is preferred, divided by their
// likelihood if none is. Preferred means: it gets a vote with probability q above 1/k, and the others share the
// rest. What q is nobody knows, so the e-value is an average over several q (see [Election.EValues]). The
// e-value of the election is the average of those of the candidates, weighted by their copies, which are known
// before any ballot. If no candidate is preferred, all of these are martingales that begin at 1. So the
// probability that the e-value of the election ever reaches 1/(1-confidence) is at most 1-confidence (Ville's
// inequality). It holds at every pair, however often one looks, and however many candidates there are. Such
// tests are called anytime-valid.
//
// # The decision
//
// The election is decided when at least [Rules.Min] pairs have been held, its e-value is 1/(1-confidence) or
// more, and the candidate with the greatest weighted e-value also wins against each other candidate alone: an election
// of the two, by the votes for one of them, would be decided as well. For two candidates that says the same twice. For
// more it is needed: when two candidates are equally good and better than the rest, a few votes prove that not all
// are equal, and say little of which of the two is better. Elections that follow each other, and share what doubt there
// may be, have a greater confidence than that of the two alone ([Rules.Alone]): the first promise below holds for
// all of them together, the second for each.
//
// The election ends without a winner, a tie, when [Rules.Max] pairs have been held, or when no votes in the pairs
// that are left could decide it. In a tie those candidates are not beaten that have more than half as many votes as the
// one with most. That is no test: it is what keeps the best candidate more often than one call does, and still leaves
// a choice among equals.
//
// # What is promised, and what is not
//
// When the judge prefers no candidate, or prefers two equally to all others, at most one election of ten has one of
// these as its winner at confidence 0.9. A judge that prefers an answer for a bad reason, its length or its tone,
// prefers it: votes cannot tell.
//
// All figures are the same on every platform: they are made of products and sums, and no product is fused with
// a sum. What is compared and returned is rounded to six significant digits.
package election

import (
	"cmp"
	"fmt"
	"slices"
)

// Rules bound an election.
type Rules struct {
	Min        int     // pairs before the first decision, at least 1
	Max        int     // pairs, at least Min
	Confidence float64 // that a winner needs, between 0 and 1; outside of that there is never a winner
	Alone      float64 // that it needs against each other candidate alone, in the same way; 0: Confidence
}

// Candidate is one of those to choose from.
type Candidate struct {
	Number int // its name: no two have the same
	Copies int // its weight: candidates with this answer, at least 1
}

// Said is what a judge said in a ballot. The zero value is a tie, or no verdict. A number that no candidate has is no
// verdict.
type Said struct {
	Named  bool
	Number int // of the candidate that it named
}

// Names is the verdict that names a candidate.
func Names(number int) Said { return Said{Named: true, Number: number} }

// Election is what the pairs have come to. It is no use to two goroutines at once.
type Election struct {
	seed       string
	candidates []Candidate // by number
	weights    []float64   // of the candidates, together 1
	rules      Rules
	threshold  float64
	alone      float64   // the threshold of a candidate against another one
	all        *evidence // among all candidates
	two        *evidence // between two of them
	votes      []int     // by candidate
	cast       int       // the sum of votes
	pairs      int       // held
	flipped    int
	winner     int // by candidate; -1: none yet
	eValue     float64
}

// New begins an election among candidates, in any order. Equal seeds give equal orders.
func New(seed string, candidates []Candidate, rules Rules) *Election {
	rules.Min = max(rules.Min, 1)
	rules.Max = max(rules.Max, rules.Min)
	e := &Election{
		seed: seed, candidates: slices.Clone(candidates), rules: rules, threshold: threshold(rules.Confidence), alone: threshold(cmp.Or(rules.Alone, rules.Confidence)),
		all: evidenceAmong(len(candidates)), two: evidenceAmong(2),
		votes: make([]int, len(candidates)), winner: -1, eValue: 1,
	}
	slices.SortFunc(e.candidates, func(a, b Candidate) int { return cmp.Compare(a.Number, b.Number) })
	copies := 0
	for i := range e.candidates {
		c := &e.candidates[i].Copies
		*c = max(*c, 1)
		copies += *c
	}
	for _, c := range e.candidates {
		e.weights = append(e.weights, float64(c.Copies)/float64(copies))
	}
	return e
}

// Numbers returns the candidates in ascending order.
func (e *Election) Numbers() []int {
	numbers := make([]int, len(e.candidates))
	for i, c := range e.candidates {
		numbers[i] = c.Number
	}
	return numbers
}

// Next returns the pairs to hold now, in ascending order: they can be held at the same time, and are then added. It
// is nil when the election is decided, and when it ends as a tie.
//
// The first pairs are 1 to [Rules.Min], or more where fewer cannot decide. Later there are as many as a decision needs
// at least, as long as it stays possible when all but the last of them are no votes.
func (e *Election) Next() []int {
	left := e.rules.Max - e.pairs
	if e.winner >= 0 || left == 0 || len(e.candidates) < 2 {
		return nil
	}
	n := max(e.rules.Min-e.pairs, 0)
	if need, ok := e.need(left); ok {
		n = max(n, min(need, left-need+1))
	}
	if n == 0 {
		return nil
	}
	next := make([]int, n)
	for i := range next {
		next[i] = e.pairs + 1 + i
	}
	return next
}

// Add counts a pair that has been held: what was said of its first order and of the second. Pairs are added in order,
// those of [Election.Next] and no others. It returns the vote that the pair comes to, if it is one.
func (e *Election) Add(pair int, first, second Said) (vote int, ok bool) {
	if pair != e.pairs+1 || pair > e.rules.Max {
		panic(fmt.Sprintf("election: pair %d is added after pair %d of %d", pair, e.pairs, e.rules.Max))
	}
	e.pairs++
	i, j := e.index(first), e.index(second)
	switch {
	case i < 0 || j < 0:
	case i != j:
		e.flipped++
	default:
		e.votes[i]++
		e.cast++
		vote, ok = e.candidates[i].Number, true
	}
	e.decide()
	return vote, ok
}

// index returns which candidate was named; -1: none.
func (e *Election) index(s Said) int {
	if !s.Named {
		return -1
	}
	i, ok := slices.BinarySearchFunc(e.candidates, s.Number, func(c Candidate, n int) int { return cmp.Compare(c.Number, n) })
	if !ok {
		return -1
	}
	return i
}

// decide looks whether there is a winner now. One that there is stays.
func (e *Election) decide() {
	if e.winner >= 0 || len(e.candidates) < 2 {
		return
	}
	value, leader := e.leader(e.votes, e.cast)
	e.eValue = value
	if e.pairs >= e.rules.Min && value >= e.threshold && e.beatsAll(leader, e.votes) {
		e.winner = leader
	}
}

// leader returns the e-value of the election for votes, and the candidate whose weighted one is greatest.
func (e *Election) leader(votes []int, cast int) (value float64, leader int) {
	weighted := make([]float64, len(votes))
	for i, v := range votes {
		weighted[i] = float64(e.weights[i] * e.all.of(v, cast))
		if weighted[i] > weighted[leader] {
			leader = i
		}
	}
	return Round(sum(weighted)), leader
}

// beatsAll reports whether a candidate wins against each other one alone.
func (e *Election) beatsAll(i int, votes []int) bool {
	for j := range votes {
		if j != i && !e.beats(i, j, votes) {
			return false
		}
	}
	return true
}

// beats reports whether the first of two candidates wins an election of the two, by the votes for one of them.
func (e *Election) beats(i, j int, votes []int) bool {
	cast, both := votes[i]+votes[j], e.weights[i]+e.weights[j]
	a := float64(e.weights[i] / both * e.two.of(votes[i], cast))
	b := float64(e.weights[j] / both * e.two.of(votes[j], cast))
	return a > b && Round(a+b) >= e.alone
}

// need returns the fewest pairs by which the election can be decided, of those that are left; ok is false when no
// votes can. A candidate can win with so many more votes only if it does when they are all for it.
func (e *Election) need(left int) (pairs int, ok bool) {
	votes := slices.Clone(e.votes)
	different := e.different()
	for n := 1; n <= left; n++ {
		for _, i := range different {
			votes[i] += n
			value, leader := e.leader(votes, e.cast+n)
			if leader == i && value >= e.threshold && e.beatsAll(i, votes) {
				return n, true
			}
			votes[i] -= n
		}
	}
	return 0, false
}

// different returns candidates that differ in votes or copies: of those that are alike, the first.
func (e *Election) different() []int {
	var all []int
	seen := map[[2]int]bool{}
	for i, c := range e.candidates {
		if like := [2]int{e.votes[i], c.Copies}; !seen[like] {
			seen[like] = true
			all = append(all, i)
		}
	}
	return all
}

// EValues returns the e-value of each candidate, not weighted, by [Election.Numbers].
func (e *Election) EValues() []float64 {
	values := make([]float64, len(e.votes))
	for i, v := range e.votes {
		values[i] = Round(e.all.of(v, e.cast))
	}
	return values
}

// EValue returns that of one candidate; 0 when there is no such candidate.
func (e *Election) EValue(number int) float64 {
	if i := e.index(Names(number)); i >= 0 {
		return Round(e.all.of(e.votes[i], e.cast))
	}
	return 0
}

// Decision is what an election has come to so far.
type Decision struct {
	Decided   bool
	Winner    int     // when it is decided
	EValue    float64 // of the election
	Pairs     int     // that were held
	Flipped   int     // of those: the second ballot named another candidate than the first
	NotBeaten []int   // the winner; of a tie, those with more than half of the most votes; without a vote, all
	Standings []Standing
}

// Standing is what the votes say of one candidate.
type Standing struct {
	Number int
	Copies int
	Votes  int
	EValue float64
}

// Decision returns what the election has come to so far. Standings and NotBeaten are in ascending order.
func (e *Election) Decision() Decision {
	d := Decision{Decided: e.winner >= 0, EValue: e.eValue, Pairs: e.pairs, Flipped: e.flipped}
	for i, value := range e.EValues() {
		c := e.candidates[i]
		d.Standings = append(d.Standings, Standing{c.Number, c.Copies, e.votes[i], value})
	}
	if d.Decided {
		d.Winner = e.candidates[e.winner].Number
		d.NotBeaten = []int{d.Winner}
		return d
	}
	most := slices.Max(append([]int{0}, e.votes...))
	for i, c := range e.candidates {
		if v := e.votes[i]; v == most || 2*v > most {
			d.NotBeaten = append(d.NotBeaten, c.Number)
		}
	}
	return d
}

// Fewest returns the fewest pairs by which an election among so many candidates, each with the same number of copies,
// can be decided: when all of them are votes for the same candidate.
func Fewest(candidates int, confidence float64) (pairs int, ok bool) {
	const most = 1000
	if candidates < 2 {
		return 0, false
	}
	e := New("", make([]Candidate, candidates), Rules{Min: 1, Max: most, Confidence: confidence})
	return e.need(most)
}
