package contexts

import (
	"cmp"
	"fmt"
	"slices"
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
	p.fact("kept", "%s", keptText(st))
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
		p.fact("prefix", "%s", prefixText(st.Choice.Prefix))
	}
	if st.Choice != nil && st.Choice.Room != nil {
		p.fact("budget", "%s", roomText(st.Choice.Room))
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
	cells := []string{mark, strconv.Itoa(c.Number), term.Cell(c.Model), mutationText(c.Mutation), candidateState(c), standing(c, votes), standing(c, evidence)}
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

// candidateState is what became of a candidate, or what it does, and what a person has said of it.
func candidateState(c *inspect.Candidate) string {
	switch s := c.Standing; {
	case s == nil:
		return c.Status.String()
	case s.Rank > 0:
		return fmt.Sprintf("%s, rank %d", stateText(c), s.Rank)
	case s.Rating > 0:
		return fmt.Sprintf("%s, rated %d", stateText(c), s.Rating)
	}
	return stateText(c)
}

func stateText(c *inspect.Candidate) string {
	if c.Standing.SameAs > 0 && c.Standing.State == echo.CandidateSame {
		return fmt.Sprintf("same as %d", c.Standing.SameAs)
	}
	if c.Standing.Copies > 1 {
		return fmt.Sprintf("%s, %d copies", c.Standing.State, c.Standing.Copies)
	}
	return string(c.Standing.State)
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
		vote := "none"
		if n, ok := pair.Vote(); ok {
			vote = strconv.Itoa(n)
		} else if pair.Flipped() {
			vote = "none: flipped"
		}
		judge, why := "", ""
		for _, b := range []*echo.Ballot{pair.Second, pair.First} {
			if b != nil {
				judge, why = b.Judge, cmp.Or(why, b.Problem, b.Why)
			}
		}
		t.Add(strconv.Itoa(pair.Pair), term.Cell(judge), shownText(pair.First), saidText(pair.First), saidText(pair.Second), vote, term.Cut(term.OneLine(why), 200))
	}
	return t.Key("pair").Drop("judge", "shown", "reversed", "named").WrapLast()
}

// shownText is the order in which candidates were shown.
func shownText(b *echo.Ballot) string {
	if b == nil {
		return ""
	}
	order := make([]string, len(b.Order))
	for i, n := range b.Order {
		order[i] = strconv.Itoa(n)
	}
	return strings.Join(order, " ")
}

// saidText is the candidate that a ballot names.
func saidText(b *echo.Ballot) string {
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

// keptText says which candidate is kept, and why.
func keptText(st *inspect.SoundingStep) string {
	c := st.Choice
	if c == nil {
		return st.Unchosen()
	}
	which := fmt.Sprintf("candidate %d", c.Winner)
	switch {
	case c.Winner == 0:
		which = "the best answer of the steps before"
	case c.How == echo.ChoiceNone:
		return "none, as " + chosen.By(c.Person) + " has rejected all"
	case c.Winner < 0:
		which = "one answer that was written from all"
	}
	return which + ", " + howText(c)
}

var howTexts = map[echo.ChoiceHow]string{
	echo.ChoiceOnly: "the only one that was left to choose from", echo.ChoiceSame: "as all answers are the same", echo.ChoiceAggregate: "by the aggregator",
	echo.ChoiceCost: "by quality and cost together", echo.ChoicePareto: "by the policy of the frontier of quality and cost",
}

// tieTexts say which one of a tie is taken.
var tieTexts = map[echo.ChoiceHow]string{
	echo.ChoiceCheapest: "the cheapest is taken", echo.ChoiceFirst: "the first is taken", echo.ChoiceUnpriced: "the first is taken, as no cost is known",
}

func howText(c *echo.Choice) string {
	switch {
	case c.How == echo.ChoicePerson:
		return "chosen by " + chosen.By(c.Person)
	case c.Person != nil && !c.Person.TimedOut:
		return fmt.Sprintf("a tie in the words of %s, of which %s", chosen.By(c.Person), tieTexts[c.How])
	case c.How == echo.ChoiceFirst && !c.Tie:
		return "the first, as nobody has chosen in time"
	}
	if text, ok := howTexts[c.How]; ok {
		return text
	}
	if c.Tie && c.Pairs == 0 {
		return "as no answer got points, and of a tie " + tieTexts[c.How]
	}
	held := term.Plural(c.Pairs, "pair") + " of ballots" // how many of them were flipped, the judge's own line says
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

// personText says what a person has said of candidates: who, what, when and why.
func personText(p *echo.Chooser) string {
	at := p.At.UTC().Format("2006-01-02 15:04:05 UTC")
	if p.TimedOut {
		return "nobody has chosen until " + at
	}
	text := fmt.Sprintf("%s by %s at %s: %s", chosen.By(p), p.Via, at, saidBy(p))
	if p.Why != "" {
		text += fmt.Sprintf(", %q", term.Cut(term.OneLine(p.Why), 200))
	}
	return text
}

// saidBy is what a person has said, with the numbers of the candidates.
func saidBy(p *echo.Chooser) string {
	at := slices.Index(p.Labels, p.Said)
	switch {
	case at >= 0 && at < len(p.Order):
		return fmt.Sprintf("%s of %s, candidate %d", p.Said, term.Plural(len(p.Order), "answer"), p.Order[at])
	case p.Said != "":
		return fmt.Sprintf("%s of %s", p.Said, term.Plural(len(p.Order), "answer"))
	}
	return term.Plural(len(p.Order), "answer") + " in order, or rated"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

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

// roomText says why no candidate was added.
func roomText(r *echo.Room) string {
	text := "no candidate was added, as the budget does not cover one more and its judging: "
	switch {
	case r.Unknown:
		return text + "what some calls cost is not known"
	case r.NeededUSD > r.LeftUSD:
		return text + fmt.Sprintf("%s by the estimate, and %s is left", term.USD(r.NeededUSD), term.USD(r.LeftUSD))
	}
	return text + fmt.Sprintf("%s tokens by the estimate, and %s are left", term.Count(r.NeededTokens), term.Count(r.LeftTokens))
}

func prefixText(x *echo.Prefix) string {
	saved := "what that saved is not known"
	if x.SavedUSD != nil {
		saved = "which saved " + term.USD(*x.SavedUSD)
	}
	return fmt.Sprintf("%s tokens are shared: %s waited for the first answer to begin, and %s tokens came from the cache, %s",
		term.Count(x.Shared), term.Plural(x.Waited, "candidate"), term.Count(x.Cached), saved)
}
