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
// Where a person is to choose the error can be that of the wait, a [*TimeoutError] or a [*RejectedError]. Else it is
// that of a judge that could not be reached, of the budget, or of the record: the run can be resumed, and continues with
// the ballots that are recorded.
func Choose(ctx context.Context, b Bench, q Question) (*echo.Choice, error) {
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
		if err := decide(ctx, b, &q, f, c, &took); err != nil {
			return nil, err
		}
	}
	f.won(c)
	c.CostUSD, c.Standings = took.sum(), f.standings
	if c.Tie && q.Open {
		return c, nil
	}
	return Record(b, &q, c)
}

// Settle records a choice that [Choose] left open, as no candidate is added after all. Where a person decides ties, that
// person is asked first; the errors are those of [Choose].
func Settle(ctx context.Context, b Bench, q *Question, c *echo.Choice) (*echo.Choice, error) {
	if q.Settings.Tie() != soundings.TieHuman {
		return Record(b, q, c)
	}
	f, err := newField(q.Entrants)
	if err != nil {
		return nil, err
	}
	f.standings = c.Standings
	left := f.notBeaten()
	if len(left) < 2 {
		return Record(b, q, c)
	}
	f.of(c.Winner).State = echo.CandidateLost
	if err := q.poll(b, f, left).decide(ctx, c, nil); err != nil {
		return nil, err
	}
	f.won(c)
	return Record(b, q, c)
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

// decide decides among two answers or more.
func decide(ctx context.Context, b Bench, q *Question, f *field, c *echo.Choice, took *bill) error {
	s := q.Settings
	byModel := func() error {
		_, err := chooseByModel(ctx, b, q, f, c, took)
		return err
	}
	switch {
	case s.Evaluator == soundings.ByHuman, s.Evaluator == soundings.ByHybrid && len(f.answers) <= s.Leaves():
		return q.poll(b, f, f.answers).decide(ctx, c, byModel)
	case s.Evaluator == soundings.ByHybrid:
		if err := byModel(); err != nil {
			return err
		}
		return q.poll(b, f, f.best(s.Leaves(), c.Winner)).decide(ctx, c, nil)
	}
	left, err := chooseByModel(ctx, b, q, f, c, took)
	if err != nil || len(left) < 2 || c.Tie && q.Open {
		return err
	}
	p := q.poll(b, f, left)
	p.points = s.Pareto != nil && !c.Tie
	return p.decide(ctx, c, nil)
}

// chooseByModel has judges decide among two answers or more. It returns those that are left to a person.
func chooseByModel(ctx context.Context, b Bench, q *Question, f *field, c *echo.Choice, took *bill) (left []answer, err error) {
	j, err := newJudge(ctx, b, q, f)
	if err != nil {
		return nil, err
	}
	if q.Settings.Pareto != nil {
		left, err = j.frontier(ctx, c)
	} else {
		err = j.vote(ctx, c)
	}
	took.plus(&j.took)
	if err == nil && c.Tie && q.Settings.Tie() == soundings.TieHuman {
		left = f.notBeaten()
	}
	return left, err
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
