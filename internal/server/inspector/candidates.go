package inspector

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// soundingsView is the list of the soundings of a session.
type soundingsView struct {
	head
	Soundings []listedSounding
	SQL       string
}

// listedSounding is a sounding in the list.
type listedSounding struct {
	Name, Path string
	Candidates int
	Steps      int // of refinement
	Came       string
	Flipped    string
	Candidate  string // what the candidates cost
}

// soundingList lists the soundings of a session.
func soundingList(v *visit) error {
	all, err := v.of.Soundings()
	if err != nil {
		return err
	}
	view := soundingsView{head: v.head("candidates"), SQL: soundingsSQL(v.of.ID, "")}
	for i := range all {
		view.Soundings = append(view.Soundings, v.newListedSounding(&all[i]))
	}
	return v.Show("soundings", v.of.ID+": candidates", view)
}

func (v *visit) newListedSounding(s *inspect.Sounding) listedSounding {
	l := listedSounding{Name: soundingName(s), Path: candidatesPath(v.of.ID, s), Came: chosen.Sum(s.Choices())}
	paid := sums{}
	pairs, flips := 0, 0
	for i := range s.Steps {
		st := &s.Steps[i]
		if l.Candidates += len(st.Candidates); st.Step > 0 {
			l.Steps++
		}
		for j := range st.Candidates {
			paid.add(&st.Candidates[j])
		}
		for j := range st.Judges {
			pairs, flips = pairs+st.Judges[j].Pairs, flips+st.Judges[j].Flips
		}
	}
	if l.Came == "" {
		l.Came = s.Steps[len(s.Steps)-1].Why()
	}
	if pairs > 0 {
		l.Flipped = flipped(flips, pairs)
	}
	l.Candidate = paid.text()
	return l
}

// flipped says how many of some pairs of ballots turned with the order.
func flipped(flips, pairs int) string {
	return fmt.Sprintf("%d of %s (%s)", flips, quantity.Of(pairs, "pair"), quantity.Share(float64(flips), float64(pairs)))
}

// sums add up what candidates cost.
type sums struct {
	usd, pretend float64
	unknown      int
	priceAs      string
}

func (s *sums) add(c *inspect.Candidate) {
	if c.CostUSD == nil {
		s.unknown++
	} else {
		s.usd += *c.CostUSD
	}
	s.pretend, s.priceAs = s.pretend+c.Pretend, cmp.Or(s.priceAs, c.PriceAs)
}

func (s *sums) text() string {
	text := quantity.Cost(&s.usd, s.unknown)
	if s.priceAs != "" {
		text += "; " + quantity.USD(s.pretend) + " at prices of " + excerpt.Line(s.priceAs, mostName)
	}
	return text
}

// mostPairs is how many pairs of ballots of a step are listed.
const mostPairs = 200

// mostName is how many bytes of a name are shown in a table.
const mostName = 120

// soundingName is what a sounding is of.
func soundingName(s *inspect.Sounding) string {
	if s.Phase == "" {
		return "the whole cascade"
	}
	return s.Key.String()
}

// candidatesPath returns the address of the candidates of a sounding.
func candidatesPath(id string, s *inspect.Sounding) string { return below(id, "candidates", s.Key) }

// soundingView is the screen of one sounding.
type soundingView struct {
	head
	Name     string
	Of       string // the address of the part of the run
	Steps    []stepView
	Compared *answerDiff // nil: nothing is compared
	Whole    *wholeAnswer
	Choices  []candidateChoice
	All      string // the address of all soundings
	SQL      []statement
}

// statement is SQL with what it returns.
type statement struct{ Title, Text string }

// stepView is one choice among candidates.
type stepView struct {
	*inspect.SoundingStep
	Title      string
	ID         string // of the part of the page
	Facts      []fact
	Candidates []candidateRow
	Chart      *scatter // nil: there is nothing to draw
	Ballots    []ballotRow
	Left       int // pairs of ballots that are not listed
	Session    string
	Scores     []scoreRow
	Has        shownColumns
}

// fact is something that is known, with its name.
type fact struct{ Name, Text string }

// shownColumns are those of a table that it has only where there is something in them.
type shownColumns struct{ Quality, Value, Pretend, Checks, Model bool }

// candidateRow is a candidate in the table of a step.
type candidateRow struct {
	*inspect.Candidate
	Name, Anchor string
	Instructions string
	Tokens       int64
	Text         string
	Money        string
	Pretended    string
	judged
	candidateLinks
}

