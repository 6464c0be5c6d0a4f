package judging

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// field is who takes part in a choice.
type field struct {
	standings []echo.Standing // of all entrants, by number
	answers   []answer        // those to choose from, by number
	left      int             // entrants that have one of the answers
}

// answer is one text, and who gave it.
type answer struct {
	number int // of the first entrant that gave it
	text   string
	hash   string // of the text as it was written, whatever was redacted of it since
	copies int
	cost   float64 // the least that it cost; +Inf: not known
}

// errNobody ends a choice without candidates: the phase has failed before.
var errNobody = errors.New("there is no candidate to choose from: all of them failed")

// newField returns who takes part: all that did not fail and were not rejected; when all are rejected that did
// not fail, these. Those with the same answer take part as one.
func newField(entrants []Entrant) (*field, error) {
	entrants = slices.Clone(entrants)
	slices.SortFunc(entrants, func(a, b Entrant) int { return cmp.Compare(a.Number, b.Number) })
	f := &field{standings: make([]echo.Standing, len(entrants))}
	spare := !slices.ContainsFunc(entrants, func(e Entrant) bool { return e.Failed == "" && e.Rejected == "" })
	of := map[string]int{} // which answer has a content
	for i, e := range entrants {
		s := echo.Standing{
			Number: e.Number, State: echo.CandidateLost, Why: cmp.Or(e.Failed, e.Rejected),
			CostUSD: e.CostUSD, Tokens: e.Tokens, Hash: e.Hash,
		}
		switch {
		case e.Failed != "":
			s.State = echo.CandidateFailed
		case e.Rejected != "" && !spare:
			s.State = echo.CandidateRejected
		default:
			f.left++
			f.enter(&s, e, of)
		}
		f.standings[i] = s
	}
	for _, a := range f.answers {
		f.of(a.number).Copies = a.copies
	}
	if f.left == 0 {
		return nil, errNobody
	}
	return f, nil
}

// enter adds the answer of an entrant, or counts it as a copy of an earlier one.
func (f *field) enter(s *echo.Standing, e Entrant, of map[string]int) {
	content := "hash " + string(e.Hash)
	if e.Hash == "" {
		content = "text " + e.Text
	}
	at, known := of[content]
	if !known {
		of[content] = len(f.answers)
		f.answers = append(f.answers, answer{number: e.Number, text: whole(e.Text), hash: content, copies: 1, cost: e.weighed()})
		return
	}
	a := &f.answers[at]
	a.copies++
	a.cost = min(a.cost, e.weighed())
	s.State, s.SameAs = echo.CandidateSame, a.number
}

// weighed returns the cost by which the entrant is chosen; one that is not known is infinite.
func (e *Entrant) weighed() float64 { return known64(cmp.Or(e.Weighed, e.CostUSD)) }

// whole returns a text as a journal has it: each byte that is no UTF-8 is the character that stands for it.
func whole(text string) string { return string([]rune(text)) }

// known64 returns a cost; one that is not known counts as more than any other.
func known64(usd *float64) float64 {
	if usd == nil || math.IsNaN(*usd) {
		return math.Inf(1)
	}
	return *usd
}

// of returns the standing of a number.
func (f *field) of(number int) *echo.Standing {
	i := slices.IndexFunc(f.standings, func(s echo.Standing) bool { return s.Number == number })
	return &f.standings[i]
}

// won notes the winner of a choice.
func (f *field) won(c *echo.Choice) {
	if c.Winner >= 0 {
		f.of(c.Winner).State = echo.CandidateWon
	}
}

// notBeaten returns the answers with more than half as many votes as the one with most, as an election has it.
func (f *field) notBeaten() []answer {
	most := 0
	for _, a := range f.answers {
		most = max(most, f.of(a.number).Votes)
	}
	return slices.DeleteFunc(slices.Clone(f.answers), func(a answer) bool {
		votes := f.of(a.number).Votes
		return votes != most && 2*votes <= most
	})
}

// best returns the n best answers by what judges have said, by number; the winner is one of them.
func (f *field) best(n, winner int) []answer {
	list := slices.Clone(f.answers)
	slices.SortStableFunc(list, func(a, b answer) int {
		x, y := f.of(a.number), f.of(b.number)
		return cmp.Or(first(b.number == winner, a.number == winner), cmp.Compare(valued(y), valued(x)), cmp.Compare(y.Votes, x.Votes), cmp.Compare(a.cost, b.cost))
	})
	numbers := make([]int, 0, n)
	for _, a := range list[:n] {
		numbers = append(numbers, a.number)
	}
	return f.among(numbers)
}

// first compares what only one can be.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// valued returns the value of quality and cost together, 0 where there is none.
func valued(s *echo.Standing) float64 {
	if s.Value == nil {
		return 0
	}
	return *s.Value
}

// among returns the answers of some numbers, in order.
func (f *field) among(numbers []int) []answer {
	return slices.DeleteFunc(slices.Clone(f.answers), func(a answer) bool { return !slices.Contains(numbers, a.number) })
}

// cheapest returns the answer that cost least; of several the first.
func cheapest(answers []answer) answer {
	return slices.MinFunc(answers, func(a, b answer) int { return cmp.Compare(a.cost, b.cost) })
}
