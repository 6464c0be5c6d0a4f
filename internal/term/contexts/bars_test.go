package contexts

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBarsFit draws random calls: no bar is longer than its room, what there is has a cell as long
// as there are enough, and the whole is as long as its share of the longest.
func TestBarsFit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		sizes := make([]int64, 5)
		var sum, parts int64
		for i := range sizes {
			if r.IntN(3) > 0 {
				sizes[i] = 1 + r.Int64N(int64(1)<<r.IntN(40))
				parts++
			}
			sum += sizes[i]
		}
		room := narrowBar + r.IntN(60)
		longest := max(1, sum+r.Int64N(sum+1))
		total := 0
		for i, n := range fitCells(sizes, longest, room) {
			require.GreaterOrEqual(t, n, 0)
			require.Equal(t, sizes[i] > 0, n > 0)
			total += n
		}
		require.LessOrEqual(t, total, room)
		require.InDelta(t, max(float64(parts), float64(sum)*float64(room)/float64(longest)), total, 1)
	}
	require.Equal(t, []int{0, 0, 0}, fitCells([]int64{0, 0, 0}, 1, 20))
	require.Equal(t, []int{5, 1, 14}, fitCells([]int64{25, 1, 74}, 100, 20))
}
