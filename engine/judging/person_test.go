package judging

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
)

// labelled returns the label of the candidate whose answer has a text.
func labelled(f *echo.Form, text string) string {
	for _, x := range f.Choose.Candidates {
		if strings.Contains(x.Text, text) {
			return x.Label
		}
	}
	panic("no candidate has " + text)
}

func answers(value any) *echo.Answer {
	return &echo.Answer{Value: value, By: "ada", Via: echo.ViaCommand, At: began}
}

// picks is a person who picks the answer that has a text.
func picks(text string) func(*echo.Form) *echo.Answer {
	return func(f *echo.Form) *echo.Answer {
		return answers(map[string]any{"winner": labelled(f, text), "why": "It is " + text + "."})
	}
}

func nobodyJudges(paper) (string, error) { panic("no model is to be asked") }

var byHuman = &soundings.Soundings{Evaluator: soundings.ByHuman}

// A person sees the answers under labels that say nothing, and no model is asked.
func TestPersonPicks(t *testing.T) {
	t.Parallel()
	b := setup(t, nobodyJudges)
	b.person = picks("blue")
	c, err := b.choose(byHuman, sea...)
	require.NoError(t, err)
	require.Equal(t, echo.ChoicePerson, c.How)
	require.Equal(t, 2, c.Winner)
	require.False(t, c.Tie)
	require.Equal(t, "1 lost, 2 won, 3 lost", states(c))
	require.Zero(t, *c.CostUSD)
	require.Equal(t, []string{"A", "B", "C"}, c.Person.Labels)
	require.ElementsMatch(t, []int{1, 2, 3}, c.Person.Order)
	require.Equal(t, c.Person.Labels[slices.Index(c.Person.Order, 2)], c.Person.Said)
	require.Equal(t, []any{"It is blue.", "ada", echo.ViaCommand, began}, []any{c.Person.Why, c.Person.By, c.Person.Via, c.Person.At})

	keys, waits := recorded[echo.Wait](t, b)
	require.Equal(t, []string{"p/choice/wait"}, keys)
	w := waits[0]
	require.Equal(t, echo.WaitChoice, w.Kind)
	require.Zero(t, w.Timeout)
	require.Empty(t, w.Expiry)
	require.Equal(t, "Which answer is the best one?", w.Form.Question)
	require.Equal(t, "What was asked for:\nWrite a line about the sea.", w.Form.Context)
	require.Equal(t, echo.ChooseOne, w.Form.Choose.Mode)
	require.Equal(t, []any{"side_by_side", false, true, false}, []any{w.Form.Choose.Present, w.Form.Choose.Tie, w.Form.Choose.Reject, w.Form.Choose.Reason})
	for i, x := range w.Form.Choose.Candidates {
		require.Equal(t, sea[c.Person.Order[i]-1].Text, x.Text)
		require.Empty(t, x.Note, "what it cost, its model and its number are not shown")
	}
}

// The order is another one for another seed, and the same in a replay, which choose holds.
func TestPersonSeesAnyOrder(t *testing.T) {
	t.Parallel()
	firsts := map[int]int{}
	for i := range 60 {
		b := setup(t, nobodyJudges)
		b.seed = fmt.Sprintf("session %d", i)
		b.person = picks("wet")
		c, err := b.choose(byHuman, sea...)
		require.NoError(t, err)
		require.Equal(t, 1, c.Winner)
		firsts[c.Person.Order[0]]++
	}
	for n := 1; n <= 3; n++ {
		require.Greater(t, firsts[n], 8, "%v", firsts)
	}
}

// Without an answer the run waits, and asks once. With it, it goes on there.
func TestPersonIsAwaited(t *testing.T) {
	t.Parallel()
	b := setup(t, nobodyJudges)
	_, err := b.choose(byHuman, sea...)
	var waits *effect.WaitingError
	require.ErrorAs(t, err, &waits)
	require.EqualError(t, err, "it waits for a choice among candidates")
	b.person = picks("deep")
	c, err := b.resume(asRead(t, b.entries), Question{Settings: byHuman, Entrants: sea})
	require.NoError(t, err)
	require.Equal(t, 3, c.Winner)
	keys, _ := recorded[echo.Wait](t, b)
	require.Len(t, keys, 1)
}

