package inspect

import (
	"github.com/windlass-run/windlass/echo"
)

// Break is what a request lost because its common beginning with the one before ended where it did.
type Break struct {
	Messages int   // behind the common beginning that are the same in both requests
	Tokens   int64 // of them, by autocontext.Tokens: a cache that had held further would have had them
}

// Break returns what is behind the end of the common prefix and was sent before, byte by byte the same.
func (d *Diff) Break() Break {
	var b Break
	for _, m := range d.Messages {
		if m.Change == Same && m.To != nil && m.To.Position > d.Prefix.Messages {
			b.Messages += m.To.Messages
			b.Tokens += m.To.Tokens
		}
	}
	return b
}

// CostUSD returns what that cost: each token at the price of one that is not in the cache, less that of one that is. size is
// how many tokens the request had, which decides what prices hold.
func (b Break) CostUSD(t echo.Tariff, size int64) float64 {
	return float64(b.Tokens) * (PricesFor(t, size).Input - PricesFor(t, size).Cached) / 1e6
}

// PricesFor returns the prices that hold for a request of so many tokens.
func PricesFor(t echo.Tariff, size int64) echo.Tariff {
	if t.Long != nil && size > t.Over {
		return *t.Long
	}
	return t
}

// Tariffs returns what the tokens of models cost, as the run knew it last, by the names that they are asked for.
func Tariffs(entries []*echo.Entry) map[string]echo.Tariff {
	out := map[string]echo.Tariff{}
	for _, e := range entries {
		if model, t := TariffOf(e); t != nil {
			out[model] = *t
		}
	}
	return out
}

// TariffOf returns what an entry says that a model costs; nil: it says nothing of that.
func TariffOf(e *echo.Entry) (model string, t *echo.Tariff) {
	if e.NodeType != echo.NodeValue {
		return "", nil
	}
	p := e.Key.Path()
	last := p.Last()
	if last.Kind != echo.StepFacts {
		return "", nil
	}
	facts, err := echo.Read[echo.ModelFacts](e)
	if err != nil {
		return "", nil // of another version
	}
	return last.Name, facts.Tariff
}
