package judging

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/election"
)

var sea = entrants("The sea is wet.", "The sea is blue.", "The sea is deep.")

func TestChooseByVotes(t *testing.T) {
	t.Parallel()
	b := setup(t, names("blue"))
	c, err := b.choose(&soundings.Soundings{}, sea...)
	require.NoError(t, err)
	require.Equal(t, echo.ChoiceVotes, c.How)
	require.Equal(t, 2, c.Winner)
	require.False(t, c.Tie)
	require.InDelta(t, 0.9, c.Confidence, 0)
	require.GreaterOrEqual(t, c.EValue, 10.0)
	require.Zero(t, c.Flipped)
	require.InDelta(t, callCost*2*float64(c.Pairs), *c.CostUSD, 1e-9)
	require.Equal(t, "1 lost, 2 won, 3 lost", states(c))
	require.Equal(t, echo.Standing{
		Number: 2, State: echo.CandidateWon, Copies: 1, Votes: c.Pairs, EValue: c.Standings[1].EValue, Quality: new(1.0),
		CostUSD: new(0.002), Tokens: 20, Hash: sea[1].Hash,
	}, c.Standings[1])

	keys, ballots := recorded[echo.Ballot](t, b)
	require.Len(t, ballots, 2*c.Pairs)
	require.Equal(t, []string{"p/ballot1", "p/ballot2"}, keys[:2])
	first, second := ballots[0], ballots[1]
	require.Equal(t, []int{1, 1}, []int{first.Pair, second.Pair})
	require.Equal(t, []bool{false, true}, []bool{first.Reverse, second.Reverse})
	require.Equal(t, []int{first.Order[2], first.Order[1], first.Order[0]}, second.Order)
	require.Nil(t, first.Vote)
	require.Empty(t, first.EValues)
	require.Equal(t, 2, *second.Vote)
	require.Len(t, second.EValues, 3)
	require.Equal(t, []string{"so it is", "m"}, []string{first.Why, first.Judge})
	require.InDelta(t, callCost, *first.CostUSD, 0)
	require.Equal(t, first.Labels[slices.Index(first.Order, 2)], first.Said)
	last := ballots[len(ballots)-1]
	require.InDelta(t, c.Standings[1].EValue, last.EValues[slices.Index(last.Order, 2)], 0)
	require.Nil(t, first.Evidence)
	require.Equal(t, &echo.Evidence{EValue: c.EValue, Needed: c.Needed}, last.Evidence, "what is shown of the election while it is held is what the choice has")
	keys, choices := recorded[echo.Choice](t, b)
	require.Equal(t, []string{"p/choice"}, keys)
	require.Equal(t, asJSON(c), asJSON(choices[0]))
	for _, e := range b.entries {
		if e.NodeType == echo.NodeModelCall {
			require.Equal(t, echo.PurposeJudge, e.Key.Purpose(), e.Key)
		}
	}
	require.Equal(t, echo.PurposeJudge, b.requests[0].Site.Purpose)
}

// What is decided without a judge costs nothing.
func TestChooseWithoutAJudge(t *testing.T) {
	t.Parallel()
	failed := func(e Entrant) Entrant { e.Text, e.Hash, e.Failed = "", "", "no model"; return e }
	rejected := func(e Entrant) Entrant { e.Rejected = "too short"; return e }
	same := entrants("a", "a", "a")
	for name, tc := range map[string]struct {
		entrants []Entrant
		how      echo.ChoiceHow
		winner   int
		states   string
	}{
		"one":                      {sea[:1], echo.ChoiceOnly, 1, "1 won"},
		"one left of failed ones":  {[]Entrant{failed(sea[0]), sea[1], failed(sea[2])}, echo.ChoiceOnly, 2, "1 failed, 2 won, 3 failed"},
		"one left of rejected":     {[]Entrant{rejected(sea[0]), rejected(sea[1]), sea[2]}, echo.ChoiceOnly, 3, "1 rejected, 2 rejected, 3 won"},
		"one left, it is rejected": {[]Entrant{failed(sea[0]), rejected(sea[1])}, echo.ChoiceOnly, 2, "1 failed, 2 won"},
		"all the same":             {same, echo.ChoiceSame, 1, "1 won, 2 same, 3 same"},
		"the same, one failed":     {[]Entrant{failed(same[0]), same[1], same[2]}, echo.ChoiceSame, 2, "1 failed, 2 won, 3 same"},
		"the same without a hash":  {[]Entrant{{Number: 1, Text: "x"}, {Number: 4, Text: "x"}}, echo.ChoiceSame, 1, "1 won, 4 same"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(paper) (string, error) { panic("nobody is to be asked") })
			c, err := b.choose(&soundings.Soundings{Pareto: &soundings.Pareto{}}, tc.entrants...)
			require.NoError(t, err)
			require.Equal(t, tc.how, c.How)
			require.Equal(t, tc.winner, c.Winner)
			require.Equal(t, tc.states, states(c))
			require.Zero(t, *c.CostUSD)
			require.Zero(t, c.Pairs)
			for i, s := range c.Standings {
				e := tc.entrants[i]
				require.Equal(t, e.Failed+e.Rejected, s.Why)
				if s.State == echo.CandidateSame {
					require.Equal(t, c.Winner, s.SameAs)
				}
			}
		})
	}
	b := setup(t, nil)
	_, err := b.choose(&soundings.Soundings{}, failed(sea[0]), failed(sea[1]))
	require.EqualError(t, err, "there is no candidate to choose from: all of them failed")
}