// Identical answers are shown once; failed and rejected ones are not, unless all are rejected.
func TestPersonSeesWhatCounts(t *testing.T) {
	t.Parallel()
	b := setup(t, nobodyJudges)
	b.person = picks("wet")
	list := entrants("wet", "blue", "wet", "deep", "bad")
	list[3].Text, list[3].Failed = "", "no model"
	list[4].Rejected = "too short"
	c, err := b.choose(byHuman, list...)
	require.NoError(t, err)
	require.Equal(t, "1 won, 2 lost, 3 same, 4 failed, 5 rejected", states(c))
	_, waits := recorded[echo.Wait](t, b)
	require.Len(t, waits[0].Form.Choose.Candidates, 2)

	for i := range list {
		list[i].Failed, list[i].Rejected = "", "too short"
	}
	b.person = picks("bad")
	c, err = b.choose(byHuman, list...)
	require.NoError(t, err)
	require.Equal(t, 5, c.Winner)

	b.person = func(*echo.Form) *echo.Answer { panic("there is nothing to choose") }
	c, err = b.choose(byHuman, entrants("a", "a")...)
	require.NoError(t, err)
	require.Equal(t, echo.ChoiceSame, c.How)
	require.Nil(t, c.Person)
}

func TestPersonRanksAndRates(t *testing.T) {
	t.Parallel()
	human := func(mode soundings.SelectionMode) *soundings.Soundings {
		return &soundings.Soundings{Evaluator: soundings.ByHuman, HumanEval: &soundings.HumanEval{SelectionMode: mode}}
	}
	b := setup(t, nobodyJudges)
	b.person = func(f *echo.Form) *echo.Answer {
		return answers(map[string]any{"ranking": []any{labelled(f, "deep"), labelled(f, "wet"), labelled(f, "blue")}})
	}
	c, err := b.choose(human(soundings.RankAll), sea...)
	require.NoError(t, err)
	require.Equal(t, []any{3, echo.ChoicePerson, false, ""}, []any{c.Winner, c.How, c.Tie, c.Person.Said})
	require.Equal(t, []int{2, 3, 1}, []int{c.Standings[0].Rank, c.Standings[1].Rank, c.Standings[2].Rank})

	rates := func(wet, blue, deep any) func(f *echo.Form) *echo.Answer {
		return func(f *echo.Form) *echo.Answer {
			value, err := waiting.Check(f, map[string]any{"ratings": map[string]any{labelled(f, "wet"): wet, labelled(f, "blue"): blue, labelled(f, "deep"): deep}})
			require.NoError(t, err)
			return answers(value)
		}
	}
	b.person = rates(2, 5, "3")
	c, err = b.choose(human(soundings.RateEach), sea...)
	require.NoError(t, err)
	require.Equal(t, []any{2, echo.ChoicePerson, false}, []any{c.Winner, c.How, c.Tie})
	require.Equal(t, []int{2, 5, 3}, []int{c.Standings[0].Rating, c.Standings[1].Rating, c.Standings[2].Rating})

	b.person = rates(2, 4, 4)
	c, err = b.choose(human(soundings.RateEach), sea...)
	require.NoError(t, err)
	require.Equal(t, []any{2, echo.ChoiceCheapest, true}, []any{c.Winner, c.How, c.Tie}, "the cheaper one of the best")
}

