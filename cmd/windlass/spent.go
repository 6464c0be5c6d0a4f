package main

import (
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
