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
	p.line("\nchosen by %s: %d of %s, %s of %s tokens; everything is %s tokens", s.Strategy, len(s.Chosen),
		term.Plural(s.Candidates, "candidate"), term.Count(s.Used), term.Count(s.Budget), term.Count(s.Everything))
	if s.Embedder != "" {
		p.line("compared by meaning with %s", s.Embedder)
	}
	for _, note := range slices.Concat(s.Notes, s.Degraded) {
		p.line("note: %s", term.Cell(note))
	}
	return p.err
}

func scoreTable(scores []echo.Score) *term.Table {
	t := term.NewTable("hash", "phase", ">tokens", ">keyword", ">recency", ">meaning", "callout", ">total", ">rank", "chosen")
	for i := range scores {
		s := &scores[i]
		cells := append([]string{string(s.ID), s.Phase, term.Count(s.Tokens)}, scoreCells(s)...)
		t.Add(append(cells, ifSo(s.Chosen))...)
	}
	return t
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
