package live

import (
	"fmt"

	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Money writes what calls cost. A sum that lacks calls of unknown cost is never shown as if it were
// whole.
func Money(t record.Totals) string { return quantity.Cost(t.CostUSD, t.UnknownCosts) }

// Tokens writes the tokens that calls took and gave.
func Tokens(t record.Totals) string {
	return fmt.Sprintf("in %s  cached %s  out %s", term.Count(t.Usage.In), term.Count(t.Usage.Cached), term.Count(t.Usage.Out))
}
