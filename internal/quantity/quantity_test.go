package quantity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/quantity"
)

func TestOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0 calls", quantity.Of(0, "call"))
	require.Equal(t, "1 entry", quantity.Of(1, "entry"))
	require.Equal(t, "2 entries", quantity.Of(2, "entry"))
	require.Equal(t, "12 more errors", quantity.Of(12, "more error"))
}

func TestMB(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{0: "less than 1 MB", 999_999: "less than 1 MB", 1_000_000: "1 MB", 10_000_001: "10 MB", 177_817_999: "178 MB", 117_897_434: "118 MB"} {
		require.Equal(t, want, quantity.MB(bytes))
	}
}
