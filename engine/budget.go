package engine

import (
	"context"
	"encoding/json"
	"fmt"
)

// checkBudget is asked before each model call. Time is a reading of the clock, so it is only taken, and recorded under
// clockKey, when the budget limits it; so is what went on beside the run.
func (v *visit) checkBudget(ctx context.Context, clockKey string) error {
	b := v.cascade.Budget
	if b == nil {
		return nil
	}
	if b.MaxUSD > 0 || b.MaxTokens > 0 {
		if err := v.countBeside(ctx, clockKey+"/beside"); err != nil {
			return err
		}
	}
	t := v.run.result.Totals
	if b.MaxUSD > 0 {
		if t.UnknownCosts > 0 {
			return &BudgetError{Limit: "max_usd", Max: b.MaxUSD, Cause: "the cost of " + plural(t.UnknownCosts, "call") + " is unknown"}
		}
		if used := t.CostUSD + v.beside.CostUSD; used >= b.MaxUSD {
			return &BudgetError{Limit: "max_usd", Max: b.MaxUSD, Used: used}
		}
	}
	if u := t.Usage.Add(v.beside.Usage); b.MaxTokens > 0 && u.In+u.Out >= b.MaxTokens {
		return &BudgetError{Limit: "max_tokens", Max: float64(b.MaxTokens), Used: float64(u.In + u.Out)}
	}
	if b.MaxSeconds > 0 {
		return v.checkTime(ctx, clockKey, b.MaxSeconds)
	}
	return nil
}

// countBeside takes in what calls beside the run have taken. They end when they end, so this is a reading: a run that is
// answered from its record counts what was known at this point then. A cost that is not known does not end the run, which
// depends on none of these calls; it is told once.
func (v *visit) countBeside(ctx context.Context, key string) error {
	raw, err := v.effects.Value(ctx, key, v.place(), func() any {
		if v.spec.Beside == nil {
			return nil
		}
		if t := v.spec.Beside(); t != (Totals{}) {
			return t
		}
		return nil
	})
	if err != nil || raw == nil {
		return err
	}
	var t Totals
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("read the record of %s: %w", key, err)
	}
	told := v.beside.UnknownCosts > 0
	v.beside = v.beside.Plus(t)
	if told || t.UnknownCosts == 0 || v.cascade.Budget.MaxUSD <= 0 {
		return nil
	}
	return v.warn(key, v.place(), "max_usd counts what cards cost as far as that is known: the cost of "+plural(t.UnknownCosts, "call")+" for them is unknown")
}

// clockKey is the key for the reading before a turn's own call and before a validator's: there are several in a turn.
func (v *visit) clockKey() string { return v.at(fmt.Sprintf("clock%d", v.run.result.Calls)) }

func (v *visit) checkTime(ctx context.Context, key string, limit float64) error {
	raw, err := v.effects.Value(ctx, key, v.place(), func() any { return v.active().Sub(v.start).Seconds() })
	if err != nil {
		return err
	}
	if raw == nil {
		return nil // the limit did not hold when this was recorded
	}
	var elapsed float64
	if err := json.Unmarshal(raw, &elapsed); err != nil {
		return fmt.Errorf("read the clock of %s: %w", key, err)
	}
	if elapsed >= limit {
		return &BudgetError{Limit: "max_seconds", Max: limit, Used: elapsed}
	}
	return nil
}
