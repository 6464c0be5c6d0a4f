package record

import (
	"cmp"
	"math"
	"strconv"

	"github.com/windlass-run/windlass/echo"
)

// Totals adds up model calls and requests for embeddings that have ended. The zero value is the sum
// of none.
type Totals struct {
	Calls        int // of models that answer, the failed ones among them
	Embeddings   int // requests for embeddings, the failed ones among them
	Failed       int // of both
	Scripted     int // answered by a script, not by a model
	Usage        echo.Usage
	CostUSD      float64 // of those whose cost is known
	UnknownCosts int     // of both: the sum is too low when this is not 0

	// PretendUSD is what those of a script would have cost at the prices of PriceAs, see [echo.Pretend].
	PretendUSD float64
	PriceAs    string
}

// Add adds a model_call entry; it ignores any other.
func (t *Totals) Add(e *echo.Entry) {
	if e.NodeType != echo.NodeModelCall {
		return
	}
	if e.Background() && e.Key.Purpose() == echo.PurposeEmbed {
		t.Embeddings++
	} else {
		t.Calls++
	}
	if e.Error != nil {
		t.Failed++
	}
	if e.Scripted {
		t.Scripted++
	}
	if p := e.Pretend; p != nil {
		t.PretendUSD, t.PriceAs = plusUSD(t.PretendUSD, p.USD), p.Model
	}
	if e.Usage != nil {
		t.Usage = t.Usage.Add(*e.Usage)
	}
	if e.CostUSD == nil {
		t.UnknownCosts++
	} else {
		t.CostUSD = plusUSD(t.CostUSD, *e.CostUSD)
	}
}

// Plus returns the sum of both.
func (t Totals) Plus(u Totals) Totals {
	return Totals{
		Calls: t.Calls + u.Calls, Embeddings: t.Embeddings + u.Embeddings, Failed: t.Failed + u.Failed,
		Scripted: t.Scripted + u.Scripted, Usage: t.Usage.Add(u.Usage),
		CostUSD: plusUSD(t.CostUSD, u.CostUSD), UnknownCosts: t.UnknownCosts + u.UnknownCosts,
		PretendUSD: plusUSD(t.PretendUSD, u.PretendUSD), PriceAs: cmp.Or(t.PriceAs, u.PriceAs),
	}
}

// plusUSD returns a sum that stays a number that JSON can express.
func plusUSD(a, b float64) float64 { return min(max(a+b, -math.MaxFloat64), math.MaxFloat64) }

// Requests returns how many calls and requests for embeddings there were.
func (t Totals) Requests() int { return t.Calls + t.Embeddings }

// RoundUSD takes the noise out of a sum of money, such as 0.30000000000000004: 12 digits after the
// point stay, and at most 15 in all.
func RoundUSD(usd float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(usd, 'f', 12, 64), 64)
	if err == nil {
		rounded, err = strconv.ParseFloat(strconv.FormatFloat(rounded, 'g', 15, 64), 64)
	}
	if err != nil { // no sum of money is so large
		return usd
	}
	return rounded
}

// KnownUSD returns the cost of those whose cost is known, nil when there are only others: the sum of
// none is 0.
func (t Totals) KnownUSD() *float64 {
	if n := t.Requests(); n > 0 && n == t.UnknownCosts {
		return nil
	}
	usd := RoundUSD(t.CostUSD)
	return &usd
}
