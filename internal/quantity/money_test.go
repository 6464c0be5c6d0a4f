package quantity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/quantity"
)

func TestUSD(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{0: "$0.00", 12.345: "$12.35", 1: "$1.00", 0.25: "$0.2500", 0.0001: "$0.0001", 0.0000123: "$0.000012"} {
		require.Equal(t, want, quantity.USD(usd))
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	require.Equal(t, "$2.00", quantity.Cost(2, 0))
	require.Equal(t, "$2.00 + unknown", quantity.Cost(2, 1))
	require.Equal(t, "cost unknown", quantity.Cost(0, 1))
	require.Equal(t, "$0.00", quantity.Cost(0, 0))
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0ms", 300 * time.Microsecond: "<1ms", 42 * time.Millisecond: "42ms", 1500 * time.Millisecond: "1.5s", 83400 * time.Millisecond: "1m23s",
	} {
		require.Equal(t, want, quantity.Duration(d))
	}
}
