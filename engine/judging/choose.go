package judging

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/election"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Choose chooses one of the entrants and records the ballots and the choice. Entrants that failed or were
// rejected are out; when all were rejected that did not fail, these are judged. Answers that are the same are
// judged as one, and weigh as many. In a step of refinement a tie leaves the best answer so far.
//
// The error is that of a judge that could not be reached, of the budget, or of the record: the run can be
// resumed, and continues with the ballots that are recorded.
func Choose(ctx context.Context, b Bench, q Question) (*echo.Choice, error) {
	if err := supported(q.Settings); err != nil {
		return nil, err
	}
	f, err := newField(q.Entrants)
	if err != nil {
		return nil, err
	}
	c := &echo.Choice{Step: q.Step, Prefix: q.Prefix}
	var took bill
	if was := q.Before; was != nil {
		c.Pairs, c.Flipped = was.Pairs, was.Flipped
		took.add(was.CostUSD)
	}
	if err := warnOfRejected(b, &q); err != nil {
		return nil, err
	}
	switch {
	case f.left == 1:
		c.Winner, c.How = f.answers[0].number, echo.ChoiceOnly
	case len(f.answers) == 1:
		c.Winner, c.How = f.answers[0].number, echo.ChoiceSame
	default:
		if err := chooseByModel(ctx, b, &q, f, c, &took); err != nil {
			return nil, err
		}
	}
	f.of(c.Winner).State = echo.CandidateWon
	c.CostUSD, c.Standings = took.sum(), f.standings
	if c.Tie && q.Open {
		return c, nil
	}
	return Record(b, &q, c)
}

// warnOfRejected says that the candidates to choose from are those that a check has rejected.
func warnOfRejected(b Bench, q *Question) error {
	why, rejected := "", 0
	for _, e := range q.Entrants {
		if e.Failed == "" && e.Rejected == "" {
			return nil
		}
		if e.Failed == "" {
			why, rejected = cmp.Or(why, e.Rejected), rejected+1
		}
	}
	if q.Before != nil || rejected == 0 {
		return nil
	}
	return b.Place().Rec.Warn(q.Key.Step(echo.StepChoice), fmt.Sprintf("the checks before the choice rejected %s, which is all that did not fail, and one of them is kept all the same: %s",
		quantity.Of(rejected, "candidate"), excerpt.Line(why, mostShown)))
}

// mostShown is how many bytes of a reason a warning shows.
const mostShown = 200

// warnOfSilence says that the judge gave no verdict in half of its ballots or more.
func (j *judge) warnOfSilence() error {
	message := ""
	if j.silent > 0 && 2*j.silent >= j.ballots {
		message = fmt.Sprintf("the judge %s gave no verdict in %d of %s: %s",
			j.model, j.silent, quantity.Of(j.ballots, "ballot"), excerpt.Line(j.problem, mostShown))
	}
	return j.bench.Place().Rec.Remark(j.q.Key.Step(echo.StepChoice), message)
}

// supported returns an error for settings that have a person choose.
func supported(s *soundings.Soundings) error {
	var word string
	switch {
	case s.Evaluator == soundings.ByHuman, s.Evaluator == soundings.ByHybrid:
		word = fmt.Sprintf("evaluator %q", s.Evaluator)
	case s.OnTie == soundings.TieHuman:
		word = fmt.Sprintf("on_tie %q", s.OnTie)
	case s.Pareto != nil && s.Pareto.Policy == soundings.Interactive:
		word = fmt.Sprintf("policy %q of pareto_frontier", s.Pareto.Policy)
	default:
		return nil
	}
	return fmt.Errorf("choose a candidate: %s is not supported yet", word)
}

// chooseByModel has judges decide among two answers or more.
func chooseByModel(ctx context.Context, b Bench, q *Question, f *field, c *echo.Choice, took *bill) error {
	j, err := newJudge(ctx, b, q, f)
	if err != nil {
		return err
	}
	if q.Settings.Pareto != nil {
		err = j.frontier(ctx, c)
	} else {
		err = j.vote(ctx, c)
	}
	took.plus(&j.took)
	return err
}

