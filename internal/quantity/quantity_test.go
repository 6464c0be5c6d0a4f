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
