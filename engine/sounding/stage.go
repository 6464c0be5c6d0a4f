package sounding

import (
	"cmp"
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/judging"
)

// Stage is where candidates run and are judged: a visit to a phase, a step of its refinement, or the run.
// It belongs to one goroutine.
type Stage interface {
	judging.Bench
	// Perform runs candidates, each in a branch of the stage, and says what came of them. Candidates that
	// fail are outcomes, unless all have failed and there is no other answer.
	Perform(ctx context.Context, list []*Candidate, only bool) error
	// Step does something in a branch for a step of refinement, from 1. The stage is that of the step.
	Step(ctx context.Context, step int, do func(ctx context.Context, s Stage) error) error
	// Passes reports whether a text passes a validator, and records the verdict.
	Passes(ctx context.Context, validator, text string) (bool, error)
	// Taken returns what was taken here so far, with all candidates and judges.
	Taken() effect.Totals
}

// Candidate is one of several tries. What runs it owns it until it has ended.
type Candidate struct {
	Plan
	Outcome
	Of   *Course
	Step int     // of refinement, from 1; 0: of the first ones
	Hone *Honing // of a step of refinement

	Context *echo.PhaseContext // see [echo.Candidate]
}

// Outcome is what came of a candidate.
type Outcome struct {
	Err      error // why it failed; nil: it has ended well
	Value    any
	Hash     echo.Hash     // of its answer, where texts were taken out of that since; "": it is that of Value
	Rejected string        // why a free check rejected it; "": none did
	Task     *echo.Message // what it was asked, without what is its own; nil: it asks no model
	Asked    string        // the model
	Taken    effect.Totals
	First    *First // its first request; nil: there was none
	Host     any    // what the stage knows of it
}

// Number returns the number of its branch.
func (c *Candidate) Number() int { return c.Index + 1 }

// Site returns which candidate a place is of; nil is none.
func (c *Candidate) Site() effect.Try {
	if c == nil {
		return effect.Try{}
	}
	return effect.Try{Number: c.Number(), Step: c.Step}
}

// Varies reports whether it is asked otherwise than the phase: with a mutation, or to refine an answer.
func (c *Candidate) Varies() bool { return c.Task != nil && (c.Mutation != nil || c.Hone != nil) }

// asked returns the text of its task.
func (c *Candidate) asked() string {
	if c.Task == nil {
		return ""
	}
	return c.Task.Text()
}

// Text returns its answer.
func (c *Candidate) Text() string { return echo.AsText(c.Value) }

// entrant returns the candidate as a choice sees it.
func (c *Candidate) entrant(mask effect.Mask) judging.Entrant {
	e := judging.Entrant{
		Number: c.Number(), Rejected: c.Rejected, Model: c.Asked, Mutation: c.Mutation, CostUSD: c.Taken.Cost(),
		Tokens: c.Taken.Usage.In + c.Taken.Usage.Out, Weighed: weighed(c.Taken, 0),
	}
	if c.Err != nil {
		e.Failed = mask.Text(c.Err.Error())
		return e
	}
	e.Text = c.Text()
	e.Hash = cmp.Or(c.Hash, echo.HashOfOutput(e.Text))
	return e
}

// weighed returns the cost by which a choice weighs what was taken: what was paid, or what a script would have cost
// at pretended prices, and what evens out a shared prefix. nil: it is not known.
func weighed(t effect.Totals, even float64) *float64 {
	usd := t.Cost()
	if usd == nil {
		return nil
	}
	return new(record.RoundUSD(*usd + t.PretendUSD + even))
}

// Best is the best answer so far.
type Best struct {
	Candidate *Candidate // nil: it was written from those of all
	Text      string
	taken     effect.Totals
}

// entrant returns the best answer as a step of refinement sees it.
func (b *Best) entrant() judging.Entrant {
	e := judging.Entrant{Text: b.Text, Hash: echo.HashOfOutput(b.Text), CostUSD: b.taken.Cost(), Weighed: weighed(b.taken, 0), Tokens: b.taken.Usage.In + b.taken.Usage.Out}
	if b.Candidate != nil {
		e.Hash = cmp.Or(b.Candidate.Hash, e.Hash)
		e.Model, e.Mutation = b.Candidate.Asked, b.Candidate.Mutation
	}
	return e
}
