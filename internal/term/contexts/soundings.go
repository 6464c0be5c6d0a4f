package contexts

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Soundings writes the candidates of each sounding beside each other, what the judges said of them, and
// why one is kept.
func Soundings(o Out, all []inspect.Sounding) error {
	p := printer{Out: o}
	for i := range all {
		for j := range all[i].Steps {
			if i+j > 0 {
				p.line("")
			}
			p.step(&all[i], &all[i].Steps[j])
		}
	}
	return p.err
}

func (p *printer) step(s *inspect.Sounding, st *inspect.SoundingStep) {
	p.line("%s", p.Paint(term.Bold, soundingTitle(s, st)))
	p.table(candidateTable(st))
	if len(st.Pairs) > 0 {
		p.line("")
		p.table(pairTable(st))
	}
	if len(st.Scores) > 0 {
		p.line("")
		p.table(scoresTable(st))
	}
	p.line("")
	p.fact("kept", "%s", st.Why())
	if st.Choice != nil && st.Choice.Person != nil {
		p.fact("person", "%s", personText(st.Choice.Person))
	}
	if st.Choice != nil && len(st.Choice.Frontier) > 0 {
		p.fact("frontier", "%s", chosen.Frontier(st.Choice))
	}
	for i := range st.Judges {
		p.fact("judge", "%s", judgeText(&st.Judges[i]))
	}
	if st.Choice != nil && st.Choice.Prefix != nil {
		p.fact("prefix", "%s", chosen.Saved(st.Choice.Prefix, term.Count))
	}
	if st.Choice != nil && st.Choice.Room != nil {
		p.fact("budget", "%s", chosen.Room(st.Choice.Room, term.Count))
	}
}

// soundingTitle names a step: "draft, 3 candidates", "draft, step 1 of refinement, 2 candidates".
func soundingTitle(s *inspect.Sounding, st *inspect.SoundingStep) string {
	title := s.Key.String()
	if s.Phase == "" {
		title = "the whole cascade"
	}
	if st.Step > 0 {
		title += fmt.Sprintf(", step %d of refinement", st.Step)
	}
	return fmt.Sprintf("%s: %s", title, term.Plural(len(st.Candidates), "candidate"))
}

func candidateTable(st *inspect.SoundingStep) *term.Table {
	heads := []string{"", ">candidate", "model", "instructions", "state", ">votes", ">e-value"}
	graded, valued, pretend := false, false, ""
	for i := range st.Candidates {
		c := &st.Candidates[i]
		graded = graded || c.Standing != nil && c.Standing.Quality != nil
		valued = valued || c.Standing != nil && c.Standing.Value != nil
		pretend = cmp.Or(pretend, c.PriceAs)
	}
	if graded {
		heads = append(heads, ">quality")
	}
	if valued {
		heads = append(heads, ">value")
	}
	heads = append(heads, ">turns", ">tokens", ">cost")
	if pretend != "" {
		heads = append(heads, ">pretend")
	}
	t := term.NewTable(append(heads, "answer")...)
	for i := range st.Candidates {
		t.Add(candidateCells(&st.Candidates[i], graded, valued, pretend != "")...)
	}
	if st.Step > 0 {
		t.Note("candidate 0 is the best answer of the steps before")
	}
	return t.Key("candidate").Drop("turns", "instructions", "e-value", "quality", "value", "model").WrapLast()
}