// judged is what was found of a candidate.
type judged struct {
	State, Class   string
	Votes, EValue  string
	Quality, Value string
	Said           []string // by each judge
	Checks         []check
}

// candidateLinks are the addresses of what there is of a candidate; "": there is none.
type candidateLinks struct{ Requests, Part, Answer, Compare, SessionPath string }

// check is what a validator said of a candidate.
type check struct {
	Name, Why string
	Passed    bool
}

// ballotRow is a pair of ballots.
type ballotRow struct {
	Pair                                               int
	Judge, Shown, Named, Reversed, Vote, Evidence, Why string
	Cost                                               string
	Flipped                                            bool
}

// scoreRow is a score of one candidate.
type scoreRow struct{ Candidate, Judge, Points, Why, Cost string }

// candidates shows one sounding.
func candidates(v *visit) error {
	all, err := v.of.Soundings()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(s inspect.Sounding) bool { return s.Key.String() == v.Of("sounding") })
	if at < 0 {
		return page.Missing("Session %s has no candidates of %.200q. The list has those that it has: %s", v.of.ID, v.Of("sounding"), pathOf(v.of.ID)+"/candidates")
	}
	s := &all[at]
	view := soundingView{head: v.head("candidates"), Name: soundingName(s), All: pathOf(v.of.ID) + "/candidates", SQL: candidatesSQL(v.of.ID, s.Key)}
	if s.Phase != "" {
		view.Of = runPath(v.of.ID, "", s.Key.String())
	}
	for i := range s.Steps {
		view.Steps = append(view.Steps, v.newStep(s, &s.Steps[i]))
	}
	if err := v.answers(s, &view); err != nil {
		return err
	}
	return v.Show("candidates", v.of.ID+": candidates of "+view.Name, view)
}

func (v *visit) newStep(s *inspect.Sounding, st *inspect.SoundingStep) stepView {
	w := stepView{SoundingStep: st, ID: "step-" + strconv.Itoa(st.Step), Title: quantity.Of(len(st.Candidates), "candidate"), Facts: stepFacts(st), Chart: newScatter(st), Session: v.of.ID}
	if st.Step > 0 {
		w.Title = fmt.Sprintf("Step %d of refinement: %s", st.Step, w.Title)
	}
	for i := range st.Candidates {
		c := &st.Candidates[i]
		w.Has.see(c)
		w.Has.Model = w.Has.Model || c.Model != st.Candidates[0].Model
		w.Candidates = append(w.Candidates, v.newCandidateRow(s, st, c))
	}
	if !w.Has.Model && len(st.Candidates) > 0 && st.Candidates[0].Model != "" {
		w.Facts = append(w.Facts, fact{"Model of all", excerpt.Line(st.Candidates[0].Model, mostName)})
	}
	w.Left = max(len(st.Pairs)-mostPairs, 0)
	for i := range st.Pairs[:len(st.Pairs)-w.Left] {
		w.Ballots = append(w.Ballots, newBallotRow(&st.Pairs[i]))
	}
	for i := range st.Scores {
		w.Scores = append(w.Scores, newScoreRow(&st.Scores[i]))
	}
	return w
}

func (h *shownColumns) see(c *inspect.Candidate) {
	h.Quality = h.Quality || c.Standing != nil && c.Standing.Quality != nil
	h.Value = h.Value || c.Standing != nil && c.Standing.Value != nil
	h.Pretend, h.Checks = h.Pretend || c.PriceAs != "", h.Checks || len(c.Verdicts) > 0
}

// stepFacts say which candidate is kept, and what there is to know of that.
func stepFacts(st *inspect.SoundingStep) []fact {
	facts := []fact{{"Kept", st.Why()}}
	c := st.Choice
	if c == nil {
		return facts
	}
	if c.Person != nil {
		facts = append(facts, fact{"Person", chosen.Person(c.Person)})
		if c.Person.Why != "" {
			facts = append(facts, fact{"In the words of the person", excerpt.Clip(c.Person.Why, mostWords)})
		}
	}
	if text := chosen.Frontier(c); text != "" {
		facts = append(facts, fact{"Frontier of quality and cost", text})
	}
	if c.Prefix != nil {
		facts = append(facts, fact{"Shared beginning", chosen.Saved(c.Prefix, quantity.Grouped)})
	}
	if c.Room != nil {
		facts = append(facts, fact{"Budget", chosen.Room(c.Room, quantity.Grouped)})
	}
	return facts
}