// Rejected ones are judged when there are no others, and keep what was said of them.
func TestChooseAmongRejected(t *testing.T) {
	t.Parallel()
	list := slices.Clone(sea)
	for i := range list {
		list[i].Rejected = "it has no rhyme"
	}
	b := setup(t, names("deep"))
	c, err := b.choose(&soundings.Soundings{}, list...)
	require.NoError(t, err)
	require.Equal(t, "1 lost, 2 lost, 3 won", states(c))
	require.Equal(t, "it has no rhyme", c.Standings[2].Why)
}

// Copies are judged as one, and weigh as many.
func TestChooseAmongCopies(t *testing.T) {
	t.Parallel()
	b := setup(t, names("blue"))
	c, err := b.choose(&soundings.Soundings{}, entrants("wet", "blue", "wet", "wet")...)
	require.NoError(t, err)
	require.Equal(t, "1 lost, 2 won, 3 same, 4 same", states(c))
	require.Equal(t, []int{3, 1, 0, 0}, []int{c.Standings[0].Copies, c.Standings[1].Copies, c.Standings[2].Copies, c.Standings[3].Copies})
	_, ballots := recorded[echo.Ballot](t, b)
	require.Len(t, ballots[0].Order, 2)
	other, err := b.choose(&soundings.Soundings{}, entrants("wet", "blue")...)
	require.NoError(t, err)
	require.Greater(t, c.Pairs, other.Pairs, "what most candidates say is harder to beat")
}

func TestTies(t *testing.T) {
	t.Parallel()
	unknown := slices.Clone(sea)
	for i := range unknown {
		unknown[i].CostUSD = nil
	}
	some := slices.Clone(sea)
	some[0].CostUSD = nil
	dear := slices.Clone(sea)
	dear[0].CostUSD, dear[2].CostUSD = new(9.0), new(0.0001)
	best := slices.Clone(sea)
	best[0].Number, best[0].CostUSD = 0, new(9.0)
	for name, tc := range map[string]struct {
		judge    judgeFunc
		entrants []Entrant
		onTie    soundings.OnTie
		step     int
		how      echo.ChoiceHow
		winner   int
		flipped  bool
	}{
		"cheapest by default":          {says(verdict(tie)), dear, "", 0, echo.ChoiceCheapest, 3, false},
		"cheapest":                     {namesFirst, dear, soundings.TieCheapest, 0, echo.ChoiceCheapest, 3, true},
		"first":                        {namesFirst, dear, soundings.TieFirst, 0, echo.ChoiceFirst, 1, true},
		"unknown counts as most":       {namesFirst, some, "", 0, echo.ChoiceCheapest, 2, true},
		"all unknown":                  {namesFirst, unknown, "", 0, echo.ChoiceUnpriced, 1, true},
		"all unknown, first":           {namesFirst, unknown, soundings.TieFirst, 0, echo.ChoiceFirst, 1, true},
		"a step keeps the best so far": {namesFirst, best, "", 1, echo.ChoiceFirst, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tc.judge)
			c, err := b.ask(Question{Settings: &soundings.Soundings{OnTie: tc.onTie}, Entrants: tc.entrants, Step: tc.step})
			require.NoError(t, err)
			require.True(t, c.Tie)
			require.Equal(t, tc.how, c.How)
			require.Equal(t, tc.winner, c.Winner)
			require.Equal(t, tc.step, c.Step)
			if tc.flipped {
				require.Equal(t, c.Pairs, c.Flipped, "a judge that always names the first one is a coin")
			} else {
				require.Zero(t, c.Flipped)
			}
			for _, s := range c.Standings {
				require.InDelta(t, 1.0/3, *s.Quality, 1e-5)
				require.Zero(t, s.Votes)
			}
		})
	}
}