func candidateCells(c *inspect.Candidate, graded, valued, pretend bool) []string {
	mark := ""
	if c.Kept {
		mark = "*"
	}
	cells := []string{mark, strconv.Itoa(c.Number), term.Cell(c.Model), mutationText(c.Mutation), c.State(), standing(c, votes), standing(c, evidence)}
	if graded {
		cells = append(cells, standing(c, quality))
	}
	if valued {
		cells = append(cells, standing(c, value))
	}
	turns := ""
	if c.Turns > 0 {
		turns = strconv.Itoa(c.Turns)
	}
	unknown := uint64(0)
	if c.CostUSD == nil {
		unknown = 1
	}
	cells = append(cells, turns, term.Count(c.Usage.In+c.Usage.Out), term.Cost(c.CostUSD, uint64(max(c.Calls, 0)), unknown))
	if pretend {
		cells = append(cells, term.USD(c.Pretend))
	}
	text := c.Output
	if c.Error != "" {
		text = c.Error
	}
	if s := c.Standing; s != nil && s.Why != "" {
		switch s.State { //nolint:exhaustive // the others were judged all the same
		case echo.CandidateFailed, echo.CandidateRejected:
			text = s.Why
		default:
			text = fmt.Sprintf("(%s) %s", s.Why, text)
		}
	}
	if c.Session != "" {
		text = strings.TrimSpace("session " + c.Session + ": " + text)
	}
	return append(cells, term.Cut(term.OneLine(text), 120))
}

// mutationText says how the instructions of a candidate differ from those of the file.
func mutationText(m *echo.Mutation) string {
	if m == nil {
		return "as written"
	}
	return term.Cut(term.OneLine(m.Mode+": "+m.Entry), 40)
}

// standing is a figure of the choice, nothing before there is one.
func standing(c *inspect.Candidate, figure func(*echo.Standing) string) string {
	if c.Standing == nil {
		return ""
	}
	return figure(c.Standing)
}

func votes(s *echo.Standing) string { return strconv.Itoa(s.Votes) }

func evidence(s *echo.Standing) string {
	if s.EValue == 0 {
		return ""
	}
	return strconv.FormatFloat(s.EValue, 'g', 3, 64)
}

func quality(s *echo.Standing) string { return share(s.Quality) }
func value(s *echo.Standing) string   { return share(s.Value) }

func share(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', 2, 64)
}

// pairTable has what a judge said in both orders.
func pairTable(st *inspect.SoundingStep) *term.Table {
	t := term.NewTable(">pair", "judge", "shown", "named", "reversed", "vote", "why")
	for i := range st.Pairs {
		pair := &st.Pairs[i]
		judge, why := pair.Said()
		t.Add(strconv.Itoa(pair.Pair), term.Cell(judge), chosen.Shown(pair.First), chosen.Named(pair.First), chosen.Named(pair.Second), pair.Outcome(), term.Cut(term.OneLine(why), 200))
	}
	return t.Key("pair").Drop("judge", "shown", "reversed", "named").WrapLast()
}

func scoresTable(st *inspect.SoundingStep) *term.Table {
	t := term.NewTable(">candidate", "judge", ">points of 10", "why")
	for i := range st.Scores {
		b := &st.Scores[i]
		number, points := "", "no verdict"
		if len(b.Order) > 0 {
			number = strconv.Itoa(b.Order[0])
		}
		if b.Score != nil {
			points = strconv.FormatFloat(*b.Score, 'g', 3, 64)
		}
		t.Add(number, term.Cell(b.Judge), points, term.Cut(term.OneLine(cmp.Or(b.Problem, b.Why)), 200))
	}
	return t.Key("candidate").Drop("judge").WrapLast()
}

// personText says what a person has said of candidates: who, what, when and why.
func personText(p *echo.Chooser) string {
	text := chosen.Person(p)
	if p.Why != "" && !p.TimedOut {
		text += fmt.Sprintf(", %q", term.Cut(term.OneLine(p.Why), 200))
	}
	return text
}

func judgeText(j *inspect.Judge) string {
	unknown := 0
	if j.CostUSD == nil {
		unknown = j.Ballots
	}
	text := fmt.Sprintf("%s: %s", term.Cell(j.Model), term.Plural(j.Ballots, "ballot"))
	if j.Pairs > 0 {
		text += fmt.Sprintf(", %d of %s flipped (%s)", j.Flips, term.Plural(j.Pairs, "pair"), quantity.Share(float64(j.Flips), float64(j.Pairs)))
	}
	if j.Ties > 0 {
		text += fmt.Sprintf(", %s", term.Plural(j.Ties, "tie"))
	}
	if j.Problems > 0 {
		text += fmt.Sprintf(", %d without a verdict", j.Problems)
	}
	return text + ", " + quantity.Cost(j.CostUSD, unknown)
}
