package effect

import (
	"errors"
	"math"

	"github.com/windlass-run/windlass/echo"
)

// Totals adds up model calls. The zero value is the sum of none.
type Totals struct {
	Calls        int        `json:"model_calls"`
	Usage        echo.Usage `json:"usage"`
	CostUSD      float64    `json:"cost_usd"`      // of the calls whose cost is known
	UnknownCosts int        `json:"unknown_costs"` // calls whose cost is not known: the sum is too low when this is not 0
	Scripted     bool       `json:"scripted,omitempty"`
}

// Cost returns the sum, or nil when the cost of a call is unknown.
func (t Totals) Cost() *float64 {
	if t.UnknownCosts > 0 {
		return nil
	}
	c := t.CostUSD
	return &c
}

// Count adds a call that has ended. A failed call counts only when it may have cost something: then its cost is unknown.
func (t *Totals) Count(r *ModelResponse, err error) {
	if err != nil {
		t.addFailure(err)
		return
	}
	t.Calls++
	t.Usage = t.Usage.Add(r.Usage)
	t.Scripted = t.Scripted || r.Scripted
	if r.CostUSD == nil {
		t.UnknownCosts++
		return
	}
	t.CostUSD = addCosts(t.CostUSD, *r.CostUSD)
}

// addFailure counts a failed call whose cost is unknown. A call that cost nothing, or has no outcome, changes nothing.
func (t *Totals) addFailure(err error) {
	var me *ModelError
	if errors.As(err, &me) && !me.Unpaid {
		t.UnknownCosts++
	}
}

// Plus returns the sum of both.
func (t Totals) Plus(u Totals) Totals {
	return Totals{
		Calls: t.Calls + u.Calls, Usage: t.Usage.Add(u.Usage), CostUSD: addCosts(t.CostUSD, u.CostUSD),
		UnknownCosts: t.UnknownCosts + u.UnknownCosts, Scripted: t.Scripted || u.Scripted,
	}
}

// addCosts adds amounts. An endpoint's figures are accepted only in ranges that cannot overflow, but other records may hold
// more, and the sum must stay a number that JSON can express.
func addCosts(a, b float64) float64 { return min(max(a+b, -math.MaxFloat64), math.MaxFloat64) }
