package contexts

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/term"
)

// Selection writes the scores of every candidate of a selection, and the sums.
func Selection(o Out, s *echo.InterSelection) error {
	p := printer{Out: o}
	p.table(scoreTable(s.Scores))
	p.line("\nchosen by %s: %d of %s, %s of %s tokens; %s", s.Strategy, len(s.Chosen),
		term.Plural(s.Candidates, "candidate"), term.Count(s.Sent()), term.Count(s.Everything), budgetUse(s))
	if s.Why != "" {
		p.line("because: %s", term.Cell(s.Why))
	}
	if s.Embedder != "" {
		p.line("compared by meaning with %s", s.Embedder)
	}
	for _, note := range slices.Concat(s.Notes, s.Degraded) {
		p.line("note: %s", term.Cell(note))
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

func scoreTable(scores []echo.Score) *term.Table {
	t := term.NewTable("hash", "phase", ">tokens", ">keyword", ">recency", ">meaning", "callout", ">total", ">rank", "chosen")
	for i := range scores {
		s := &scores[i]
		cells := append([]string{string(s.ID), s.Phase, term.Count(s.Tokens)}, scoreCells(s)...)
		t.Add(append(cells, ifSo(s.Chosen))...)
	}
	return t.Key("hash", "phase").Drop("callout", "keyword", "recency", "meaning", "rank", "total")
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