func TestPersonTiesAndRejects(t *testing.T) {
	t.Parallel()
	say := func(word, why string) func(*echo.Form) *echo.Answer {
		return func(*echo.Form) *echo.Answer { return answers(map[string]any{"winner": word, "why": why}) }
	}
	b := setup(t, nobodyJudges)
	b.person = say("tie", "both")
	for onTie, how := range map[soundings.OnTie]echo.ChoiceHow{"": echo.ChoiceCheapest, soundings.TieFirst: echo.ChoiceFirst, soundings.TieHuman: echo.ChoiceCheapest} {
		c, err := b.choose(&soundings.Soundings{Evaluator: soundings.ByHuman, OnTie: onTie, HumanEval: &soundings.HumanEval{AllowTie: true}}, sea...)
		require.NoError(t, err)
		require.Equal(t, []any{1, how, true, "tie"}, []any{c.Winner, c.How, c.Tie, c.Person.Said})
	}

	for why, want := range map[string]string{
		"All are too long.": "ada has rejected all 3 candidates: All are too long.",
		"no":                "ada has rejected all 3 candidates: no",
	} {
		b.person = say("none", why)
		_, err := b.choose(byHuman, sea...)
		var rejected *RejectedError
		require.ErrorAs(t, err, &rejected)
		require.EqualError(t, err, want)
		_, choices := recorded[echo.Choice](t, b)
		require.Equal(t, []any{-1, echo.ChoiceNone, "none"}, []any{choices[0].Winner, choices[0].How, choices[0].Person.Said})
		require.Equal(t, "1 lost, 2 lost, 3 lost", states(&choices[0]))
		_, err = b.resume(asRead(t, b.entries), Question{Settings: byHuman, Entrants: sea})
		require.EqualError(t, err, want, "the same when it is resumed")
	}
	require.EqualError(t, &RejectedError{Candidates: 2}, "a person has rejected all 2 candidates, and gave no reason")

	_, err := b.choose(&soundings.Soundings{Evaluator: soundings.ByHuman, HumanEval: &soundings.HumanEval{AllowRejectAll: new(false)}}, sea...)
	require.EqualError(t, err, `read what ada has chosen: the answer is {"winner": "..."} with one of A, B, C`)
}

// Nobody chooses in time: what follows is what the file says, and the choice says that nobody has.
func TestPersonIsLate(t *testing.T) {
	t.Parallel()
	human := func(on soundings.OnTimeout) *soundings.Soundings {
		return &soundings.Soundings{Evaluator: soundings.ByHuman, HumanEval: &soundings.HumanEval{TimeoutSeconds: 60, OnTimeout: on}}
	}
	b := setup(t, names("deep"))
	for _, on := range []soundings.OnTimeout{"", soundings.LLMFallback} {
		c, err := b.choose(human(on), sea...)
		require.NoError(t, err)
		require.Equal(t, []any{3, echo.ChoiceVotes, true, echo.ViaClock}, []any{c.Winner, c.How, c.Person.TimedOut, c.Person.Via})
		require.Positive(t, c.Pairs)
		_, waits := recorded[echo.Wait](t, b)
		require.Equal(t, echo.TimeoutModel, waits[0].Expiry)
		require.InDelta(t, 60, waits[0].Timeout, 0)
	}
	b.judge = nobodyJudges
	c, err := b.choose(human(soundings.FallToFirst), sea...)
	require.NoError(t, err)
	require.Equal(t, []any{1, echo.ChoiceFirst, false}, []any{c.Winner, c.How, c.Tie})
	_, err = b.choose(human(soundings.AbortTimeout), sea...)
	require.EqualError(t, err, "nobody has chosen a candidate within 60 seconds, and on_timeout is abort")
}

// The model leaves some to a person, who has the last word.
func TestHybrid(t *testing.T) {
	t.Parallel()
	four := entrants("The sea is wet.", "The sea is blue.", "The sea is deep.", "The sea is big.")
	calls := 0
	b := setup(t, func(p paper) (string, error) { // blue and deep get votes
		calls++
		return verdict(p.label([]string{"blue", "deep"}[(calls-1)/2%2])), nil
	})
	b.person = picks("deep")
	c, err := b.choose(&soundings.Soundings{Evaluator: soundings.ByHybrid}, four...)
	require.NoError(t, err)
	require.Equal(t, []any{3, echo.ChoicePerson, false}, []any{c.Winner, c.How, c.Tie})
	require.ElementsMatch(t, []int{2, 3}, c.Person.Order, "two are left by default")
	require.Positive(t, c.Pairs)
	require.Positive(t, *c.CostUSD)

	b.judge, b.person = names("big"), picks("wet")
	c, err = b.choose(&soundings.Soundings{Evaluator: soundings.ByHybrid, Prefilter: 3}, four...)
	require.NoError(t, err)
	require.ElementsMatch(t, []int{1, 2, 4}, c.Person.Order, "the winner, and of those without votes the cheapest")
	require.Equal(t, 1, c.Winner)

	b.person = nil // nobody in time: the model has decided
	c, err = b.choose(&soundings.Soundings{Evaluator: soundings.ByHybrid, HumanEval: &soundings.HumanEval{TimeoutSeconds: 1}}, four...)
	require.NoError(t, err)
	require.Equal(t, []any{4, echo.ChoiceVotes}, []any{c.Winner, c.How})

	b.judge, b.person = nobodyJudges, picks("blue")
	c, err = b.choose(&soundings.Soundings{Evaluator: soundings.ByHybrid, Prefilter: 4}, four...)
	require.NoError(t, err)
	require.Equal(t, 2, c.Winner, "all are left to the person, so no model is asked")
}