// Only those that are not beaten can win a tie.
func TestTieAmongThoseNotBeaten(t *testing.T) {
	t.Parallel()
	calls := 0
	b := setup(t, func(p paper) (string, error) { // wet is cheapest, and never named
		calls++
		return verdict(p.label([]string{"blue", "deep"}[(calls-1)/2%2])), nil
	})
	c, err := b.choose(&soundings.Soundings{Ballots: &soundings.Ballots{Min: 1, Max: 12, Confidence: 0.9}}, sea...)
	require.NoError(t, err)
	require.True(t, c.Tie)
	require.Equal(t, 2, c.Winner)
	require.Equal(t, echo.ChoiceCheapest, c.How)
}

// A round of an adaptive phase that leaves a tie is not recorded, the next one continues with its figures, and the
// last word is.
func TestRounds(t *testing.T) {
	t.Parallel()
	b := setup(t, namesFirst)
	q := Question{Settings: adaptive(2, 3), Entrants: sea[:2], Rounds: 2, Open: true}
	first, err := b.ask(q)
	require.NoError(t, err)
	require.True(t, first.Tie)
	_, choices := recorded[echo.Choice](t, b)
	require.Empty(t, choices)
	held := len(b.requests)
	before := asRead(t, b.entries)

	b.judge = names("deep")
	q.Entrants, q.Before, q.Open, q.Prefix = sea, first, false, &echo.Prefix{Shared: 2000, Waited: 1}
	second, err := b.resume(nil, q)
	require.NoError(t, err)
	require.Equal(t, echo.ChoiceVotes, second.How)
	require.Equal(t, 3, second.Winner)
	require.Equal(t, first.Pairs, second.Flipped)
	require.Equal(t, len(b.requests), 2*second.Pairs)
	require.Equal(t, held, 2*first.Pairs)
	require.InDelta(t, callCost*float64(len(b.requests)), *second.CostUSD, 1e-9)
	require.Equal(t, q.Prefix, second.Prefix)
	keys, ballots := recorded[echo.Ballot](t, b)
	require.Equal(t, fmt.Sprintf("p/ballot%d", held+1), keys[0])
	require.Equal(t, first.Pairs+1, ballots[0].Pair)
	require.InDelta(t, 0.9, second.Confidence, 0)
	require.GreaterOrEqual(t, second.EValue, 40.0, "two rounds share the doubt")

	// No candidate is added after all: the tie is the choice.
	b.begin(before, echo.ContinueLog("s1", uint64(len(before)), nil, nil, sink{b}))
	q = Question{Key: echo.PhaseKey("p", 1), Seed: b.seed, Task: "Write a line about the sea.", Settings: q.Settings, Entrants: sea[:2], Rounds: 2, Open: true}
	again, err := Choose(t.Context(), b, q)
	require.NoError(t, err)
	b.entries = nil
	kept, err := Record(b, &q, again)
	require.NoError(t, err)
	require.Equal(t, again, kept)
	keys, _ = recorded[echo.Choice](t, b)
	require.Equal(t, []string{"p/choice"}, keys)
}

func adaptive(least, most int) *soundings.Soundings {
	return &soundings.Soundings{Adaptive: &soundings.Adaptive{Min: least, Max: most}}
}

