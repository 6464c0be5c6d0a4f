package contexts

import (
	"fmt"

	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Stats writes the sums of a session, and a bar for each of its calls.
func Stats(o Out, id string, total *inspect.Sums, calls []inspect.Call) error {
	p := printer{Out: o}
	p.sums(id, total)
	p.bars(calls, o.lineWidth())
	return p.err
}

func (p *printer) sums(id string, t *inspect.Sums) {
	p.fact("session", "%s", id)
	calls := fmt.Sprintf("%s in %s of phases", term.Plural(t.Calls, "call"), term.Plural(t.Visits, "visit"))
	if t.NotAnswered > 0 {
		calls += fmt.Sprintf("; %d more, not answered, in no sum", t.NotAnswered)
	}
	p.fact("calls", "%s", calls)
	if t.Copied > 0 {
		p.fact("copied", "%s of session %s, which paid for them, in no sum", term.Plural(t.Copied, "call"), t.ForkedFrom)
	}
	p.fact("full", "%s", tokensAndUSD(t.FullTokens, t.FullUSD, t))
	p.fact("sent", "%s", tokensAndUSD(t.SentTokens, t.SentUSD, t))
	p.fact("saved", "%s", tokensAndUSD(t.SavedTokens, t.SavedUSD, t)+percents(t))
	if b := t.Between; b.Selections > 0 {
		p.fact("between", "%s for phases, with %s: %s of %s tokens came in, saved %s", term.Plural(b.Selections, "selection"),
			term.Plural(b.Calls, "call"), term.Count(b.SentTokens), term.Count(b.FullTokens), savedBetween(&b, t))
	}
	if g := t.Guard; g.Warnings+g.Compactions+g.Calls > 0 {
		p.fact("guard", "%s, %s, %s for them%s", term.Plural(g.Warnings, "warning"), term.Plural(g.Compactions, "compaction"), term.Plural(g.Calls, "call"),
			guardCost(&g))
	}
	if t.Calls > 0 {
		p.fact("cost", "%s, answers included", term.Cost(t.CostUSD, uint64(t.Calls), uint64(t.Unknown)))
	}
	if t.PretendUSD != nil {
		p.fact("pretend", "%s at prices of %s, answers included; nothing was paid, and the money above is pretended, too", term.USD(*t.PretendUSD), t.PriceAs)
	}
	p.fact("prefix", "%s of what was sent was equal to the call before; providers read %s from their caches",
		formatShare(t.CachedEstimated), formatShare(t.CachedReported))
	if s := t.Reread; s.MaskedResults+s.Recalls+s.Rereads > 0 {
		p.fact("again", "%s, %s made again, with %s at the end of the phases", term.Plural(s.Recalls, "recall"), term.Plural(s.Rereads, "masked call"),
			term.Plural(s.MaskedResults, "masked result"))
	}
	p.line("")
}

func savedBetween(b *record.Between, t *inspect.Sums) string {
	s := term.Count(b.SavedTokens) + " tokens"
	if b.SavedUSD == nil {
		return s + ", " + noPrice(t)
	}
	s += ", " + term.USD(*b.SavedUSD)
	if b.Unpriced > 0 {
		s += " + unknown"
	}
	return s
}

func guardCost(g *inspect.GuardSums) string {
	if g.Calls == 0 {
		return ""
	}
	return ": " + term.Cost(g.CostUSD, uint64(g.Calls), uint64(g.Unknown))
}

// noPrice says why a sum has no money.
func noPrice(t *inspect.Sums) string {
	if t.Scripted > 0 && t.Scripted == t.Calls {
		return "no price: scripted"
	}
	return "price unknown"
}

// tokensAndUSD writes a sum of so many tokens, whose money lacks that of the calls without a price.
func tokensAndUSD(tokens int64, usd *float64, t *inspect.Sums) string {
	s := fmt.Sprintf("%12s tokens", term.Count(tokens))
	if usd == nil {
		return s + "  " + noPrice(t)
	}
	s += "  " + term.USD(*usd)
	if t.Unpriced > 0 {
		s += " + unknown"
	}
	return s
}

// percents says what was saved as a share of full history.
func percents(t *inspect.Sums) string {
	if t.FullTokens == 0 {
		return ""
	}
	s := "  (" + term.Share(t.SavedTokens, t.FullTokens) + " of the tokens"
	if t.FullUSD != nil && *t.FullUSD > 0 {
		s += ", " + quantity.Share(*t.SavedUSD, *t.FullUSD) + " of the money"
	}
	return s + ")"
}

func formatShare(v *float64) string {
	if v == nil {
		return "an unknown share"
	}
	return quantity.Share(*v, 1)
}
