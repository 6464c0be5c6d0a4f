package engine

import (
	"context"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// BudgetInForce returns what a run may take; the zero value limits nothing.
func (s *Spec) BudgetInForce() cascade.Budget {
	for _, b := range []*cascade.Budget{s.Budget, (*cascade.Budget)(record.BudgetOf(s.Recording)), s.Cascade.Budget} {
		if b != nil {
			return *b
		}
	}
	return cascade.Budget{}
}

// budgetInForce is what is recorded of the budget: also that there is none where the cascade has one.
func (r *run) budgetInForce() *echo.Budget {
	if r.budget == (cascade.Budget{}) && r.cascade.Budget == nil {
		return nil
	}
	b := echo.Budget(r.budget)
	return &b
}

// afford is asked before each model call, by the call's key: it returns a [*BudgetError] when the call, by what it is
// expected to take, would exceed a limit. What is known of the model and the readings are asked for whatever the limits are,
// so that a run that goes on under others finds what is recorded. A call that is in the past of the run was
// decided then: it is paid for, or it is made again because there was no answer.
func (v *visit) afford(ctx context.Context, key echo.Key, req *effect.ModelRequest, sent func(effect.ModelFacts) requestSize) error {
	f, err := v.factsOf(req.Model)
	if err != nil {
		return err
	}
	if err := v.countBackground(ctx, key.Step(echo.StepBackground)); err != nil {
		return err
	}
	elapsed, err := v.readClock(ctx, key.Step(echo.StepClock))
	if err != nil || v.budget == (cascade.Budget{}) || v.rec.Pending(trunk) != nil {
		return err
	}
	next := v.answers.estimate(req, sent(f), f)
	return overLimit(v.budget, v.run.result.Totals, v.background, elapsed, &next)
}

// overLimit compares what a run has used, with what its background has used, and what the next call will take, with its limits.
// What background calls cost counts as far as it is known; the run depends on none of them.
func overLimit(b cascade.Budget, used, background effect.Totals, elapsed *float64, next *Estimate) error {
	if b.MaxUSD > 0 && used.UnknownCosts > 0 {
		return &BudgetError{Limit: LimitUSD, Max: b.MaxUSD, Cause: "the cost of " + plural(used.UnknownCosts, "call") + " is unknown"}
	}
	sum := used.Plus(background)
	figures := []BudgetError{
		{Limit: LimitUSD, Max: b.MaxUSD, Used: sum.CostUSD},
		{Limit: LimitTokens, Max: float64(b.MaxTokens), Used: float64(sum.Usage.In + sum.Usage.Out)},
	}
	if elapsed != nil {
		figures = append(figures, BudgetError{Limit: LimitSeconds, Max: b.MaxSeconds, Used: *elapsed})
	}
	for _, f := range figures {
		if f.Next = next; f.Max > 0 && (f.Used >= f.Max || f.Used+f.nextTakes() > f.Max) {
			return &f
		}
	}
	return nil
}

// countBackground takes in what background calls have used. They end when they end, so this is a reading: a run that is
// answered from its record counts what was known at this point then. A cost that is not known does not end the run, which
// depends on none of these calls; it is told once.
func (v *visit) countBackground(ctx context.Context, key echo.Key) error {
	d, known, err := reading[echo.BackgroundTotals](ctx, v.rec, key, v.place(), func() echo.Payload {
		if v.spec.Background == nil || v.budget.MaxUSD <= 0 && v.budget.MaxTokens <= 0 {
			return nil
		}
		if t := v.spec.Background(); t != (effect.Totals{}) {
			return echo.BackgroundTotals{
				Calls: t.Calls, Usage: t.Usage, CostUSD: t.CostUSD, UnknownCosts: t.UnknownCosts, Scripted: t.Scripted, Limited: v.budget.MaxUSD > 0,
			}
		}
		return nil
	})
	if err != nil || !known {
		return err
	}
	told := v.backgroundWarned
	v.background = v.background.Plus(effect.Totals{Calls: d.Calls, Usage: d.Usage, CostUSD: d.CostUSD, UnknownCosts: d.UnknownCosts, Scripted: d.Scripted})
	if told || d.UnknownCosts == 0 || !d.Limited {
		return nil
	}
	v.backgroundWarned = true
	return v.warn(key, v.place(), "max_usd counts what cards cost as far as that is known: the cost of "+plural(d.UnknownCosts, "call")+" for them is unknown")
}

// readClock returns for how many seconds the run has been active, nil when nothing is known of it. It is a reading of the
// clock, so it is only taken, and recorded, when the budget limits it.
func (v *visit) readClock(ctx context.Context, key echo.Key) (*float64, error) {
	elapsed, known, err := reading[echo.Clock](ctx, v.rec, key, v.place(), func() echo.Payload {
		if v.budget.MaxSeconds <= 0 {
			return nil
		}
		return echo.Clock(v.active().Sub(v.start).Seconds())
	})
	if err != nil || !known {
		return nil, err
	}
	return (*float64)(&elapsed), nil
}

// requestSize is how many tokens a request has, and how many of them the provider has seen before.
type requestSize struct{ in, cached int64 }

// sizeOf counts a request by its model's tokenizer.
func sizeOf(req *effect.ModelRequest) func(effect.ModelFacts) requestSize {
	return func(f effect.ModelFacts) requestSize {
		var s requestSize
		for _, m := range req.Messages {
			s.in += messageSize(f, m)
		}
		s.in += fixedSize(f, req.Tools)
		return s
	}
}

// sizeOfView returns the size of a phase's own request. It is what the builder counted for the guard, when it did; else it
// is counted here and corrected by what the provider counted of requests before. What is shared with the request before are its
// tools, which come first, and a part of its messages, which is known in other units and so is taken as a share.
func (v *visit) sizeOfView(req *effect.ModelRequest, report *echo.Selection) func(effect.ModelFacts) requestSize {
	return func(f effect.ModelFacts) requestSize {
		s := requestSize{in: report.RequestSize}
		if s.in == 0 {
			s = sizeOf(req)(f)
			if v.carry.Scale > 0 {
				s.in = s.in * v.carry.Scale / 1000
			}
		}
		if fixed := min(fixedSize(f, req.Tools), s.in); report.SharedSize > 0 {
			s.cached = fixed + (s.in-fixed)*report.SharedSize/report.ContextSize
		}
		return s
	}
}

// fixedSize returns the tokens of what a request has besides its messages.
func fixedSize(f effect.ModelFacts, tools []effect.ToolSpec) int64 {
	if f.CountFixed == nil {
		return 0
	}
	return f.CountFixed(tools)
}

// messageSize returns the tokens of a message, by four bytes each where no tokenizer is known.
func messageSize(f effect.ModelFacts, m *echo.Message) int64 {
	if f.Count == nil {
		return autocontext.Tokens(m)
	}
	return f.Count(m)
}
