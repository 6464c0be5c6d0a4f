package effect

import (
	"cmp"
	"errors"
	"math"

	"github.com/windlass-run/windlass/echo"
)

// Totals adds up model calls. The zero value is the sum of none.
type Totals struct {
	Calls        int        `json:"model_calls"`
	Usage        echo.Usage `json:"usage"`
	CostUSD      float64    `json:"cost_usd"`      // of the calls whose cost is known
	UnknownCosts int        `json:"unknown_costs"` // calls of unknown cost, which the sum lacks
	Scripted     bool       `json:"scripted,omitempty"`

	// Pretend is what the calls of a script would have cost, which is in no other sum; PriceAs names
	// the model whose prices these are, "" for none.
	PretendUSD float64 `json:"pretend_usd,omitempty"`
	PriceAs    string  `json:"price_as,omitempty"`
}

// Cost returns the sum, or nil when the cost of a call is unknown.
func (t Totals) Cost() *float64 {
	if t.UnknownCosts > 0 {
		return nil
	}
	c := t.CostUSD
	return &c
}

// Pretend returns what is recorded of pretend prices, nil when there are none.
func (t Totals) Pretend() *echo.Pretend {
	if t.PriceAs == "" {
		return nil
	}
	return &echo.Pretend{Model: t.PriceAs, USD: t.PretendUSD}
}

// Count adds a call that has ended. A failed one counts only if its cost is unknown.
func (t *Totals) Count(r *ModelResponse, err error) {
	if err != nil {
		var me *ModelError
		if errors.As(err, &me) && !me.Unpaid {
			t.UnknownCosts++
		}
		return
	}
	t.Calls++
	t.Usage = t.Usage.Add(r.Usage)
	t.Scripted = t.Scripted || r.Scripted
	if p := r.Pretend; p != nil {
		t.PretendUSD, t.PriceAs = addCosts(t.PretendUSD, p.USD), p.Model
	}
	if r.CostUSD == nil {
		t.UnknownCosts++
		return
	}
	t.CostUSD = addCosts(t.CostUSD, *r.CostUSD)
}

// CountRecorded is [Totals.Count] for a call that is recorded. It returns the answer, nil when there
// is none.
func (t *Totals) CountRecorded(e *echo.Entry) *ModelResponse {
	resp, err := answerOf(e, &ModelRequest{Model: e.Model})
	t.Count(resp, err)
	return resp
}

// BackgroundOf returns a reading of what calls in the background took.
func BackgroundOf(d echo.BackgroundTotals) Totals {
	return Totals{Calls: d.Calls, Usage: d.Usage, CostUSD: d.CostUSD, UnknownCosts: d.UnknownCosts, Scripted: d.Scripted}
}

// Plus returns the sum of both.
func (t Totals) Plus(u Totals) Totals {
	return Totals{
		Calls: t.Calls + u.Calls, Usage: t.Usage.Add(u.Usage), CostUSD: addCosts(t.CostUSD, u.CostUSD),
		UnknownCosts: t.UnknownCosts + u.UnknownCosts, Scripted: t.Scripted || u.Scripted,
		PretendUSD: addCosts(t.PretendUSD, u.PretendUSD), PriceAs: cmp.Or(t.PriceAs, u.PriceAs),
	}
}

// addCosts adds amounts, whose sum JSON must be able to express.
func addCosts(a, b float64) float64 { return min(max(a+b, -math.MaxFloat64), math.MaxFloat64) }