// The doubt of all rounds together is what was asked for, and each can be decided.
func TestConfidenceOfRounds(t *testing.T) {
	t.Parallel()
	for _, rounds := range []int{1, 2, 4, 63} {
		q := Question{Settings: adaptive(2, 1+rounds), Rounds: rounds}
		doubt := 0.0
		for n := range rounds {
			q.Entrants = make([]Entrant, 2+n)
			c := q.confidence()
			doubt += 1 - c

			e := election.New("s", make([]election.Candidate, 2+n), election.Rules{Min: 1, Max: soundings.DefaultMaxPairs, Confidence: c, Alone: 0.9})
			require.LessOrEqual(t, len(e.Next()), 8, "round %d of %d can be decided", n+1, rounds)
			require.NotEmpty(t, e.Next(), "round %d of %d can be decided", n+1, rounds)
		}
		require.InDelta(t, 0.1, doubt, 1e-9, "%d rounds", rounds)
	}
	require.InDelta(t, 0.9, (&Question{Settings: &soundings.Soundings{}}).confidence(), 0)
}

// Judged anew in each of four rounds, equal candidates have a winner in at most one of ten phases, whatever places
// the judge prefers.
func TestRoundsKeepTheirPromise(t *testing.T) {
	t.Parallel()
	const phases = 200
	texts := []string{"a", "b", "c", "d", "e"}
	for name, prefers := range map[string]func(p paper, n int) int{
		"the first":    func(paper, int) int { return 0 },
		"often first":  func(p paper, n int) int { return n % len(p.labels) * min(n%2, 1) },
		"at random":    func(p paper, n int) int { return n % len(p.labels) },
		"not the last": func(p paper, n int) int { return n % (len(p.labels) - 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(p paper) (string, error) {
				n := 0
				for _, c := range p.labels[0] + p.labels[1] { // drawn for each ballot, so it is chance
					n = n*31 + int(c)
				}
				return verdict(p.labels[prefers(p, n/7)]), nil
			})
			won := 0
			for i := range phases {
				q := Question{Key: echo.PhaseKey("p", 1), Seed: fmt.Sprint(name, i), Settings: adaptive(2, 5), Rounds: 4}
				for k := 2; k <= 5; k++ {
					b.entries, b.requests = nil, nil
					b.begin(nil, echo.NewLog("s1", nil, nil, sink{b}))
					q.Entrants, q.Open = entrants(texts[:k]...), k < 5
					c, err := Choose(t.Context(), b, q)
					require.NoError(t, err)
					if !c.Tie {
						won++
						break
					}
					q.Before = c
				}
			}
			require.LessOrEqual(t, won, phases*164/1000, "a tenth, and three standard deviations")
		})
	}
}

// A choice that is cut off anywhere ends as it would have, and no ballot is paid twice.
func TestChoiceIsResumed(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*soundings.Soundings{
		"votes":  {},
		"pareto": {Pareto: &soundings.Pareto{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge := func(p paper) (string, error) {
				if s.Pareto != nil {
					return fmt.Sprintf(`{"score": %d}`, len(p.texts[0])%7), nil
				}
				return verdict(p.label("blue")), nil
			}
			b := setup(t, judge)
			b.facts = map[string]effect.ModelFacts{"m": {Window: 100_000}}
			q := Question{Settings: s, Entrants: sea}
			whole, err := b.ask(q)
			require.NoError(t, err)
			all, paid := asRead(t, b.entries), len(b.requests)
			for n := range all {
				b.requests = nil
				c, err := b.resume(all[:n:n], q)
				require.NoError(t, err, "after entry %d", n)
				require.Equal(t, asJSON(whole), asJSON(c))
				done := 0
				for _, e := range all[:n] {
					if e.NodeType == echo.NodeModelCall {
						done++
					}
				}
				require.Equal(t, paid, done+len(b.requests), "after entry %d", n)
				require.Len(t, b.entries, len(all))
			}
		})
	}
}

// A judge that cannot be reached ends the choice; the ballots that were paid stay.
func TestJudgeOutOfReach(t *testing.T) {
	t.Parallel()
	asked := 0
	b := setup(t, func(p paper) (string, error) {
		if asked++; asked == 3 {
			return "", &effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Message: "the server is down", Unpaid: true}
		}
		return verdict(p.label("blue")), nil
	})
	q := Question{Settings: &soundings.Soundings{}, Entrants: sea}
	_, err := b.ask(q)
	require.EqualError(t, err, "judge the candidates (ballot 3): model m: the server is down")
	var of *effect.ModelError
	require.ErrorAs(t, err, &of)
	_, ballots := recorded[echo.Ballot](t, b)
	require.Empty(t, ballots)
	done := slices.DeleteFunc(asRead(t, b.entries), func(e *echo.Entry) bool { return e.Error != nil }) // as resuming sets it aside
	paid := len(b.requests)
	b.requests = nil
	c, err := b.resume(done, q)
	require.NoError(t, err)
	require.Equal(t, 2*c.Pairs, paid+len(b.requests))
}