// vote holds an election.
func (j *judge) vote(ctx context.Context, c *echo.Choice) error {
	s := j.q.Settings
	least, most := s.Pairs()
	c.Confidence, c.Needed = s.Confidence(), j.q.needed()
	voters := make([]election.Candidate, len(j.field.answers))
	for i, a := range j.field.answers {
		voters[i] = election.Candidate{Number: a.number, Copies: a.copies}
	}
	rules := election.Rules{Min: least, Max: most, Confidence: j.q.confidence(), Alone: c.Confidence}
	e := election.New(j.seed, voters, rules)
	if err := j.fit([][]int{e.Numbers()}); err != nil {
		return err
	}
	for pairs := e.Next(); pairs != nil; pairs = e.Next() {
		if err := j.hold(ctx, e, pairs); err != nil {
			return err
		}
	}
	if err := j.warnOfSilence(); err != nil {
		return err
	}
	d := e.Decision()
	c.EValue, c.Tie = d.EValue, !d.Decided
	c.Pairs, c.Flipped = c.Pairs+d.Pairs, c.Flipped+d.Flipped
	j.field.count(d)
	switch {
	case s.CostAware != nil:
		c.How, c.Winner = echo.ChoiceCost, j.field.weigh(s.CostAware)
	case d.Decided:
		c.How, c.Winner = echo.ChoiceVotes, d.Winner
	default:
		c.How, c.Winner = untie(s.Tie(), j.q.Step, j.field.among(d.NotBeaten))
	}
	return nil
}

// confidence returns the confidence that a winner needs now. In several rounds, each of which judges anew, the doubt
// is shared among them, so that all of them together have no more than was asked for: with r rounds, round n has the
// share (1 + 1/r) / n / (n + 1), which sums up to 1. The first rounds have most of it, as fewer candidates need more
// pairs for the same evidence, and as a winner then saves all that would come. Only what says that no candidate is
// preferred is shared: against each other candidate alone a winner has the confidence that was asked for.
func (q *Question) confidence() float64 {
	asked := q.Settings.Confidence()
	if q.Rounds <= 1 {
		return asked
	}
	first, _ := q.Settings.Bounds()
	n := float64(min(max(len(q.Entrants)-first+1, 1), q.Rounds))
	share := (1 + 1/float64(q.Rounds)) / n / (n + 1)
	return 1 - float64((1-asked)*share)
}

// needed returns the e-value that a winner needs now.
func (q *Question) needed() float64 { return election.Round(1 / (1 - q.confidence())) }

// count takes over what an election has come to. A pair that is no vote counts for all alike in the quality, which
// is the share of the pairs.
func (f *field) count(d election.Decision) {
	cast := 0
	for _, s := range d.Standings {
		cast += s.Votes
	}
	each := float64(d.Pairs-cast) / float64(len(d.Standings))
	for _, s := range d.Standings {
		quality := 1 / float64(len(d.Standings))
		if d.Pairs > 0 {
			quality = (float64(s.Votes) + each) / float64(d.Pairs)
		}
		to := f.of(s.Number)
		to.Votes, to.EValue, to.Quality = s.Votes, s.EValue, new(election.Round(quality))
	}
}

// untie decides a tie among those that are not beaten. The best answer of the steps before stays where it is one
// of them: nothing is known to be better.
func untie(by soundings.OnTie, step int, notBeaten []answer) (how echo.ChoiceHow, winner int) {
	if step > 0 && notBeaten[0].number == 0 || by == soundings.TieFirst {
		return echo.ChoiceFirst, notBeaten[0].number
	}
	best := cheapest(notBeaten)
	if math.IsInf(best.cost, 1) {
		return echo.ChoiceUnpriced, best.number
	}
	return echo.ChoiceCheapest, best.number
}

// bill adds up what calls cost.
type bill struct {
	usd     float64
	unknown bool
}

func (b *bill) add(usd *float64) {
	if usd == nil {
		b.unknown = true
		return
	}
	b.usd += *usd
}

func (b *bill) plus(o *bill) {
	b.usd += o.usd
	b.unknown = b.unknown || o.unknown
}

// sum returns nil when the cost of a call is not known.
func (b *bill) sum() *float64 {
	if b.unknown {
		return nil
	}
	return new(b.usd)
}

// bestOf returns which of n has the greatest figures: the first figure decides, then the next; of equals the first.
func bestOf(n int, figures func(i int) []float64) int {
	best := 0
	for i := 1; i < n; i++ {
		if slices.Compare(figures(i), figures(best)) > 0 {
			best = i
		}
	}
	return best
}
