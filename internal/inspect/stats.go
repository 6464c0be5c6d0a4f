package inspect

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// Sums are over the calls of a session that were answered, apart from NotAnswered and Copied.
type Sums struct {
	Calls       int `json:"calls"`
	NotAnswered int `json:"not_answered"`
	Scripted    int `json:"scripted_calls"` // answered by a script, which has no price
	Visits      int `json:"visits"`

	ForkedFrom string `json:"forked_from,omitempty"`  // the session that a fork comes from
	Copied     int    `json:"copied_calls,omitempty"` // that it has of it, where they were paid for

	FullTokens  int64 `json:"full_tokens"`
	SentTokens  int64 `json:"sent_tokens"`
	SavedTokens int64 `json:"saved_tokens"`

	FullUSD  *float64 `json:"full_usd"` // with the same caching; null: there are calls and no price is known
	SentUSD  *float64 `json:"sent_usd"`
	SavedUSD *float64 `json:"saved_usd"`
	Unpriced int      `json:"unpriced_calls"` // left out of the three
	CostUSD  *float64 `json:"cost_usd"`       // of the calls, answers included
	Unknown  int      `json:"unknown_cost_calls"`

	// PriceAs names the model at whose prices the money above is, but for CostUSD: a script answered.
	PriceAs    string   `json:"price_as,omitempty"`
	PretendUSD *float64 `json:"pretend_usd,omitempty"` // what the calls would have cost, answers included

	CachedEstimated *float64 `json:"cached_estimated"` // share that was equal to the call before, from 0 to 1
	CachedReported  *float64 `json:"cached_reported"`  // share that providers say they read from their cache

	Between record.Between `json:"between_phases"` // what came into phases of earlier ones; in no sum above

	Guard  GuardSums `json:"guard"`
	Reread ReadSums  `json:"read_again"`
}

// GuardSums say what the guard did, and what its own calls cost.
type GuardSums struct {
	Warnings    int      `json:"warnings"`
	Compactions int      `json:"compactions"`
	Calls       int      `json:"calls"`
	CostUSD     *float64 `json:"cost_usd"` // null: there are calls and no cost is known
	Unknown     int      `json:"unknown_cost_calls"`
}

// ReadSums say how much of what was left out was asked for again, by the phases that ended.
type ReadSums struct {
	MaskedResults int `json:"masked_results"`
	Recalls       int `json:"recalls"`
	Rereads       int `json:"rereads"`
}

// Stats sum up what a session's calls were sent.
type Stats struct {
	SessionID string `json:"session_id"`
	Total     Sums   `json:"total"`
	Calls     []Call `json:"calls"`
}

// Stats sums up the session.
func (r *Record) Stats() *Stats {
	s := &Stats{SessionID: r.ID, Calls: append([]Call{}, r.Calls...)}
	s.Total.count(r.Calls)
	s.Total.ForkedFrom = r.origin.Session
	s.Total.Guard.count(r.Entries, &r.origin)
	s.Total.Between = record.BetweenPhases(r.Entries)
	for _, v := range record.Of(r.Entries).Visits() {
		again := &s.Total.Reread
		again.MaskedResults += v.Reads.Masked
		again.Recalls += v.Reads.Recalls
		again.Rereads += v.Reads.Rereads
	}
	return s
}

func (t *Sums) count(calls []Call) {
	var shared, counted, cached int64
	visits := map[echo.Key]bool{}
	for i := range calls {
		c := &calls[i]
		if c.Copied {
			t.Copied++
			continue
		}
		visits[c.Visit] = true
		if !c.Answered {
			t.NotAnswered++
			continue
		}
		t.add(c)
		shared += c.SharedSize
		if c.Counted {
			counted += c.TokensIn
			cached += c.TokensCached
		}
	}
	if t.Visits = len(visits); t.Calls == 0 { // the sum of none is known
		t.FullUSD, t.SentUSD, t.SavedUSD, t.CostUSD = new(float64), new(float64), new(float64), new(float64)
	}
	for _, sum := range []*float64{t.FullUSD, t.SentUSD, t.SavedUSD, t.CostUSD} {
		if sum != nil {
			*sum = record.RoundUSD(*sum)
		}
	}
	t.CachedEstimated, t.CachedReported = share(shared, t.SentTokens), share(cached, counted)
}

func (t *Sums) add(c *Call) {
	t.Calls++
	if c.Scripted {
		t.Scripted++
	}
	t.FullTokens += c.FullHistorySize
	t.SentTokens += c.ContextSize
	t.SavedTokens += c.TokensSaved
	if c.FullUSD == nil || c.SentUSD == nil {
		t.Unpriced++
	} else {
		addUSD(&t.FullUSD, *c.FullUSD)
		addUSD(&t.SentUSD, *c.SentUSD)
		addUSD(&t.SavedUSD, *c.FullUSD-*c.SentUSD)
	}
	if c.PretendUSD != nil {
		t.PriceAs = c.PriceAs
		addUSD(&t.PretendUSD, *c.PretendUSD)
	}
	if c.CostUSD == nil {
		t.Unknown++
	} else {
		addUSD(&t.CostUSD, *c.CostUSD)
	}
}

func addUSD(sum **float64, v float64) {
	if *sum == nil {
		*sum = new(float64)
	}
	**sum += v
}

func share(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	v := float64(part) / float64(whole)
	return &v
}

func (g *GuardSums) count(entries []*echo.Entry, origin *echo.Origin) {
	var spent record.Totals
	for _, e := range entries {
		switch p := e.Key.Purpose(); {
		case origin.Has(e):
		case e.NodeType == echo.NodeModelCall && (p == echo.PurposeSummary || p == echo.PurposeRecount):
			spent.Add(e)
		case e.NodeType == echo.NodeGuard:
			g.event(e)
		}
	}
	g.Calls, g.CostUSD, g.Unknown = spent.Calls, spent.KnownUSD(), spent.UnknownCosts
}

func (g *GuardSums) event(e *echo.Entry) {
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
