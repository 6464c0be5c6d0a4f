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
	UnknownCosts int        `json:"unknown_costs"` // calls of unknown cost, which the sum lacks
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
	if r.CostUSD == nil {
		t.UnknownCosts++
		return
	}
	t.CostUSD = addCosts(t.CostUSD, *r.CostUSD)
}

// Plus returns the sum of both.
func (t Totals) Plus(u Totals) Totals {
	return Totals{
		Calls: t.Calls + u.Calls, Usage: t.Usage.Add(u.Usage), CostUSD: addCosts(t.CostUSD, u.CostUSD),
		UnknownCosts: t.UnknownCosts + u.UnknownCosts, Scripted: t.Scripted || u.Scripted,
	}
}

// addCosts adds amounts, whose sum JSON must be able to express.
func addCosts(a, b float64) float64 { return min(max(a+b, -math.MaxFloat64), math.MaxFloat64) }
