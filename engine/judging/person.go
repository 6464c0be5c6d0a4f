package judging

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/election"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// RejectedError is a choice in which a person has rejected all candidates.
type RejectedError struct {
	By         string
	Candidates int
	Why        string // in the words of the person; "": no reason was given
}

func (e *RejectedError) Error() string {
	text := fmt.Sprintf("%s has rejected all %s", cmp.Or(e.By, "a person"), quantity.Of(e.Candidates, "candidate"))
	if strings.TrimSpace(e.Why) == "" {
		return text + ", and gave no reason"
	}
	return text + ": " + excerpt.End(e.Why)
}

// TimeoutError is a choice that nobody has made in time, where the phase fails then.
type TimeoutError struct{ Seconds float64 }

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("nobody has chosen a candidate within %g seconds, and on_timeout is abort", e.Seconds)
}

// poll has a person choose among some of the answers of a field.
type poll struct {
	bench   Bench
	q       *Question
	field   *field
	answers []answer // two or more, by number
	points  bool     // quality and cost are shown
}

// of returns the poll about some answers.
func (q *Question) poll(b Bench, f *field, answers []answer) *poll {
	return &poll{bench: b, q: q, field: f, answers: answers}
}

// decide has the person choose. When nobody has in time, fallback decides, as far as the file wants that; nil: the choice
// is made already.
func (p *poll) decide(ctx context.Context, c *echo.Choice, fallback func() error) error {
	form, order, err := p.form()
	if err != nil {
		return err
	}
	h, at := p.q.Settings.HumanEval, p.bench.Place()
	w := echo.Wait{Kind: echo.WaitChoice, Form: form, Expiry: expiries[h.Expiry()]}
	if w.Expiry != "" {
		w.Timeout = h.TimeoutSeconds
	}
	a, err := effect.AwaitAnswer(ctx, at.Rec.Recorder, p.q.Key.Step(echo.StepChoice).Step(echo.StepWait), at.Site, w)
	if err != nil {
		return err
	}
	c.Person = &echo.Chooser{Order: order, Labels: waiting.Labels(form.Choose), By: a.By, Via: a.Via, At: a.At, TimedOut: a.TimedOut}
	if a.TimedOut {
		return p.late(&a.Wait, c, fallback)
	}
	return p.take(a, c)
}

// expiries are what follows when nobody chooses, as a wait says it.
var expiries = map[soundings.OnTimeout]echo.OnTimeout{
	soundings.LLMFallback: echo.TimeoutModel, soundings.FallToFirst: echo.TimeoutFirst, soundings.AbortTimeout: echo.TimeoutFail,
}

// late decides what nobody has decided in time.
func (p *poll) late(w *echo.Wait, c *echo.Choice, fallback func() error) error {
	switch {
	case w.Expiry == echo.TimeoutFail:
		return &TimeoutError{Seconds: w.Timeout}
	case w.Expiry == echo.TimeoutFirst:
		c.How, c.Winner, c.Tie = echo.ChoiceFirst, p.answers[0].number, false
	case fallback != nil:
		return fallback()
	}
	return nil
}

// form returns what the person is asked, and the candidates in the order in which they are shown.
func (p *poll) form() (*echo.Form, []int, error) {
	h := p.q.Settings.HumanEval
	choose := &echo.Choose{Mode: echo.ChooseMode(h.Selects()), Present: string(h.Shows()), Reason: h != nil && h.RequireReasoning}
	if choose.Mode == echo.ChooseOne {
		choose.Tie, choose.Reject = h != nil && h.AllowTie, h.Rejects() && p.q.Step == 0
	}
	order := p.order()
	for i, number := range order {
		x := echo.Offered{Label: labelOf(i), Note: p.note(number)}
		x.Text = p.answers[slices.IndexFunc(p.answers, func(a answer) bool { return a.number == number })].text
		choose.Candidates = append(choose.Candidates, x)
	}
	question, err := p.question(choose)
	task := p.q.Task
	if strings.TrimSpace(task) != "" {
		task = "What was asked for:\n" + whole(task)
	}
	return &echo.Form{Kind: echo.FormCandidates, Question: question, Context: task, Choose: choose}, order, err
}

// order returns the candidates in an order that says nothing about them, and is the same in a replay.
func (p *poll) order() []int {
	voters := make([]election.Candidate, len(p.answers))
	for i, a := range p.answers {
		voters[i] = election.Candidate{Number: a.number, Copies: a.copies}
	}
	seed := fmt.Sprintf("%d:%s step %d, for a person", len(p.q.Seed), p.q.Seed, p.q.Step)
	order, _ := election.New(seed, voters, election.Rules{Min: 1, Max: 1, Confidence: soundings.DefaultConfidence, Alone: soundings.DefaultConfidence}).Orders(1)
	return order
}

// labelOf returns the label of the candidate at an index: A to Z, then AA, AB, ...
func labelOf(i int) string {
	const letters = 26
	last := string(rune('A' + i%letters))
	if i < letters {
		return last
	}
	return labelOf(i/letters-1) + last
}

