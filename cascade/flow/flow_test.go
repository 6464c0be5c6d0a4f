package flow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/flow"
)

// 0 -> 1 -> 2 -> 1, 0 -> 3, and 4 that nothing leads to.
var steps = [][]int{{1, 3}, {2}, {1}, {}, {3}}

func TestWhatComesBeforeWhat(t *testing.T) {
	t.Parallel()
	order := flow.NewOrder(steps)
	require.True(t, order.First(0))
	require.False(t, order.First(1))
	for _, tt := range []struct {
		i, at int
		never bool
	}{
		{0, 1, false},
		{2, 1, false}, // by the circle
		{3, 1, true},
		{0, 0, true},
		{0, 4, false}, // never reached: nothing is said
	} {
		require.Equal(t, tt.never, order.Never(tt.i, tt.at), "%d before %d", tt.i, tt.at)
	}
	var none *flow.Order
	require.False(t, none.Never(0, 1))
	require.False(t, none.First(0))
}

func TestWaysWithoutEnd(t *testing.T) {
	t.Parallel()
	g := flow.Graph{Next: steps, Ends: []bool{false, false, false, true, false}}
	require.Equal(t, []bool{true, false, false, true, true}, g.Free())
	require.Equal(t, []int{1, 2}, g.Circle(1))
	require.Nil(t, g.Circle(0))
	require.Equal(t, []bool{false, true, true, false, false}, flow.Spread([]int{1}, steps))
}
