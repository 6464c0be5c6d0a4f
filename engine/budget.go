package engine

import (
	"context"
	"encoding/json"
	"fmt"
)

// checkBudget is asked before each model call. Time is a reading of the clock, so it is only taken, and recorded under
// clockKey, when the budget limits it.
func (v *visit) checkBudget(ctx context.Context, clockKey string) error {
	b := v.cascade.Budget
	if b == nil {
		return nil
	}
	t := v.run.result.Totals
	if b.MaxUSD > 0 {
		if t.UnknownCosts > 0 {
			return &BudgetError{Limit: "max_usd", Max: b.MaxUSD, Cause: "the cost of " + plural(t.UnknownCosts, "call") + " is unknown"}
		}
		if t.CostUSD >= b.MaxUSD {
			return &BudgetError{Limit: "max_usd", Max: b.MaxUSD, Used: t.CostUSD}
		}
	}
	if used := t.Usage.In + t.Usage.Out; b.MaxTokens > 0 && used >= b.MaxTokens {
		return &BudgetError{Limit: "max_tokens", Max: float64(b.MaxTokens), Used: float64(used)}
	}
	if b.MaxSeconds > 0 {
		return v.checkTime(ctx, clockKey, b.MaxSeconds)
	}
	return nil
}

// clockKey is the key for the reading before a turn's own call and before a validator's: there are several in a turn.
func (v *visit) clockKey() string { return v.at(fmt.Sprintf("clock%d", v.run.result.Calls)) }

func (v *visit) checkTime(ctx context.Context, key string, limit float64) error {
	raw, err := v.effects.Value(ctx, key, v.place(), func() any { return v.now().Sub(v.start).Seconds() })
	if err != nil {
		return err
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