var questions = map[echo.ChooseMode]string{
	echo.ChooseOne:  "Which answer is the best one?",
	echo.ChooseRank: "Put the answers in order, the best first.",
	echo.ChooseRate: "How good is each answer, from 1 to 5?",
}

// question returns what the person is asked: the instructions for judges of the file where there are some.
func (p *poll) question(c *echo.Choose) (string, error) {
	g := guideOf(p.q)
	if g.source == "" {
		return questions[c.Mode], nil
	}
	candidates := make([]any, len(c.Candidates))
	for i, x := range c.Candidates {
		candidates[i] = map[string]any{"label": x.Label, "text": x.Text}
	}
	text, err := p.bench.Instructions(g.field, g.source, map[string]any{"candidates": candidates, "task": taskOf(p.q)})
	if strings.TrimSpace(text) == "" {
		text = questions[c.Mode]
	}
	return text, err
}

// note says of a candidate what the file shows.
func (p *poll) note(number int) string {
	e := p.q.Entrants[slices.IndexFunc(p.q.Entrants, func(e Entrant) bool { return e.Number == number })]
	s, h := p.field.of(number), p.q.Settings.HumanEval
	var parts []string
	if p.points && s.Quality != nil {
		parts = append(parts, fmt.Sprintf("quality %.2f", *s.Quality))
	}
	metadata := h != nil && h.ShowMetadata
	if metadata && e.Model != "" {
		parts = append(parts, "model "+e.Model)
	}
	if metadata || p.points {
		parts = append(parts, costNote(e.weighed()))
	}
	if metadata {
		parts = append(parts, fmt.Sprintf("%d tokens", e.Tokens))
	}
	if h != nil && h.ShowMutations && e.Mutation != nil {
		parts = append(parts, e.Mutation.Mode+": "+e.Mutation.Entry)
	}
	return strings.Join(parts, ", ")
}

func costNote(usd float64) string {
	if math.IsInf(usd, 1) {
		return "cost not known"
	}
	return quantity.USD(usd)
}

// take takes what the person has said.
func (p *poll) take(a *effect.Ended, c *echo.Choice) error {
	value, err := waiting.Check(a.Wait.Form, a.Value)
	if err == nil && !slices.Equal(waiting.Labels(a.Wait.Form.Choose), c.Person.Labels) {
		err = errors.New("other candidates were shown")
	}
	if err != nil {
		return p.redacted(c, fmt.Errorf("read what %s has chosen: %w", cmp.Or(a.By, "a person"), err))
	}
	said, _ := value.(map[string]any)
	c.Person.Why, _ = said["why"].(string)
	var best []int
	switch a.Wait.Form.Choose.Mode {
	case echo.ChooseRank:
		best = p.ranked(c.Person, said["ranking"])
	case echo.ChooseRate:
		best = p.rated(c.Person, said["ratings"])
	case echo.ChooseOne:
		c.Person.Said, _ = said["winner"].(string)
		best = p.picked(c.Person)
	}
	switch len(best) {
	case 0:
		c.How, c.Winner, c.Tie = echo.ChoiceNone, -1, false
	case 1:
		c.How, c.Winner, c.Tie = echo.ChoicePerson, best[0], false
	default:
		c.Tie = true
		c.How, c.Winner = untie(p.q.Settings.Tie(), p.q.Step, p.field.among(best))
	}
	return nil
}

// redacted takes the choice that is recorded where what was said was taken out of the record since; else it returns err.
func (p *poll) redacted(c *echo.Choice, err error) error {
	was, failed := core.Followed(p.bench.Place().Rec, p.q.Key.Step(echo.StepChoice), echo.Choice{})
	if failed != nil || was.How == "" {
		return errors.Join(err, failed)
	}
	*c = was
	return nil
}

// numberOf returns the candidate of a label.
func numberOf(p *echo.Chooser, label string) int {
	if i := slices.Index(p.Labels, label); i >= 0 {
		return p.Order[i]
	}
	return -1
}

// picked returns the candidates that are best: one, all of a tie, or none.
func (p *poll) picked(by *echo.Chooser) []int {
	switch by.Said {
	case waiting.None:
		return nil
	case waiting.Tie:
		return by.Order
	}
	return []int{numberOf(by, by.Said)}
}

// ranked takes an order, and returns its first.
func (p *poll) ranked(by *echo.Chooser, value any) []int {
	list, _ := value.([]any)
	numbers := make([]int, len(list))
	for i, label := range list {
		text, _ := label.(string)
		numbers[i] = numberOf(by, text)
		p.field.of(numbers[i]).Rank = i + 1
	}
	return numbers[:1]
}

// rated takes ratings, and returns the candidates with the highest.
func (p *poll) rated(by *echo.Chooser, value any) (best []int) {
	ratings, _ := value.(map[string]any)
	most := 0
	for i, label := range by.Labels {
		text, _ := ratings[label].(json.Number)
		n, _ := text.Int64()
		s := p.field.of(by.Order[i])
		s.Rating = int(n)
		switch {
		case s.Rating > most:
			most, best = s.Rating, []int{s.Number}
		case s.Rating == most:
			best = append(best, s.Number)
		}
	}
	return best
}
