package chosen

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/quantity"
)

// State says what became of a candidate, and what a person has said of it.
func State(s *echo.Standing) string {
	switch {
	case s.Rank > 0:
		return fmt.Sprintf("%s, rank %d", stateText(s), s.Rank)
	case s.Rating > 0:
		return fmt.Sprintf("%s, rated %d", stateText(s), s.Rating)
	}
	return stateText(s)
}

func stateText(s *echo.Standing) string {
	if s.SameAs > 0 && s.State == echo.CandidateSame {
		return fmt.Sprintf("same as %d", s.SameAs)
	}
	if s.Copies > 1 {
		return fmt.Sprintf("%s, %d copies", s.State, s.Copies)
	}
	return string(s.State)
}

// Shown is the order in which a judge was shown candidates.
func Shown(b *echo.Ballot) string {
	if b == nil {
		return ""
	}
	order := make([]string, len(b.Order))
	for i, n := range b.Order {
		order[i] = strconv.Itoa(n)
	}
	return strings.Join(order, " ")
}

// Named is the candidate that a ballot names, nil for one that was not held.
func Named(b *echo.Ballot) string {
	switch {
	case b == nil:
		return "not held"
	case b.Winner != nil:
		return strconv.Itoa(*b.Winner)
	case b.Problem != "":
		return "no verdict"
	}
	return "tie"
}

// Why says which candidate is kept, and why, in more words than [Line].
func Why(c *echo.Choice) string {
	which := fmt.Sprintf("candidate %d", c.Winner)
	switch {
	case c.Winner == 0:
		which = "the best answer of the steps before"
	case c.How == echo.ChoiceNone:
		return "none, as " + By(c.Person) + " has rejected all"
	case c.Winner < 0:
		which = "one answer that was written from all"
	}
	return which + ", " + whyHow(c)
}

var howTexts = map[echo.ChoiceHow]string{
	echo.ChoiceOnly: "the only one that was left to choose from", echo.ChoiceSame: "as all answers are the same", echo.ChoiceAggregate: "by the aggregator",
	echo.ChoiceCost: "by quality and cost together", echo.ChoicePareto: "by the policy of the frontier of quality and cost",
}

// tieTexts say which one of a tie is taken.
var tieTexts = map[echo.ChoiceHow]string{
	echo.ChoiceCheapest: "the cheapest is taken", echo.ChoiceFirst: "the first is taken", echo.ChoiceUnpriced: "the first is taken, as no cost is known",
}

// whyHow is [How] with the evidence.
func whyHow(c *echo.Choice) string {
	switch {
	case c.How == echo.ChoicePerson:
		return "chosen by " + By(c.Person)
	case c.Person != nil && !c.Person.TimedOut:
		return fmt.Sprintf("a tie in the words of %s, of which %s", By(c.Person), tieTexts[c.How])
	case c.How == echo.ChoiceFirst && !c.Tie:
		return "the first, as nobody has chosen in time"
	}
	if text, ok := howTexts[c.How]; ok {
		return text
	}
	if c.Tie && c.Pairs == 0 {
		return "as no answer got points, and of a tie " + tieTexts[c.How]
	}
	held := quantity.Of(c.Pairs, "pair") + " of ballots" // how many of them were flipped, the judge's own line says
	needed := cmp.Or(c.Needed, 1/(1-c.Confidence))
	if c.Tie {
		reason := fmt.Sprintf("the evidence is %s and %s was needed for confidence %g", number(c.EValue), number(needed), c.Confidence)
		if c.EValue >= needed {
			reason += ", but it does not tell the best from each other one"
		}
		return fmt.Sprintf("a tie, of which %s: %s, after %s", tieTexts[c.How], reason, held)
	}
	return fmt.Sprintf("by votes: the evidence is %s, %s was needed for confidence %g, after %s", number(c.EValue), number(needed), c.Confidence, held)
}

// Person says what a person has said of candidates: who, what and when.
func Person(p *echo.Chooser) string {
	at := p.At.UTC().Format("2006-01-02 15:04:05 UTC")
	if p.TimedOut {
		return "nobody has chosen until " + at
	}
	return fmt.Sprintf("%s by %s at %s: %s", By(p), p.Via, at, saidBy(p))
}

// saidBy is what a person has said, with the numbers of the candidates.
func saidBy(p *echo.Chooser) string {
	at := slices.Index(p.Labels, p.Said)
	switch {
	case at >= 0 && at < len(p.Order):
		return fmt.Sprintf("%s of %s, candidate %d", p.Said, quantity.Of(len(p.Order), "answer"), p.Order[at])
	case p.Said != "":
		return fmt.Sprintf("%s of %s", p.Said, quantity.Of(len(p.Order), "answer"))
	}
	return quantity.Of(len(p.Order), "answer") + " in order, or rated"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// Room says why no candidate was added. count writes a number.
func Room(r *echo.Room, count func(int64) string) string {
	text := "no candidate was added, as the budget does not cover one more and its judging: "
	switch {
	case r.Unknown:
		return text + "what some calls cost is not known"
	case r.NeededUSD > r.LeftUSD:
		return text + fmt.Sprintf("%s by the estimate, and %s is left", quantity.USD(r.NeededUSD), quantity.USD(r.LeftUSD))
	}
	return text + fmt.Sprintf("%s tokens by the estimate, and %s are left", count(r.NeededTokens), count(r.LeftTokens))
}

// Saved says what candidates saved that shared the beginning of their first requests. count writes a number.
func Saved(x *echo.Prefix, count func(int64) string) string {
	saved := "what that saved is not known"
	if x.SavedUSD != nil {
		saved = "which saved " + quantity.USD(*x.SavedUSD)
	}
	return fmt.Sprintf("%s tokens are shared: %s waited for the first answer to begin, and %s tokens came from the cache, %s",
		count(x.Shared), quantity.Of(x.Waited, "candidate"), count(x.Cached), saved)
}
