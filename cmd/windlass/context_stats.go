package main

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// contextSums are the sums over the calls of a session. Calls that were not answered are in none but NotAnswered: they
// were refused, or cut off.
type contextSums struct {
	Calls       int `json:"calls"`
	NotAnswered int `json:"not_answered"`
	Scripted    int `json:"scripted_calls"` // answered by a script, which has no price
	Visits      int `json:"visits"`

	FullTokens  int64 `json:"full_tokens"`
	SentTokens  int64 `json:"sent_tokens"`
	SavedTokens int64 `json:"saved_tokens"`

	FullUSD  *float64 `json:"full_usd"` // with the same caching; null: no price is known
	SentUSD  *float64 `json:"sent_usd"`
	SavedUSD *float64 `json:"saved_usd"`
	Unpriced int      `json:"unpriced_calls"` // left out of the three
	CostUSD  *float64 `json:"cost_usd"`       // of the calls, answers included
	Unknown  int      `json:"unknown_cost_calls"`

	CachedEstimated *float64 `json:"cached_estimated"` // share of what was sent that was equal to the call before, from 0 to 1
	CachedReported  *float64 `json:"cached_reported"`  // share that providers say they read from their cache

	Guard  guardSums `json:"guard"`
	Reread readSums  `json:"read_again"`
}

// guardSums say what the guard did, and what its own calls cost.
type guardSums struct {
	Warnings    int      `json:"warnings"`
	Compactions int      `json:"compactions"`
	Calls       int      `json:"calls"`
	CostUSD     *float64 `json:"cost_usd"` // null: no call, or none whose cost is known
	Unknown     int      `json:"unknown_cost_calls"`
}

// readSums say how much of what was left out was asked for again, by the phases that ended.
type readSums struct {
	MaskedResults int `json:"masked_results"`
	Recalls       int `json:"recalls"`
	Rereads       int `json:"rereads"`
}

// contextStats is what "context stats --json" prints.
type contextStats struct {
	SessionID string        `json:"session_id"`
	Total     contextSums   `json:"total"`
	Calls     []contextCall `json:"calls"`
}

func (a *app) sumUpContext(r *contextRecord, asJSON bool) error {
	s := contextStats{SessionID: r.id, Total: r.sums(), Calls: append([]contextCall{}, r.calls...)}
	if asJSON {
		return a.printJSON(s)
	}
	if len(r.calls) == 0 {
		fmt.Fprintf(a.err, "Session %s has no model call of which it is recorded what was sent.\n", r.id)
		return nil
	}
	p := contextPrinter{w: a.out, painter: painter{on: wantsColour(a.out)}, safe: true}
	p.sums(r.id, &s.Total)
	p.bars(r.calls, lineRoom(a.out))
	if n := s.Total.Unpriced - s.Total.Scripted; n > 0 {
		fmt.Fprintf(a.err, "The price of %s is unknown, so that they are in no sum of money; windlass.json can set a model's price.\n", plural(n, "model call"))
	}
	return p.err
}

func (r *contextRecord) sums() contextSums {
	t := contextSums{}
	var shared, counted, cached int64
	visits := map[echo.Key]bool{}
	for i := range r.calls {
		c := &r.calls[i]
		visits[c.Visit] = true
		if !c.Answered {
			t.NotAnswered++
			continue
		}
		t.Calls++
		if c.Scripted {
			t.Scripted++
		}
		t.FullTokens += c.FullHistorySize
		t.SentTokens += c.ContextSize
		t.SavedTokens += c.TokensSaved
		shared += c.SharedSize
		if c.FullUSD == nil || c.SentUSD == nil {
			t.Unpriced++
		} else {
			addUSD(&t.FullUSD, *c.FullUSD)
			addUSD(&t.SentUSD, *c.SentUSD)
			addUSD(&t.SavedUSD, *c.FullUSD-*c.SentUSD)
		}
		if c.CostUSD == nil {
			t.Unknown++
		} else {
			addUSD(&t.CostUSD, *c.CostUSD)
		}
		if c.Counted {
			counted += c.TokensIn
			cached += c.TokensCached
		}
	}
	t.Visits = len(visits)
	t.CachedEstimated, t.CachedReported = share(shared, t.SentTokens), share(cached, counted)
	t.Guard.add(r.entries)
	for _, v := range record.Of(r.entries).Visits() {
		t.Reread.MaskedResults += v.Reads.Masked
		t.Reread.Recalls += v.Reads.Recalls
		t.Reread.Rereads += v.Reads.Rereads
	}
	return t
}

// addUSD adds to a sum that is unknown as long as nothing was added.
func addUSD(sum **float64, v float64) {
	if *sum == nil {
		*sum = new(float64)
	}
	**sum += v
}

// share returns a part of a whole, nil of nothing.
func share(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	v := float64(part) / float64(whole)
	return &v
}

func (g *guardSums) add(entries []*echo.Entry) {
	var spent record.Totals
	for _, e := range entries {
		switch p := e.Key.Purpose(); {
		case e.NodeType == echo.NodeModelCall && (p == echo.PurposeSummary || p == echo.PurposeRecount):
			spent.Add(e)
		case e.NodeType == echo.NodeGuard:
			g.count(e)
		}
	}
	g.Calls, g.CostUSD, g.Unknown = spent.Calls, spent.KnownUSD(), spent.UnknownCosts
}

func (g *guardSums) count(e *echo.Entry) {
	ev, err := echo.Read[echo.Guard](e)
	if err != nil {
		return // of another version: it is in the record, and counted as nothing here
	}
	switch ev.Event {
	case echo.GuardWarning:
		g.Warnings++
	case echo.GuardComplete:
		g.Compactions++
	}
}

func (p *contextPrinter) sums(id string, t *contextSums) {
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

func guardCost(g *guardSums) string {
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
func percents(t *contextSums) string {
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
