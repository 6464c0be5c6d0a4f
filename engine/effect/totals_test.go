package effect

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestTotals(t *testing.T) {
	t.Parallel()
	var sum Totals
	cost := 0.5
	sum.Count(&ModelResponse{Usage: echo.Usage{In: 3, Out: 1}, CostUSD: &cost}, nil)
	sum.Count(&ModelResponse{Usage: echo.Usage{In: 2}}, nil)
	sum.Count(nil, &ModelError{Unpaid: true})
	sum.Count(nil, &ModelError{})
	want := Totals{Calls: 2, Usage: echo.Usage{In: 5, Out: 1}, CostUSD: 0.5, UnknownCosts: 2}
	require.Equal(t, want, sum)
	require.Equal(t, want, want.Plus(Totals{}))
	require.Equal(t, Totals{Calls: 4, Usage: echo.Usage{In: 10, Out: 2}, CostUSD: 1, UnknownCosts: 4, Scripted: true}, want.Plus(want).Plus(Totals{Scripted: true}))
}

// TestTotalsStayNumbers: a sum of costs beyond the range of a float64 is still a number that JSON
// can express.
func TestTotalsStayNumbers(t *testing.T) {
	t.Parallel()
	huge := 1e308
	var sum Totals
	for range 3 {
		sum.Count(&ModelResponse{CostUSD: &huge}, nil)
	}
	require.Equal(t, math.MaxFloat64, sum.Plus(sum).CostUSD)
	_, err := json.Marshal(sum.Cost())
	require.NoError(t, err)
}
