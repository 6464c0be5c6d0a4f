package election

import (
	"fmt"
	"strings"
	"testing"
)

// mixture is one that could stand for [grid]: strengths with their weights.
type mixture []struct{ strength, prior float64 }

// mixtures are what was tried; the first is what is used.
var mixtures = []mixture{
	grid,
	{{0.98, 1}},
	{{0.9, 1}},
	{{0.8, 1}},
	{{0.9, 0.5}, {0.8, 0.5}},
	{{0.9, 0.5}, {0.8, 0.4}, {0.5, 0.1}},
	{{0.95, 0.6}, {0.7, 0.3}, {0.4, 0.1}},
	uniform(40),
}

// uniform is as good as a uniform prior.
func uniform(n int) mixture {
	m := make(mixture, n)
	for i := range m {
		m[i].strength, m[i].prior = (float64(i)+0.5)/float64(n), 1/float64(n)
	}
	return m
}

func (m mixture) String() string {
	if len(m) > 3 {
		return "uniform"
	}
	var parts []string
	for _, a := range m {
		parts = append(parts, fmt.Sprintf("%v of %v", a.prior, a.strength))
	}
	return strings.Join(parts, ", ")
}

// decides returns the probability that an election between two candidates is decided within so many pairs, exactly: each
// pair is a vote with a probability, and the vote is for the first candidate with another one.
func decides(m mixture, pairs int, vote, first float64) float64 {
	e := New("s", among(2), Rules{Min: 1, Max: pairs, Confidence: 0.9})
	e.all = evidenceOf(m, 2)
	e.two = e.all
	return chance(e, vote, []float64{first, 1 - first}, func(e *Election) bool { e.decide(); return e.winner >= 0 })
}

// chance returns the probability that an election among up to five is decided: each pair is a vote with a probability, and
// the vote is for each candidate with that of it.
func chance(e *Election, vote float64, of []float64, isDecided func(*Election) bool) float64 {
	decided, undecided := 0.0, map[[5]int]float64{{}: 1}
	for range e.rules.Max {
		before := undecided
		undecided = map[[5]int]float64{}
		for votes, p := range before {
			undecided[votes] += p * (1 - vote)
			for i, to := range of {
				after := votes
				after[i]++
				now := *e
				now.votes, now.cast, now.pairs = after[:len(of)], 0, e.rules.Max
				for _, v := range after {
					now.cast += v
				}
				if isDecided(&now) {
					decided += p * vote * to
				} else {
					undecided[after] += p * vote * to
				}
			}
		}
	}
	return decided
}

// BenchmarkRules says how many elections among three and five are decided, in %, with a judge that turns 45 % of its
// verdicts and twelve pairs: when two are preferred to all others, equally, and when one is preferred at 0.7 and at 0.9. By
// the rule that is used, and by the e-value of the election alone.
func BenchmarkRules(b *testing.B) {
	rules := map[string]func(*Election) bool{
		"used":  func(e *Election) bool { e.decide(); return e.winner >= 0 },
		"alone": func(e *Election) bool { value, _ := e.leader(e.votes, e.cast); return value >= e.threshold },
	}
	for name, rule := range rules {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, k := range []int{3, 5} {
					e := New("s", among(k), Rules{Min: 1, Max: 12, Confidence: 0.9})
					two, some, most := shares(k, 0.45, 0.45), shares(k, 0.7), shares(k, 0.9)
					b.ReportMetric(100*chance(e, 0.55, two, rule), fmt.Sprintf("%%_two_of_%d", k))
					b.ReportMetric(100*chance(e, 0.55, some, rule), fmt.Sprintf("%%_0.7_of_%d", k))
					b.ReportMetric(100*chance(e, 0.55, most, rule), fmt.Sprintf("%%_0.9_of_%d", k))
				}
			}
		})
	}
}

// shares returns by candidate with which probability it gets a vote: the first so many, the others the rest.
func shares(k int, first ...float64) []float64 {
	rest := 1.0
	for _, p := range first {
		rest -= p
	}
	for left := k - len(first); len(first) < k; {
		first = append(first, rest/float64(left))
	}
	return first
}

// BenchmarkMixtures says how many elections between two candidates are decided, in %, with a judge that turns 45 % of
// its verdicts: by preference and by pairs at most. docs/soundings.md has the table.
func BenchmarkMixtures(b *testing.B) {
	for _, m := range mixtures {
		b.Run(m.String(), func(b *testing.B) {
			for b.Loop() {
				for _, preference := range []float64{0.5, 0.7, 0.9} {
					for _, pairs := range []int{10, 12, 16, 30} {
						b.ReportMetric(100*decides(m, pairs, 0.55, preference), fmt.Sprintf("%%_at_%v_in_%d", preference, pairs))
					}
				}
			}
		})
	}
}

// What is used decides at least as often as what else was tried, within the bounds that files have by default.
func TestTheMixtureIsTheBest(t *testing.T) {
	t.Parallel()
	for _, preference := range []float64{0.6, 0.7, 0.8, 0.9} {
		for _, pairs := range []int{10, 12, 16} {
			used := decides(grid, pairs, 0.55, preference)
			for _, m := range mixtures {
				if d := decides(m, pairs, 0.55, preference); d > used+1e-9 {
					t.Errorf("preference %v, %d pairs: %v decides %.4f, what is used %.4f", preference, pairs, m, d, used)
				}
			}
		}
	}
}
