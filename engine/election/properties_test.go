package election

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without a preference the votes are uniform, and then no e-value is expected to grow or to shrink: whatever the
// votes before, its mean over the next one is what it is now. That is what makes it a martingale.
func TestEValuesAreMartingales(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ k, votes int }{{2, 10}, {3, 6}, {4, 5}, {5, 4}, {7, 3}} {
		for _, copies := range [][]int{{1}, {3, 1}, {1, 1, 5}} {
			e := New("s", among(c.k, copies...), usual)
			every(c.k, c.votes, func(votes []int, cast int) {
				for i := range votes {
					mean := 0.0
					for next := range votes {
						v := votes[i]
						if next == i {
							v++
						}
						mean += e.all.of(v, cast+1) / float64(c.k)
					}
					require.InEpsilon(t, e.all.of(votes[i], cast), mean, 1e-12)
				}
			})
		}
	}
}

// every calls do with all sequences of up to so many votes among k candidates, as counts.
func every(k, most int, do func(votes []int, cast int)) {
	votes := make([]int, k)
	var walk func(cast int)
	walk = func(cast int) {
		do(votes, cast)
		if cast == most {
			return
		}
		for i := range votes {
			votes[i]++
			walk(cast + 1)
			votes[i]--
		}
	}
	walk(0)
}

// winners returns the probability that an election of so many pairs, which are all votes, has a winner: exactly, over
// all sequences. The first candidates, so many, get a vote with the same probability, the others none.
func winners(e *Election, equal int) float64 {
	decided := 0.0
	undecided := map[[5]int]float64{{}: 1} // by votes of the first five
	for pairs := 1; pairs <= e.rules.Max; pairs++ {
		before := undecided
		undecided = map[[5]int]float64{}
		for votes, p := range before {
			for i := range equal {
				after := votes
				after[i]++
				now := *e
				now.votes = append(slices.Clone(after[:min(5, len(e.votes))]), e.votes[min(5, len(e.votes)):]...)
				now.cast, now.pairs = pairs, pairs
				if now.decide(); now.winner >= 0 {
					decided += p / float64(equal)
				} else {
					undecided[after] += p / float64(equal)
				}
			}
		}
	}
	return decided
}

// The promise: when no candidate is preferred, an election that has all its pairs as votes has a winner with a
// probability of at most 1-confidence. With pairs that are no votes it has fewer votes, and the promise is about
// every number of them.
func TestFalseWinnersExactly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, most int
		copies  []int
	}{{2, 80, []int{1}}, {2, 80, []int{4, 1}}, {3, 30, []int{1}}, {3, 30, []int{3, 1}}, {4, 14, []int{1}}, {5, 9, []int{1}}, {5, 9, []int{6, 1}}} {
		for _, confidence := range []float64{0.6, 0.8, 0.9, 0.95} {
			e := New("s", among(c.k, c.copies...), Rules{Min: 1, Max: c.most, Confidence: confidence})
			p := winners(e, c.k)
			t.Logf("%d candidates, copies %v, %d votes, confidence %v: %.4f", c.k, c.copies, c.most, confidence, p)
			require.LessOrEqual(t, p, 1-confidence)
		}
	}
}

// The same when some candidates are preferred to all others, equally.
func TestSomeThatAreEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ k, equal, most int }{{3, 2, 60}, {5, 2, 60}, {8, 2, 60}, {5, 3, 20}, {5, 4, 12}} {
		p := winners(New("s", among(c.k), Rules{Min: 3, Max: c.most, Confidence: 0.9}), c.equal)
		t.Logf("%d of %d, %d votes: %.4f", c.equal, c.k, c.most, p)
		require.LessOrEqual(t, p, 0.1)
	}
}

// Other names of the candidates, in whatever order they are given, change the names in what comes out and nothing else.
// So does the order in which the two verdicts of a pair stand.
func TestNamesDoNotMatter(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		k := 2 + r.IntN(6)
		names := r.Perm(1000)[:k]
		candidates, renamed := make([]Candidate, k), make([]Candidate, k)
		for i := range candidates {
			copies := 1 + r.IntN(3)
			candidates[i], renamed[i] = Candidate{i, copies}, Candidate{names[i], copies}
		}
		r.Shuffle(k, func(i, j int) { renamed[i], renamed[j] = renamed[j], renamed[i] })
		rules := Rules{Min: 1 + r.IntN(4), Max: 5 + r.IntN(20), Confidence: 0.9}
		e, f := New("a", candidates, rules), New("b", renamed, rules)
		likely := r.IntN(k)
		for pair := 1; pair <= rules.Max; pair++ {
			a, b := r.IntN(k), likely
			if r.IntN(3) > 0 {
				a = likely
			}
			require.Equal(t, len(e.Next()), len(f.Next()))
			vote, ok := e.Add(pair, Names(a), Names(b))
			vote2, ok2 := f.Add(pair, Names(names[b]), Names(names[a]))
			require.Equal(t, ok, ok2)
			if ok {
				require.Equal(t, names[vote], vote2)
			}
			same(t, e.Decision(), f.Decision(), names)
		}
	}
}

func same(t *testing.T, d, renamed Decision, names []int) {
	t.Helper()
	for i := range d.Standings {
		d.Standings[i].Number = names[d.Standings[i].Number]
	}
	for i := range d.NotBeaten {
		d.NotBeaten[i] = names[d.NotBeaten[i]]
	}
	if d.Decided {
		d.Winner = names[d.Winner]
	}
	slices.Sort(d.NotBeaten)
	slices.SortFunc(d.Standings, func(a, b Standing) int { return a.Number - b.Number })
	require.Equal(t, d, renamed)
}

