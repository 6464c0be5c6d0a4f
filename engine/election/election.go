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
// more, and one candidate has a greater weighted e-value than every other: it is the winner. The election ends
// without a winner, a tie, when [Rules.Max] pairs have been held, or when no votes in the pairs that are left
// could decide it.
//
// # What is promised, and what is not
//
// The promise is about judges that prefer no candidate: at most one election of ten has a winner at confidence
// 0.9. A judge that prefers an answer for a bad reason, its length or its tone, prefers it: votes cannot tell.
// When two candidates are equally good and better than the rest, either of them may win.
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
	rules      Rules
	threshold  float64
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
		seed: seed, candidates: slices.Clone(candidates), rules: rules, threshold: threshold(rules.Confidence),
		all: evidenceAmong(len(candidates)), two: evidenceAmong(2),
		votes: make([]int, len(candidates)), winner: -1, eValue: 1,
	}
	slices.SortFunc(e.candidates, func(a, b Candidate) int { return cmp.Compare(a.Number, b.Number) })
	for i := range e.candidates {
		e.candidates[i].Copies = max(e.candidates[i].Copies, 1)
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
// The first pairs are 1 to [Rules.Min], or more where fewer cannot decide. Later there are as many as can be
// held together without holding one that a decision, or the end, would have made unnecessary.
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
	weighted := make([]float64, len(e.candidates))
	for i, v := range e.votes {
		weighted[i] = float64(e.weight(i) * e.all.of(v, e.cast))
	}
	e.eValue = Round(sum(weighted))
	if e.pairs >= e.rules.Min && e.eValue >= e.threshold {
		e.winner = greatest(weighted)
	}
}

// greatest returns which is greater than every other one; -1: none is.
func greatest(values []float64) int {
	best, alone := 0, true
	for i, v := range values[1:] {
		switch {
		case v > values[best]:
			best, alone = i+1, true
		case v == values[best]:
			alone = false
		}
	}
	if !alone {
		return -1
	}
	return best
}

// weight returns the share of a candidate in the average.
func (e *Election) weight(i int) float64 {
	all := 0
	for _, c := range e.candidates {
		all += c.Copies
	}
	return float64(e.candidates[i].Copies) / float64(all)
}

// need returns the fewest pairs by which the election can be decided, of those that are left; ok is false when no
// votes can. The e-value of the election is convex in the votes, so it is greatest when all that are left are for
// one candidate.
func (e *Election) need(left int) (pairs int, ok bool) {
	parts := make([]float64, len(e.votes))
	for n := 1; n <= left; n++ {
		for i, v := range e.votes {
			parts[i] = float64(e.weight(i) * e.all.of(v, e.cast+n))
		}
		for i, v := range e.votes {
			part := parts[i]
			parts[i] = float64(e.weight(i) * e.all.of(v+n, e.cast+n))
			if Round(sum(parts)) >= e.threshold {
				return n, true
			}
			parts[i] = part
		}
	}
	return 0, false
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
	NotBeaten []int   // the winner; of a tie, those that the votes cannot tell from the one with most votes
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
	for i, c := range e.candidates {
		if !e.beaten(i) {
			d.NotBeaten = append(d.NotBeaten, c.Number)
		}
	}
	return d
}

// beaten reports whether the votes are enough to say that another candidate is preferred to this one: those for one of
// the two, without all others.
func (e *Election) beaten(i int) bool {
	most := slices.Max(e.votes)
	return most > e.votes[i] && Round(e.two.of(most, most+e.votes[i])) >= e.threshold
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
