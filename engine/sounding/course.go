package sounding

import (
	"cmp"
	"context"
	"fmt"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/judging"
)

// Rewrites knows which rewrites of instructions have won in earlier sessions, the newest first, for
// concurrent use.
type Rewrites interface {
	Winners(ctx context.Context, phase, species string, limit int) []string
}

// Course is how several tries of one thing come to one answer: candidates, a choice, steps of refinement.
type Course struct {
	Settings *soundings.Soundings
	Species  string
	Task     string   // what was asked; "": as the first candidate says
	Session  string   // what decides by chance follows from it
	Rewrites Rewrites // may be nil
	Winners  []string // of Rewrites, as they are recorded
	Gate     Gate

	seed string
}

// Run runs the course on a stage.
func (c *Course) Run(ctx context.Context, on Stage) (*Best, error) {
	if err := c.begin(ctx, on); err != nil {
		return nil, err
	}
	best, err := c.first(ctx, on)
	if err != nil || c.Settings.Reforge == nil {
		return best, err
	}
	return c.refine(ctx, on, best)
}

// begin reads what candidates depend on.
func (c *Course) begin(ctx context.Context, on Stage) error {
	at := on.Place()
	d, err := effect.WholeReading[echo.Seed](ctx, at.Rec, at.Key.Step(echo.StepSeed), at.Site, func() echo.Payload {
		return echo.Seed{Seed: Seed(c.Session, at.Key)}
	})
	c.seed = d.Seed
	s := c.Settings
	if err != nil || !s.Mutates() || s.MutatesBy() != soundings.Rewrite || s.Winners() == 0 {
		return err
	}
	won, _, err := effect.Reading[echo.WinningRewrites](ctx, at.Rec, at.Key.Step(echo.StepWinners), at.Site, func() echo.Payload {
		if c.Rewrites == nil {
			return nil
		}
		return echo.WinningRewrites{Texts: c.Rewrites.Winners(ctx, at.Phase, c.Species, s.Winners())}
	})
	c.Winners = won.Texts
	return err
}

// plan returns the candidates of a step.
func (c *Course) plan(step, n int, mutates bool, hone *Honing) []*Candidate {
	s := *c.Settings
	if step > 0 {
		s.Factor, s.Adaptive = &n, nil
	}
	models := s.Assign(fmt.Sprintf("%s step %d", c.seed, step))
	list := make([]*Candidate, n)
	for i := range list {
		p := Plan{Index: i, Factor: n}
		if len(models) > 0 {
			p.Model = models[i]
		}
		if entry := s.Entry(i); mutates && entry != "" {
			p.Mutation = &echo.Mutation{Mode: string(s.MutatesBy()), Entry: entry}
		}
		list[i] = &Candidate{Plan: p, Of: c, Step: step, Hone: hone}
	}
	return list
}

// first runs the first candidates and chooses one of them. As long as there is no winner, another one is
// added, where the settings and the budget allow that.
func (c *Course) first(ctx context.Context, on Stage) (*Best, error) {
	least, most := c.Settings.Bounds()
	list := c.plan(0, most, c.Settings.Mutates(), nil)
	if err := on.Perform(ctx, list[:least], true); err != nil {
		return nil, err
	}
	q := c.question(on, 0, c.Settings)
	q.Rounds = most - least + 1
	for n := least; ; n++ {
		before := on.Taken()
		c.enter(on, &q, list[:n])
		q.Open = n < most && c.Settings.Pareto == nil && !c.Settings.ByPerson() // a frontier and a person always have one
		choice, best, err := c.choose(ctx, on, q, list[:n])
		if err != nil || !q.Open || !choice.Tie {
			return best, err
		}
		room, err := c.room(ctx, on, n-least+1, list[:n], minus(on.Taken(), before))
		if err != nil {
			return nil, err
		}
		if !room.Covers {
			choice.Room = &room
			kept, err := judging.Settle(ctx, on, &q, choice)
			if err != nil {
				return nil, err
			}
			return bestOf(list[:n], kept), nil
		}
		if err := on.Perform(ctx, list[n:n+1], false); err != nil {
			return nil, err
		}
		q.Before = choice
	}
}