// A person decides a tie among those that are not beaten.
func TestPersonDecidesATie(t *testing.T) {
	t.Parallel()
	calls := 0
	b := setup(t, func(p paper) (string, error) {
		calls++
		return verdict(p.label([]string{"blue", "deep"}[(calls-1)/2%2])), nil
	})
	b.person = picks("deep")
	s := &soundings.Soundings{OnTie: soundings.TieHuman}
	c, err := b.choose(s, sea...)
	require.NoError(t, err)
	require.Equal(t, []any{3, echo.ChoicePerson, false}, []any{c.Winner, c.How, c.Tie})
	require.ElementsMatch(t, []int{2, 3}, c.Person.Order)
	_, waits := recorded[echo.Wait](t, b)
	require.Len(t, waits, 1)

	b.judge, b.person = names("blue"), func(*echo.Form) *echo.Answer { panic("there is a winner") }
	c, err = b.choose(s, sea...)
	require.NoError(t, err)
	require.Equal(t, echo.ChoiceVotes, c.How)

	b.judge, b.person = says(verdict(tie)), nil
	c, err = b.choose(&soundings.Soundings{OnTie: soundings.TieHuman, HumanEval: &soundings.HumanEval{TimeoutSeconds: 1}}, sea...)
	require.NoError(t, err)
	require.Equal(t, []any{1, echo.ChoiceCheapest, true, true}, []any{c.Winner, c.How, c.Tie, c.Person.TimedOut})
}

// Where candidates may still be added nobody is asked: a person settles the last tie.
func TestPersonSettlesAnOpenTie(t *testing.T) {
	t.Parallel()
	b := setup(t, says(verdict(tie)))
	b.person = picks("deep")
	q := Question{Settings: &soundings.Soundings{OnTie: soundings.TieHuman}, Entrants: sea, Open: true, Rounds: 2, Task: "Write a line."}
	c, err := b.ask(q)
	require.NoError(t, err)
	require.True(t, c.Tie)
	require.Nil(t, c.Person)
	q.Key, q.Seed = b.place.Key, b.seed
	b.begin(asRead(t, b.entries), echo.ContinueLog("s1", uint64(len(b.entries)), nil, nil, sink{b}))
	_, err = Choose(t.Context(), b, q)
	require.NoError(t, err)
	kept, err := Settle(t.Context(), b, &q, c)
	require.NoError(t, err)
	require.Equal(t, []any{3, echo.ChoicePerson, false}, []any{kept.Winner, kept.How, kept.Tie})
	require.Equal(t, "1 lost, 2 lost, 3 won", states(kept))
}

