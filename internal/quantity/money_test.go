package quantity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/quantity"
)

func TestUSD(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{0: "$0.00", 12.345: "$12.35", 1: "$1.00", 0.25: "$0.2500", 0.0001: "$0.0001", 0.0000123: "$0.000012", -0.25: "-$0.2500", -0.0000123: "-$0.000012"} {
		require.Equal(t, want, quantity.USD(usd))
	}
}

// Amounts below each other have one number of decimals.
func TestUSDColumn(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"$12.5000", "$0.0031", "$0.0000", "-$1.0000"}, quantity.USDColumn([]float64{12.5, 0.0031, 0, -1}))
	require.Equal(t, []string{"$12.50", "$1.00"}, quantity.USDColumn([]float64{12.5, 1}))
	require.Equal(t, []string{"$0.000012", "$0.250000"}, quantity.USDColumn([]float64{0.000012, 0.25}))
	require.Equal(t, []string{"$0.000725", "$0.000753"}, quantity.USDColumn([]float64{0.000725, 0.000753}))
	require.Equal(t, []string{"$0.00"}, quantity.USDColumn([]float64{0}))
	require.Empty(t, quantity.USDColumn(nil))
}

func TestCost(t *testing.T) {
	t.Parallel()
	two, none := 2.0, 0.0
	require.Equal(t, "$2.00", quantity.Cost(&two, 0))
	require.Equal(t, "$2.00 + unknown", quantity.Cost(&two, 1))
	require.Equal(t, "cost unknown", quantity.Cost(nil, 1))
	require.Equal(t, "$0.00 + unknown", quantity.Cost(&none, 1), "that of one call is known: nothing")
	require.Equal(t, "$0.00", quantity.Cost(&none, 0))
}

func TestShare(t *testing.T) {
	t.Parallel()
	for want, of := range map[string][2]float64{
		"33.3 %": {1, 3}, "66.7 %": {2, 3}, "100.0 %": {7, 7}, "0.0 %": {-0.0001, 5}, "-50.0 %": {-1, 2}, "99.9 %": {999, 1000},
	} {
		require.Equal(t, want, quantity.Share(of[0], of[1]))
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0ms", 300 * time.Microsecond: "<1ms", 42 * time.Millisecond: "42ms", 1500 * time.Millisecond: "1.5s", 83400 * time.Millisecond: "1m23s",
	} {
		require.Equal(t, want, quantity.Duration(d))
	}
}
