// Package chosen says in words what choices among candidates came to.
package chosen

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Line says what one choice came to: "3 candidates (1 failed), 2 kept by votes, judging $0.01".
func Line(c *echo.Choice) string {
	return joined(tried(c), kept(c), judging(c))
}

// Sum says what the choices of one sounding came to, given in their order: the first one, then those of
// its refinement. It is "" for none.
func Sum(choices []echo.Choice) string {
	if len(choices) == 0 {
		return ""
	}
	if len(choices) == 1 {
		return Line(&choices[0])
	}
	first, all := choices[0], choices[0]
	steps, better := 0, "none better"
	for i := range choices[1:] {
		c := &choices[i+1]
		all.CostUSD = plus(all.CostUSD, c.CostUSD)
		if c.How != echo.ChoiceOnly && c.How != echo.ChoiceSame {
			all.How = c.How
		}
		steps++
		if c.Winner > 0 {
			better = fmt.Sprintf("candidate %d of step %d kept %s", c.Winner, c.Step, How(c))
		}
	}
	return joined(tried(&first), kept(&first), quantity.Of(steps, "step")+" of refinement: "+better, judging(&all))
}

// Frontiers says of each choice that shows its frontier who is on it and who is dominated by whom, with quality
// and cost: "1 (0.85, $0.0200), kept; 3 (0.70, $0.0100); dominated: 2 (0.60, $0.0300) by 1".
func Frontiers(choices []echo.Choice) []string {
	var out []string
	for i := range choices {
		if c := &choices[i]; len(c.Frontier) > 0 {
			step := ""
			if c.Step > 0 {
				step = fmt.Sprintf("step %d: ", c.Step)
			}
			out = append(out, step+Frontier(c))
		}
	}
	return out
}

// Frontier is [Frontiers] for one choice, "" where it does not show its frontier.
func Frontier(c *echo.Choice) string {
	var on, off []string
	for i := range c.Frontier {
		p := &c.Frontier[i]
		cost := "cost not known"
		if p.WeighedUSD != nil {
			cost = quantity.USD(*p.WeighedUSD)
		}
		text := fmt.Sprintf("%d (%.2f, %s)", p.Number, p.Quality, cost)
		switch {
		case p.Number == c.Winner:
			on = append(on, text+", kept")
		case len(p.DominatedBy) == 0:
			on = append(on, text)
		default:
			off = append(off, text+" by "+numbers(p.DominatedBy))
		}
	}
	if len(off) > 0 {
		on = append(on, "dominated: "+strings.Join(off, ", "))
	}
	return strings.Join(on, "; ")
}

// numbers joins numbers: "1", "1 and 3", "1, 2 and 3".
func numbers(list []int) string {
	text := ""
	for i, n := range list {
		switch i {
		case 0:
		case len(list) - 1:
			text += " and "
		default:
			text += ", "
		}
		text += strconv.Itoa(n)
	}
	return text
}

// How says why a candidate is kept: "by votes".
func How(c *echo.Choice) string {
	if p := c.Person; p != nil && c.How != echo.ChoicePerson && c.How != echo.ChoiceNone {
		return byRule(c) + whyNotBy(p)
	}
	return byRule(c)
}

// whyNotBy says why something else than a person decided who was asked.
func whyNotBy(p *echo.Chooser) string {
	if p.TimedOut {
		return ", as nobody chose in time"
	}
	return ", as " + By(p) + " found"
}

// By names the person who has chosen.
func By(p *echo.Chooser) string {
	if p == nil || strings.TrimSpace(p.By) == "" {
		return "a person"
	}
	return oneline.Cut(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, p.By), mostBy)
}

// mostBy is how much is shown of who has chosen.
const mostBy = 60

// byRule says what decided.
func byRule(c *echo.Choice) string {
	switch c.How {
	case echo.ChoiceOnly:
		return "as the only one left"
	case echo.ChoiceSame:
		return "as all answers are the same"
	case echo.ChoiceVotes:
		return "by votes"
	case echo.ChoiceCheapest:
		return "as the cheapest of a tie"
	case echo.ChoiceFirst:
		if !c.Tie && c.Person != nil {
			return "as the first"
		}
		return "as the first of a tie"
	case echo.ChoiceUnpriced:
		return "as the first of a tie, as no cost is known"
	case echo.ChoiceCost:
		return "by quality and cost"
	case echo.ChoicePareto:
		return "from the frontier of quality and cost"
	case echo.ChoiceAggregate:
		return "by the aggregator"
	case echo.ChoicePerson, echo.ChoiceNone:
		return "by " + By(c.Person)
	}
	return "by " + string(c.How)
}

// tried counts the candidates, without the best answer of the steps before.
func tried(c *echo.Choice) string {
	n, failed, rejected := 0, 0, 0
	for _, s := range c.Standings {
		switch {
		case s.Number == 0:
			continue
		case s.State == echo.CandidateFailed:
			failed++
		case s.State == echo.CandidateRejected:
			rejected++
		}
		n++
	}
	text := quantity.Of(n, "candidate")
	var out []string
	if failed > 0 {
		out = append(out, fmt.Sprintf("%d failed", failed))
	}
	if rejected > 0 {
		out = append(out, fmt.Sprintf("%d rejected", rejected))
	}
	if len(out) > 0 {
		text += " (" + strings.Join(out, ", ") + ")"
	}
	return text
}

func kept(c *echo.Choice) string {
	switch {
	case c.How == echo.ChoiceNone:
		return "all rejected " + How(c)
	case c.Winner < 0:
		return "one answer written from them"
	case c.Winner == 0 && c.Tie:
		return "a tie: the best so far stays"
	case c.Winner == 0:
		return "the best so far stays " + How(c)
	}
	return fmt.Sprintf("%d kept %s", c.Winner, How(c))
}

// judging says what the judges cost, "" where none was asked.
func judging(c *echo.Choice) string {
	what := "judging "
	switch c.How {
	case echo.ChoiceOnly, echo.ChoiceSame:
		return ""
	case echo.ChoiceAggregate:
		what = "writing it "
		if c.CostUSD != nil && *c.CostUSD == 0 {
			return "" // they were joined
		}
	default:
		if c.Person != nil && c.Pairs == 0 && c.CostUSD != nil && *c.CostUSD == 0 {
			return "" // no model has judged
		}
	}
	if c.CostUSD == nil {
		return what + "at a cost that is not known"
	}
	return what + quantity.USD(*c.CostUSD)
}

// plus adds costs, of which nil is not known.
func plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

func joined(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ", ")
}