// The end of the budget between ballots stops the choice, which continues there.
func TestBudgetEndsBetweenBallots(t *testing.T) {
	t.Parallel()
	b := setup(t, names("blue"))
	b.budget = cascade.Budget{MaxTokens: 1100}
	q := Question{Settings: &soundings.Soundings{}, Entrants: sea}
	_, err := b.ask(q)
	var over *budget.Error
	require.ErrorAs(t, err, &over)
	require.NotEmpty(t, b.requests)
	paid := len(b.requests)
	b.budget, b.requests = cascade.Budget{}, nil
	c, err := b.resume(asRead(t, b.entries), q)
	require.NoError(t, err)
	require.NotEmpty(t, b.requests)
	require.Equal(t, 2*c.Pairs, paid+len(b.requests))
}

// In whatever order entrants and branches come, the choice is the same; other numbers change nothing but numbers.
func TestChoiceDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(16, 1))
	for trial := range 40 {
		k := 2 + rng.IntN(4)
		list := make([]Entrant, k)
		for i := range list {
			list[i] = entrant(i+1, fmt.Sprintf("answer %d", rng.IntN(4)))
			list[i].CostUSD = new(float64(rng.IntN(3)))
		}
		biased := func(p paper) (string, error) { // it prefers places, and a little the answer 2
			if label := p.label("answer 2"); label != "" && len(p.labels[0])%2 == 0 && p.labels[0] < "N" {
				return verdict(label), nil
			}
			return verdict(p.labels[0]), nil
		}
		s := &soundings.Soundings{}
		if trial%2 == 0 {
			s.CostAware = &soundings.CostAware{}
		}
		b := setup(t, biased)
		b.seed = fmt.Sprint("seed ", trial)
		want, err := b.choose(s, list...)
		require.NoError(t, err)
		b.order = rng.Perm
		shuffled := slices.Clone(list)
		rng.Shuffle(k, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		got, err := b.choose(s, shuffled...)
		require.NoError(t, err)
		require.Equal(t, asJSON(want), asJSON(got))

		// A judge that goes by what answers say chooses the same answer whatever their numbers are.
		b.judge = func(p paper) (string, error) {
			return verdict(p.labels[slices.Index(p.texts, slices.Max(p.texts))]), nil
		}
		want, err = b.choose(&soundings.Soundings{}, list...)
		require.NoError(t, err)
		for i := range shuffled {
			shuffled[i].Number = 10 + i
		}
		got, err = b.choose(&soundings.Soundings{}, shuffled...)
		require.NoError(t, err)
		require.Equal(t, want.How, got.How)
		require.Equal(t, list[want.Winner-1].Text, shuffled[got.Winner-10].Text)
	}
}

func TestCostOfTheJudging(t *testing.T) {
	t.Parallel()
	b := setup(t, names("blue"))
	c, err := b.choose(&soundings.Soundings{EvaluatorModel: "free"}, sea...)
	require.NoError(t, err)
	require.Nil(t, c.CostUSD, "the cost of a call is not known")
	_, ballots := recorded[echo.Ballot](t, b)
	require.Equal(t, "free", ballots[0].Judge)
	require.Nil(t, ballots[0].CostUSD)
	require.Equal(t, "free", b.requests[0].Model)
}

func TestErrorsOfInstructions(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.render = func(field, _ string, _ map[string]any) (string, error) {
		return "", errors.New(field + ": it is broken")
	}
	_, err := b.choose(&soundings.Soundings{EvaluatorInstructions: "{{ x"}, sea...)
	require.EqualError(t, err, "evaluator_instructions: it is broken")
	_, err = b.ask(Question{Step: 1, Entrants: sea, Settings: &soundings.Soundings{Reforge: &soundings.Reforge{EvaluatorOverride: "{{ y"}}})
	require.EqualError(t, err, "reforge.evaluator_override: it is broken")
	require.False(t, strings.Contains(asJSON(b.entries), "model_call"))
}