// mostWords is how many bytes are shown of why somebody decided something.
const mostWords = 2000

// nameOf is how a candidate is named in an address: "2", and "1.2" in step 1 of refinement.
func nameOf(step, number int) string {
	if step == 0 {
		return strconv.Itoa(number)
	}
	return strconv.Itoa(step) + "." + strconv.Itoa(number)
}

func (v *visit) newCandidateRow(s *inspect.Sounding, st *inspect.SoundingStep, c *inspect.Candidate) candidateRow {
	name := nameOf(st.Step, c.Number)
	r := candidateRow{
		Candidate: c, Name: name, Anchor: "c" + name, Instructions: "as written", Tokens: c.Usage.In + c.Usage.Out, Money: quantity.Cost(c.CostUSD, 0),
		Text: excerpt.Line(cmp.Or(c.Error, c.Output), mostOfAnswer), judged: newJudged(st, c), candidateLinks: v.linksOf(s, c, name),
	}
	if c.PriceAs != "" {
		r.Pretended = quantity.USD(c.Pretend)
	}
	if c.Mutation != nil {
		r.Instructions = excerpt.Line(c.Mutation.Mode+": "+c.Mutation.Entry, mostName)
	}
	if c.Standing != nil && c.Standing.Why != "" {
		r.Text = excerpt.Line(c.Standing.Why, mostOfAnswer)
	}
	return r
}

func newJudged(st *inspect.SoundingStep, c *inspect.Candidate) judged {
	j := judged{State: c.State(), Class: classOf(c)}
	if s := c.Standing; s != nil {
		j.Votes, j.Quality, j.Value = strconv.Itoa(s.Votes), shareText(s.Quality), shareText(s.Value)
		if s.EValue > 0 {
			j.EValue = numberText(s.EValue)
		}
	}
	for i := range st.Judges {
		j.Said = append(j.Said, saidOf(st, st.Judges[i].Model, c.Number))
	}
	for _, verdict := range c.Verdicts {
		j.Checks = append(j.Checks, check{excerpt.Line(verdict.Validator, mostName), excerpt.Line(verdict.Reason, mostOfAnswer), verdict.Valid})
	}
	return j
}

func (v *visit) linksOf(s *inspect.Sounding, c *inspect.Candidate, name string) candidateLinks {
	var l candidateLinks
	switch key := c.Key.String(); {
	case c.Session != "":
		l.SessionPath = pathOf(c.Session)
	case s.Phase != "":
		l.Requests, l.Part = pathOf(v.of.ID)+"/calls?"+url.Values{"phase": {key}}.Encode(), runPath(v.of.ID, "", key)
	}
	if c.Output == "" {
		return l
	}
	l.Answer = v.Path() + "?" + url.Values{"a": {name}}.Encode() + "#answer"
	if !c.Kept && !s.Kept.IsZero() {
		l.Compare = v.Path() + "?" + url.Values{"a": {name}, "b": {keptName(s)}}.Encode() + "#answer"
	}
	return l
}

// classOf is how the state of a candidate looks.
func classOf(c *inspect.Candidate) string {
	switch s := c.Standing; {
	case s == nil:
		return c.Status.String()
	case s.State == echo.CandidateWon:
		return "completed"
	case s.State == echo.CandidateFailed || s.State == echo.CandidateRejected:
		return "failed"
	}
	return ""
}

// mostOfAnswer is how many bytes of an answer are shown in a table.
const mostOfAnswer = 200

// keptName is the name of the candidate that is kept, "" when none is.
func keptName(s *inspect.Sounding) string {
	for i := range s.Steps {
		for j := range s.Steps[i].Candidates {
			if c := &s.Steps[i].Candidates[j]; c.Kept {
				return nameOf(s.Steps[i].Step, c.Number)
			}
		}
	}
	return ""
}

func shareText(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', 2, 64)
}

