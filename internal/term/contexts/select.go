package contexts

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/selected"
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
		term.Plural(s.Candidates, "candidate"), term.Count(s.Sent()), term.Count(s.Everything), selected.Budget(s, term.Count))
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

// shortHash is how many digits of a hash a narrow table shows: context why takes them.
const shortHash = 6

// scoreTable has the candidates by rank, then those that were not ranked.
func scoreTable(tried *phasecontext.Tried) *term.Table {
	names := selected.TermsIn(tried.Explained)
	heads := []string{"hash", "phase", ">tokens"}
	for _, name := range names {
		heads = append(heads, ">"+name)
	}
	t := term.NewTable(append(heads, ">total", ">rank", "in", "text")...)
	digits := selected.Digits(tried.Explained)
	var short []string
	ranked, noted := selected.ByRank(tried.Explained), false
	for i := range ranked {
		e := &ranked[i]
		if c := tried.Cut; c != nil && e.Rank == c.Rank {
			t.Note(selected.Cut(tried.Budget, c, term.Count))
		}
		if e.Rank == 0 && !noted && i > 0 {
			t.Note(selected.WithoutRank(tried.Strategy))
			noted = true
		}
		cells := []string{string(e.ID), e.Phase, term.Count(e.Tokens)}
		for _, name := range names {
			cells = append(cells, selected.Term(e.Terms, name, digits))
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
