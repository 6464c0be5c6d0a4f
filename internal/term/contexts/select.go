package contexts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/term"
)

// Selection writes the scores of every candidate of a selection with their terms, in the order in
// which they were taken, where the budget ended, and the sums.
func Selection(o Out, tried *phasecontext.Tried) error {
	p := printer{Out: o}
	s := &tried.InterSelection
	p.table(scoreTable(tried))
	p.line("")
	p.sentence("chosen by %s: %d of %s, %s of %s tokens; %s", s.Strategy, len(s.Chosen),
		term.Plural(s.Candidates, "candidate"), term.Count(s.Sent()), term.Count(s.Everything), budgetUse(s))
	if s.Why != "" {
		p.sentence("because: %s", term.Cell(s.Why))
	}
	if s.Embedder != "" {
		p.sentence("compared by meaning with %s", s.Embedder)
	}
	for _, note := range slices.Concat(s.Notes, s.Degraded) {
		p.sentence("note: %s", term.Cell(note))
	}
	return p.err
}

// budgetUse says what was taken of the budget, and of what was ranked and nothing fitted, why.
func budgetUse(s *echo.InterSelection) string {
	smallest := int64(-1)
	for i := range s.Scores {
		if c := &s.Scores[i]; c.Rank > 0 && (smallest < 0 || c.Tokens < smallest) {
			smallest = c.Tokens
		}
	}
	switch {
	case len(s.Chosen) == 0 && smallest >= 0 && s.Ending+smallest > s.Budget:
		return fmt.Sprintf("the smallest that was ranked takes %s tokens with the line before it, and the line behind what is chosen %s: more than the budget of %s",
			term.Count(smallest), term.Count(s.Ending), term.Count(s.Budget))
	case len(s.Chosen) == 0 || s.Ending == 0:
		return fmt.Sprintf("%s of the budget of %s", term.Count(s.Used), term.Count(s.Budget))
	}
	return fmt.Sprintf("with the line behind them %s of the budget of %s", term.Count(s.Used), term.Count(s.Budget))
}

// shortHash is how many digits of a hash a narrow table shows: context why takes them.
const shortHash = 6

// scoreTable has the candidates by rank, then those that were not ranked.
func scoreTable(tried *phasecontext.Tried) *term.Table {
	names := termsIn(tried)
	heads := []string{"hash", "phase", ">tokens"}
	for _, name := range names {
		heads = append(heads, ">"+name)
	}
	t := term.NewTable(append(heads, ">total", ">rank", "in", "text")...)
	digits := digitsOf(tried.Explained)
	var short []string
	ranked, noted := byRank(tried.Explained), false
	for i := range ranked {
		e := &ranked[i]
		if c := tried.Cut; c != nil && e.Rank == c.Rank {
			t.Note(cutNote(tried.Budget, c))
		}
		if e.Rank == 0 && !noted && i > 0 {
			t.Note(withoutRank(tried.Strategy))
			noted = true
		}
		cells := []string{string(e.ID), e.Phase, term.Count(e.Tokens)}
		for _, name := range names {
			cells = append(cells, termCell(e.Terms, name, digits))
		}
		rank := ""
		if e.Rank > 0 {
			rank = fmt.Sprint(e.Rank)
		}
		t.Add(append(cells, fmt.Sprintf("%.*f", digits, e.Total), rank, ifSo(e.Chosen), e.Text)...)
		short = append(short, string(e.ID[:min(shortHash, len(e.ID))]))
	}
	return t.Key("phase").Shorten("hash", short).Drop(append([]string{"rank", "tokens", "in"}, names...)...)
}

// withoutRank says why candidates have no rank.
func withoutRank(by echo.Strategy) string {
	if by == echo.StrategyLLM || by == echo.StrategyHybrid {
		return "not chosen by the model"
	}
	return "not ranked: not enough in common with the task"
}

// byRank returns candidates in the order in which they were taken, and those without a rank behind
// them, in the order of the session.
func byRank(all []phasecontext.Explained) []phasecontext.Explained {
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

// termsIn returns the names of the terms that scores have.
func termsIn(tried *phasecontext.Tried) []string {
	return slices.DeleteFunc(selection.Terms(), func(name string) bool {
		return !slices.ContainsFunc(tried.Explained, func(e phasecontext.Explained) bool {
			return slices.ContainsFunc(e.Terms, func(t selection.Term) bool { return t.Name == name })
		})
	})
}

// digitsOf is how many decimals scores are written with: sums of reciprocals of ranks need one more.
func digitsOf(all []phasecontext.Explained) int {
	for i := range all {
		if all[i].Total >= 0.1 {
			return 3
		}
	}
	return 4
}

// termCell writes a term as its weight and its value, "" when a score has none of that name.
func termCell(terms []selection.Term, name string, digits int) string {
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

// cutNote says where the budget ended.
func cutNote(budget int64, c *selection.Cut) string {
	s := fmt.Sprintf("budget of %s tokens ends here: %s left, next would need %s", term.Count(budget), term.Count(c.Left), term.Count(c.Needs))
	if c.Messages {
		s = fmt.Sprintf("the most messages end here: %s left, next would need %s", term.Count(c.Left), term.Count(c.Needs))
	}
	if c.Smaller > 0 {
		s += fmt.Sprintf("; %s of what follows still fit", term.Count(int64(c.Smaller)))
	}
	return s
}

// scoreCells are the parts of a score: keyword, recency, meaning, callout, total, rank.
func scoreCells(s *echo.Score) []string {
	meaning, rank := "", ""
	if s.Similarity != nil {
		meaning = fmt.Sprintf("%.2f", *s.Similarity)
	}
	if s.Rank > 0 {
		rank = fmt.Sprint(s.Rank)
	}
	return []string{fmt.Sprintf("%.2f", s.Keyword), fmt.Sprintf("%.2f", s.Recency), meaning, ifSo(s.Callout), fmt.Sprintf("%.3f", s.Total), rank}
}

func ifSo(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