func numberText(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// saidOf is what the ballots and scores of a judge say of a candidate.
func saidOf(st *inspect.SoundingStep, judge string, number int) string {
	held, named := 0, 0
	for i := range st.Pairs {
		for _, b := range []*echo.Ballot{st.Pairs[i].First, st.Pairs[i].Second} {
			if b == nil || b.Judge != judge || !slices.Contains(b.Order, number) {
				continue
			}
			if held++; b.Winner != nil && *b.Winner == number {
				named++
			}
		}
	}
	var said []string
	if held > 0 {
		said = append(said, fmt.Sprintf("named by %d of %s", named, quantity.Of(held, "ballot")))
	}
	for i := range st.Scores {
		if b := &st.Scores[i]; b.Judge == judge && slices.Contains(b.Order, number) {
			said = append(said, pointsText(b))
		}
	}
	return strings.Join(said, ", ")
}

// pointsText is a score in words.
func pointsText(b *echo.Ballot) string {
	if b.Score == nil {
		return "no verdict"
	}
	return numberText(*b.Score) + " of 10"
}

func newBallotRow(p *inspect.BallotPair) ballotRow {
	judge, why := p.Said()
	r := ballotRow{
		Pair: p.Pair, Judge: excerpt.Line(judge, mostName), Shown: chosen.Shown(p.First), Named: chosen.Named(p.First), Reversed: chosen.Named(p.Second),
		Vote: p.Outcome(), Flipped: p.Flipped(), Why: excerpt.Clip(why, mostWords),
	}
	if p.Second != nil && p.Second.Evidence != nil {
		r.Evidence = numberText(p.Second.Evidence.EValue) + " of " + numberText(p.Second.Evidence.Needed)
	}
	usd, unknown := 0.0, 0
	for _, b := range []*echo.Ballot{p.First, p.Second} {
		switch {
		case b == nil:
		case b.CostUSD == nil:
			unknown++
		default:
			usd += *b.CostUSD
		}
	}
	r.Cost = quantity.Cost(&usd, unknown)
	return r
}

func newScoreRow(b *echo.Ballot) scoreRow {
	r := scoreRow{Judge: excerpt.Line(b.Judge, mostName), Points: pointsText(b), Why: excerpt.Clip(cmp.Or(b.Problem, b.Why), mostWords), Cost: quantity.Cost(b.CostUSD, 0)}
	if len(b.Order) > 0 {
		r.Candidate = strconv.Itoa(b.Order[0])
	}
	return r
}

// judgeRow is a judge in the table of a step.
type judgeRow struct {
	*inspect.Judge
	Flipped, Cost string
}

// JudgeRows are the judges of the step.
func (w stepView) JudgeRows() (out []judgeRow) {
	for i := range w.Judges {
		j := &w.Judges[i]
		r := judgeRow{Judge: j, Cost: quantity.Cost(j.CostUSD, 0)}
		if j.Pairs > 0 {
			r.Flipped = flipped(j.Flips, j.Pairs)
		}
		out = append(out, r)
	}
	return out
}

// candidateChoice is a candidate in the form that compares two of them.
type candidateChoice struct {
	Name, Title  string
	First, Other bool // it is chosen
}

// answers shows what the address asks for: the answer of one candidate, or how those of two differ.
func (v *visit) answers(s *inspect.Sounding, view *soundingView) error {
	a, b := v.Query().Get("a"), v.Query().Get("b")
	with := cmp.Or(b, keptName(s))
	for i := range s.Steps {
		for j := range s.Steps[i].Candidates {
			c := &s.Steps[i].Candidates[j]
			name := nameOf(s.Steps[i].Step, c.Number)
			title := "candidate " + name + ", " + c.State()
			if c.Kept {
				title += ", kept"
			}
			view.Choices = append(view.Choices, candidateChoice{name, title, name == a, name == with})
		}
	}
	if a == "" && b == "" {
		return nil
	}
	first, err := v.candidate(s, cmp.Or(a, b))
	if err != nil {
		return err
	}
	if a == "" || b == "" {
		view.Whole = newWholeAnswer(cmp.Or(a, b), first)
		return nil
	}
	other, err := v.candidate(s, b)
	if err != nil {
		return err
	}
	if first == other {
		return page.Refusal(http.StatusUnprocessableEntity, "Candidate %s cannot be compared with itself: choose two different ones.", a)
	}
	view.Compared, err = v.compareAnswers(a, b, first, other)
	return err
}

// candidate returns the candidate that an address names.
func (v *visit) candidate(s *inspect.Sounding, name string) (*inspect.Candidate, error) {
	var names []string
	for i := range s.Steps {
		for j := range s.Steps[i].Candidates {
			known := nameOf(s.Steps[i].Step, s.Steps[i].Candidates[j].Number)
			if known == name {
				return &s.Steps[i].Candidates[j], nil
			}
			names = append(names, known)
		}
	}
	return nil, page.Missing("There is no candidate %.50q of %s. There are %s.", name, soundingName(s), strings.Join(names, ", "))
}