// When nothing is left to hold, no votes could have decided; and a decision needs as many pairs as the election says,
// of whatever votes.
func TestNextIsNilOnlyWhenNothingCanDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, most    int
		copies     []int
		confidence float64
	}{{2, 11, []int{1}, 0.9}, {2, 10, []int{5, 1}, 0.9}, {3, 8, []int{1}, 0.9}, {3, 8, []int{4, 1}, 0.8}, {4, 6, []int{1}, 0.8}, {4, 6, []int{1, 5}, 0.9}} {
		e := New("s", among(c.k, c.copies...), Rules{Min: 1, Max: c.most, Confidence: c.confidence})
		fewest := map[string]int{} // pairs to a decision, by votes and pairs
		var walk func(votes []int, cast, pairs int) int
		walk = func(votes []int, cast, pairs int) int {
			key := string(append([]byte{byte(pairs)}, bytes(votes)...))
			if n, ok := fewest[key]; ok {
				return n
			}
			now := *e
			now.votes, now.cast, now.pairs = votes, cast, pairs
			now.decide()
			n := math.MaxInt
			switch {
			case now.winner >= 0:
				n = 0
			case pairs < c.most:
				need, ok := now.need(c.most - pairs)
				next := now.Next()
				if m := walk(votes, cast, pairs+1); m < math.MaxInt {
					n = m + 1
				}
				for i := range votes {
					votes[i]++
					if m := walk(votes, cast+1, pairs+1); m < math.MaxInt {
						n = min(n, m+1)
					}
					votes[i]--
				}
				require.Equal(t, n < math.MaxInt, ok, "%v after %d", votes, pairs)
				if ok {
					require.Equal(t, n, need, "%v after %d", votes, pairs)
					require.NotEmpty(t, next)
				} else if pairs > 0 {
					require.Empty(t, next)
				}
			}
			fewest[key] = n
			return n
		}
		walk(make([]int, c.k), 0, 0)
	}
}

func bytes(votes []int) []byte {
	out := make([]byte, len(votes))
	for i, v := range votes {
		out[i] = byte(v)
	}
	return out
}

// Likelihoods of a thousand votes among 64 candidates are far outside of what a float64 holds.
func TestManyVotes(t *testing.T) {
	t.Parallel()
	for name, vote := range map[string]func(pair int) int{
		"one":      func(int) int { return 7 },
		"in turns": func(pair int) int { return 1 + pair%64 },
		"halves":   func(pair int) int { return 1 + pair/501 },
		"none":     func(int) int { return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := New("s", among(64, 9, 1, 1, 3), Rules{Min: 1000, Max: 1000, Confidence: 0.9})
			for pair := 1; pair <= 1000; pair++ {
				e.castFor(vote(pair))
			}
			d := e.Decision()
			sound(t, e)
			require.Equal(t, name == "one", d.Decided)
			require.Nil(t, e.Next())
		})
	}
}

// sound requires what holds of every election.
func sound(t *testing.T, e *Election) {
	t.Helper()
	d := e.Decision()
	figures := append(e.EValues(), d.EValue)
	for _, v := range figures {
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0) || v < 0, figures)
	}
	require.LessOrEqual(t, d.Pairs, e.rules.Max)
	require.LessOrEqual(t, e.cast+d.Flipped, d.Pairs)
	require.Subset(t, e.Numbers(), d.NotBeaten)
	require.True(t, slices.IsSorted(d.NotBeaten))
	if len(e.candidates) > 0 {
		require.NotEmpty(t, d.NotBeaten)
	}
	if d.Decided {
		require.Equal(t, []int{d.Winner}, d.NotBeaten)
	}
}

func FuzzElection(f *testing.F) {
	f.Add(uint8(2), uint8(3), uint8(10), 0.9, []byte{1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	f.Add(uint8(64), uint8(1), uint8(255), 0.99, []byte("a judge that says this and that, and then something else"))
	f.Add(uint8(0), uint8(0), uint8(0), 0.0, []byte{})
	f.Fuzz(func(t *testing.T, k, least, most uint8, confidence float64, said []byte) {
		e := New(string(said), among(int(k%65), int(k)+1, int(least), 1), Rules{Min: int(least), Max: int(most), Confidence: confidence})
		winner, took := -1, 0
		for next := e.Next(); next != nil; next = e.Next() {
			require.Negative(t, winner, "pairs to hold after a decision")
			for _, pair := range next {
				require.Equal(t, took+1, pair)
				took++
				var a, b byte
				if len(said) > 1 {
					a, b, said = said[0], said[1], said[2:]
				}
				vote, ok := e.Add(pair, Said{a > 3, int(a)}, Said{b > 3, int(b)})
				require.Equal(t, ok, a > 3 && a == b && slices.Contains(e.Numbers(), int(a)))
				if ok {
					require.Equal(t, int(a), vote)
				}
				sound(t, e)
				if d := e.Decision(); d.Decided {
					winner = d.Winner
				}
			}
			require.GreaterOrEqual(t, took, e.rules.Min)
		}
		if d := e.Decision(); winner >= 0 {
			require.Equal(t, winner, d.Winner)
		}
	})
}
