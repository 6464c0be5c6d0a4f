// Package selected says in words what selections between phases came to.
package selected

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/phasecontext"
)

// Budget says what was taken of the budget, and of what was ranked and nothing fitted, why. count writes a number.
func Budget(s *echo.InterSelection, count func(int64) string) string {
	smallest := int64(-1)
	for i := range s.Scores {
		if c := &s.Scores[i]; c.Rank > 0 && (smallest < 0 || c.Tokens < smallest) {
			smallest = c.Tokens
		}
	}
	switch {
	case len(s.Chosen) == 0 && smallest >= 0 && s.Ending+smallest > s.Budget:
		return fmt.Sprintf("the smallest that was ranked takes %s tokens with the line before it, and the line behind what is chosen %s: more than the budget of %s",
			count(smallest), count(s.Ending), count(s.Budget))
	case len(s.Chosen) == 0 || s.Ending == 0:
		return fmt.Sprintf("%s of the budget of %s", count(s.Used), count(s.Budget))
	}
	return fmt.Sprintf("with the line behind them %s of the budget of %s", count(s.Used), count(s.Budget))
}

// WithoutRank says why candidates have no rank.
func WithoutRank(by echo.Strategy) string {
	if by == echo.StrategyLLM || by == echo.StrategyHybrid {
		return "not chosen by the model"
	}
	return "not ranked: not enough in common with the task"
}

// ByRank returns candidates in the order in which they were taken, and those without a rank behind
// them, in the order of the session.
func ByRank(all []phasecontext.Explained) []phasecontext.Explained {
	last := func(rank int) int {
		if rank == 0 {
			return len(all) + 1
		}
		return rank
	}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b phasecontext.Explained) int { return cmp.Compare(last(a.Rank), last(b.Rank)) })
	return out
}

// TermsIn returns the names of the terms that scores have.
func TermsIn(scores []phasecontext.Explained) []string {
	return slices.DeleteFunc(selection.Terms(), func(name string) bool {
		return !slices.ContainsFunc(scores, func(e phasecontext.Explained) bool {
			return slices.ContainsFunc(e.Terms, func(t selection.Term) bool { return t.Name == name })
		})
	})
}

// Digits is how many decimals scores are written with: sums of reciprocals of ranks need one more.
func Digits(all []phasecontext.Explained) int {
	for i := range all {
		if all[i].Total >= 0.1 {
			return 3
		}
	}
	return 4
}

// Term writes a term as its weight and its value, "" when a score has none of that name.
func Term(terms []selection.Term, name string, digits int) string {
	for _, t := range terms {
		if t.Name == name {
			value := "1" // of a term that is there or not
			if t.Value != 1 || name != selection.TermCallout {
				value = fmt.Sprintf("%.*f", digits, t.Value)
			}
			return strconv.FormatFloat(t.Weight, 'g', 3, 64) + "x" + value
		}
	}
	return ""
}

// Cut says where the budget ended. count writes a number.
func Cut(budget int64, c *selection.Cut, count func(int64) string) string {
	s := fmt.Sprintf("budget of %s tokens ends here: %s left, next would need %s", count(budget), count(c.Left), count(c.Needs))
	if c.Messages {
		s = fmt.Sprintf("the most messages end here: %s left, next would need %s", count(c.Left), count(c.Needs))
	}
	if c.Smaller > 0 {
		s += fmt.Sprintf("; %s of what follows still fit", count(int64(c.Smaller)))
	}
	return s
}

// Outcome says what became of a candidate. count writes a number.
func Outcome(s *echo.Score, count func(int64) string) string {
	switch {
	case s.Chosen:
		return "chosen"
	case s.Rank > 0:
		return fmt.Sprintf("left out: no room for its %s tokens", count(s.Tokens))
	}
	return "left out"
}
