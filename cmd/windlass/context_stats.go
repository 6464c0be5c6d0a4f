package main

import (
	"fmt"

	"github.com/windlass-run/windlass/internal/inspect"
)

func (a *app) sumUpContext(r *inspect.Record, asJSON bool) error {
	s := r.Stats()
	if asJSON {
		return a.printJSON(s)
	}
	if len(r.Calls) == 0 {
		fmt.Fprintf(a.err, "Session %s has no model call of which it is recorded what was sent.\n", r.ID)
		return nil
	}
	p := contextPrinter{w: a.out, painter: painter{on: wantsColour(a.out)}, safe: true}
	p.sums(r.ID, &s.Total)
	p.bars(r.Calls, lineRoom(a.out))
	if n := s.Total.Unpriced - s.Total.Scripted; n > 0 {
		fmt.Fprintf(a.err, "The price of %s is unknown, so that they are in no sum of money; windlass.json can set a model's price.\n", plural(n, "model call"))
	}
	return p.err
}

func (p *contextPrinter) sums(id string, t *inspect.Sums) {
	p.fact("session", "%s", id)
	calls := fmt.Sprintf("%s in %s of phases", plural(t.Calls, "call"), plural(t.Visits, "visit"))
	if t.NotAnswered > 0 {
		calls += fmt.Sprintf("; %d more, not answered, in no sum", t.NotAnswered)
	}
	p.fact("calls", "%s", calls)
	p.fact("full", "%s", tokensAndUSD(t.FullTokens, t.FullUSD))
	p.fact("sent", "%s", tokensAndUSD(t.SentTokens, t.SentUSD))
	p.fact("saved", "%s", tokensAndUSD(t.SavedTokens, t.SavedUSD)+percents(t))
	if g := t.Guard; g.Warnings+g.Compactions+g.Calls > 0 {
		p.fact("guard", "%s, %s, %s for them%s", plural(g.Warnings, "warning"), plural(g.Compactions, "compaction"), plural(g.Calls, "call"),
			guardCost(&g))
	}
	if t.Calls > 0 {
		p.fact("cost", "%s, answers included", formatCost(t.CostUSD, uint64(t.Calls), uint64(t.Unknown)))
	}
	p.fact("prefix", "%s of what was sent was equal to the call before; providers read %s from their caches",
		formatShare(t.CachedEstimated), formatShare(t.CachedReported))
	if s := t.Reread; s.MaskedResults+s.Recalls+s.Rereads > 0 {
		p.fact("again", "%s, %s made again, with %s at the end of the phases", plural(s.Recalls, "recall"), plural(s.Rereads, "masked call"),
			plural(s.MaskedResults, "masked result"))
	}
	p.line("")
}

func guardCost(g *inspect.GuardSums) string {
	if g.Calls == 0 {
		return ""
	}
	return ": " + formatCost(g.CostUSD, uint64(g.Calls), uint64(g.Unknown))
}

func tokensAndUSD(tokens int64, usd *float64) string {
	s := fmt.Sprintf("%12s tokens", formatCount(tokens))
	if usd == nil {
		return s + "  price unknown"
	}
	return s + "  " + formatSignedUSD(*usd)
}

func formatSignedUSD(v float64) string {
	if v < 0 {
		return "-" + formatUSD(-v)
	}
	return formatUSD(v)
}

// percents says what was saved as a share of full history.
func percents(t *inspect.Sums) string {
	if t.FullTokens == 0 {
		return ""
	}
	s := fmt.Sprintf("  (%.1f %% of the tokens", 100*float64(t.SavedTokens)/float64(t.FullTokens))
	if t.FullUSD != nil && *t.FullUSD > 0 {
		s += fmt.Sprintf(", %.1f %% of the money", 100**t.SavedUSD / *t.FullUSD)
	}
	return s + ")"
}

func formatShare(v *float64) string {
	if v == nil {
		return "an unknown share"
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}
