package main

import (
	"fmt"

	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// spentBy are the totals of a run as those of entries.
func spentBy(t effect.Totals) record.Totals {
	out := record.Totals{Calls: t.Calls, Usage: t.Usage, CostUSD: t.CostUSD, UnknownCosts: t.UnknownCosts}
	if t.Scripted {
		out.Scripted = t.Calls
	}
	return out
}

// spentMoney shows what calls cost. A sum with calls of unknown cost in it is never shown as if it were whole.
func spentMoney(t record.Totals) string {
	switch {
	case t.UnknownCosts > 0 && t.CostUSD == 0:
		return "cost unknown"
	case t.UnknownCosts > 0:
		return formatUSD(t.CostUSD) + " + unknown"
	default:
		return formatUSD(t.CostUSD)
	}
}

func spentTokens(t record.Totals) string {
	return fmt.Sprintf("in %s  cached %s  out %s", formatCount(t.Usage.In), formatCount(t.Usage.Cached), formatCount(t.Usage.Out))
}