func (c *Course) question(on Stage, step int, s *soundings.Soundings) judging.Question {
	return judging.Question{Key: on.Place().Key, Step: step, Settings: s, Task: c.Task, Seed: c.seed}
}

// enter has candidates enter a choice.
func (c *Course) enter(on Stage, q *judging.Question, list []*Candidate) {
	q.Entrants = q.Entrants[:0:0]
	firsts := make([]*First, 0, len(list))
	for _, x := range list {
		q.Entrants = append(q.Entrants, x.entrant(on.Place().Rec.Mask))
		if x.First != nil {
			firsts = append(firsts, x.First)
		}
		c.Task = cmp.Or(c.Task, x.asked())
	}
	q.Task, q.Prefix = c.Task, Saved(firsts)
	even := Even(firsts)
	for i, x := range list {
		q.Entrants[i].Weighed = weighed(x.Taken, even[x.First])
	}
}

// choose keeps one of the candidates, or has one answer written from all of them.
func (c *Course) choose(ctx context.Context, on Stage, q judging.Question, list []*Candidate) (*echo.Choice, *Best, error) {
	if q.Settings.Aggregates() && q.Step == 0 {
		text, choice, err := judging.Aggregate(ctx, on, q)
		return choice, &Best{Text: text, taken: on.Taken()}, err
	}
	choice, err := judging.Choose(ctx, on, q)
	if err != nil || choice.Winner == 0 {
		return choice, nil, err
	}
	return choice, bestOf(list, choice), nil
}

// bestOf returns the candidate that a choice keeps.
func bestOf(list []*Candidate, choice *echo.Choice) *Best {
	won := list[choice.Winner-1]
	return &Best{Candidate: won, Text: won.Text(), taken: won.Taken}
}

// room says whether the budget covers another candidate and its judging.
func (c *Course) room(ctx context.Context, on Stage, number int, list []*Candidate, judged effect.Totals) (echo.Room, error) {
	at := on.Place()
	return effect.WholeReading[echo.Room](ctx, at.Rec, at.Key.Try(echo.StepRoom, number), at.Site, func() echo.Payload {
		ledger := on.Calls().Ledger
		_, pairs := c.Settings.Pairs()
		r := round{list: list, judged: judged, most: ledger.Most(at.Phase), pairs: pairs}
		return roomFor(ledger.Left(), r.next())
	})
}

// refine has the best answer made better, step by step.
func (c *Course) refine(ctx context.Context, on Stage, best *Best) (*Best, error) {
	r := c.Settings.Reforge
	done, err := c.reached(ctx, on, best)
	misses := 0
	for step := 1; err == nil && !done && step <= r.MaxSteps() && misses < r.MaxMisses(); step++ {
		err = on.Step(ctx, step, func(ctx context.Context, at Stage) error {
			better, err := c.hone(ctx, at, step, best)
			if err != nil {
				return err
			}
			if better == nil {
				misses++
				return nil
			}
			best, misses = better, 0
			if step < r.MaxSteps() {
				done, err = c.reached(ctx, at, best)
			}
			return err
		})
	}
	return best, err
}

// reached reports whether the best answer is good enough.
func (c *Course) reached(ctx context.Context, on Stage, best *Best) (bool, error) {
	until := c.Settings.Reforge.Until()
	if until == "" {
		return false, nil
	}
	return on.Passes(ctx, until, best.Text)
}

// hone makes candidates from the best answer so far, and returns a better one; nil when there is none.
func (c *Course) hone(ctx context.Context, on Stage, step int, best *Best) (*Best, error) {
	r := c.Settings.Reforge
	list := c.plan(step, r.PerStep(), r.Mutate, &Honing{Best: best.Text, Prompt: r.HoningPrompt})
	if err := on.Perform(ctx, list, false); err != nil {
		return nil, err
	}
	s := *c.Settings
	s.EvaluatorInstructions = cmp.Or(r.EvaluatorOverride, s.EvaluatorInstructions)
	q := c.question(on, step, &s)
	c.enter(on, &q, list)
	q.Entrants = append(q.Entrants, best.entrant())
	_, better, err := c.choose(ctx, on, q, list)
	return better, err
}