// A person chooses on the frontier, and sees quality and cost.
func TestPersonOnTheFrontier(t *testing.T) {
	t.Parallel()
	points := map[string]int{"wet": 3, "blue": 9, "deep": 5}
	b := setup(t, func(p paper) (string, error) {
		for text, n := range points {
			if strings.Contains(p.texts[0], text) {
				return fmt.Sprintf(`{"score": %d}`, n), nil
			}
		}
		return "", errors.New("another text")
	})
	b.person = picks("wet")
	s := &soundings.Soundings{Pareto: &soundings.Pareto{Policy: soundings.Interactive, ShowFrontier: true}}
	c, err := b.choose(s, sea...)
	require.NoError(t, err)
	require.Equal(t, []any{1, echo.ChoicePerson}, []any{c.Winner, c.How})
	require.Equal(t, "1 won, 2 lost, 3 dominated", states(c))
	_, waits := recorded[echo.Wait](t, b)
	notes := map[string]string{}
	for _, x := range waits[0].Form.Choose.Candidates {
		notes[x.Text] = x.Note
	}
	require.Equal(t, map[string]string{sea[0].Text: "quality 0.30, $0.0010", sea[1].Text: "quality 0.90, $0.0020"}, notes)

	b.person = nil
	c, err = b.choose(&soundings.Soundings{Pareto: s.Pareto, HumanEval: &soundings.HumanEval{TimeoutSeconds: 1}}, sea...)
	require.NoError(t, err)
	require.Equal(t, echo.ChoicePareto, c.How, "nobody in time: the nearest to the best for nothing")
}

// What a person is shown is what the file says; the instructions for judges are the question.
func TestWhatAPersonSees(t *testing.T) {
	t.Parallel()
	b := setup(t, nobodyJudges)
	b.person = picks("wet")
	list := slices.Clone(sea)
	list[0].Mutation = &echo.Mutation{Mode: "approach", Entry: "Be short."}
	list[2].CostUSD = nil
	s := &soundings.Soundings{
		Evaluator: soundings.ByHuman, EvaluatorInstructions: "Which one sells?",
		HumanEval: &soundings.HumanEval{ShowMetadata: true, ShowMutations: true, Presentation: soundings.Diff},
	}
	_, err := b.choose(s, list...)
	require.NoError(t, err)
	_, waits := recorded[echo.Wait](t, b)
	f := waits[0].Form
	require.Equal(t, "Which one sells?", f.Question)
	require.Equal(t, "diff", f.Choose.Present)
	notes := map[string]string{}
	for _, x := range f.Choose.Candidates {
		notes[x.Text] = x.Note
	}
	require.Equal(t, map[string]string{
		sea[0].Text: "model model-1, $0.0010, 10 tokens, approach: Be short.", sea[1].Text: "model model-2, $0.0020, 20 tokens",
		sea[2].Text: "model model-3, cost not known, 30 tokens",
	}, notes)
}

// In a step of refinement a person compares the best answer so far with the candidates, and cannot reject all.
func TestPersonInAStep(t *testing.T) {
	t.Parallel()
	b := setup(t, nobodyJudges)
	b.person = picks("blue")
	list := slices.Clone(sea)
	list[1].Number = 0
	s := &soundings.Soundings{Evaluator: soundings.ByHuman, Reforge: &soundings.Reforge{EvaluatorOverride: "Which one is shorter?"}}
	c, err := b.ask(Question{Settings: s, Entrants: list, Step: 1})
	require.NoError(t, err)
	require.Equal(t, []any{0, echo.ChoicePerson}, []any{c.Winner, c.How})
	_, waits := recorded[echo.Wait](t, b)
	require.Equal(t, "Which one is shorter?", waits[0].Form.Question)
	require.False(t, waits[0].Form.Choose.Reject)
}

// Sixty-four candidates have labels, too; what they say is in the record whole.
func TestPersonAmongMany(t *testing.T) {
	t.Parallel()
	texts := make([]string, soundings.MaxFactor)
	for i := range texts {
		texts[i] = fmt.Sprintf("%s number %d.", strings.Repeat("long ", 5000), i)
	}
	texts[63] += strings.Join(hostile, "\n")
	b := setup(t, nobodyJudges)
	b.person = picks("number 63.")
	c, err := b.choose(byHuman, entrants(texts...)...)
	require.NoError(t, err)
	require.Equal(t, 64, c.Winner)
	require.Equal(t, []string{"A", "Z", "AA", "BL"}, []string{c.Person.Labels[0], c.Person.Labels[25], c.Person.Labels[26], c.Person.Labels[63]})
	_, waits := recorded[echo.Wait](t, b)
	for i, x := range waits[0].Form.Choose.Candidates {
		require.Equal(t, whole(texts[c.Person.Order[i]-1]), x.Text)
	}
}
