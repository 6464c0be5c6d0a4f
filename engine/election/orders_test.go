package election

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A replay has the orders that were recorded, so they never change.
func TestOrdersAreThoseOfTheSeed(t *testing.T) {
	t.Parallel()
	e := New("a session/a phase", []Candidate{{Number: 0}, {Number: 3}, {Number: 2}, {Number: 7}, {Number: 5}}, usual)
	for pair, want := range map[int][]int{1: {0, 2, 7, 5, 3}, 2: {3, 7, 5, 0, 2}, 3: {7, 0, 3, 5, 2}, 1000: {3, 0, 5, 7, 2}} {
		first, _ := e.Orders(pair)
		require.Equal(t, want, first, pair)
	}
}

func TestTheSecondOrderIsTheReverse(t *testing.T) {
	t.Parallel()
	for k := range 65 {
		e := New("s", among(k), usual)
		for pair := 1; pair <= 20; pair++ {
			first, second := e.Orders(pair)
			require.ElementsMatch(t, e.Numbers(), first)
			slices.Reverse(second)
			require.Equal(t, first, second)
			again, _ := New("s", among(k), Rules{}).Orders(pair)
			require.Equal(t, first, again)
		}
	}
}

// Neither a pair nor a seed can stand for another one.
func TestOrdersDifferBySeedAndPair(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, seed := range []string{"", "s", "s:1", "1", "1:s", "s1"} {
		for pair := 1; pair <= 30; pair++ {
			first, _ := New(seed, among(40), usual).Orders(pair)
			what := fmt.Sprintf("%q %d", seed, pair)
			require.Empty(t, seen[fmt.Sprint(first)], what)
			seen[fmt.Sprint(first)] = what
		}
	}
}

// Every order is as likely as every other one, by Pearson's test at one in a thousand.
func TestOrdersAreUniform(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ k, orders, bound int }{{2, 2, 11}, {3, 6, 21}, {4, 24, 50}, {5, 120, 174}} {
		e := New("uniform", among(c.k), usual)
		n, counts := 200*c.orders, map[string]int{}
		for pair := 1; pair <= n; pair++ {
			first, _ := e.Orders(pair)
			counts[fmt.Sprint(first)]++
		}
		require.Len(t, counts, c.orders)
		chi := 0.0
		for _, seen := range counts {
			chi += float64((seen-200)*(seen-200)) / 200
		}
		require.Less(t, chi, float64(c.bound), c.k)
	}
}

func TestDrawsAreBelow(t *testing.T) {
	t.Parallel()
	d := draws{seed: "s"}
	const n = 3 << 62 // a quarter of what is drawn is drawn again
	high := 0
	for range 3000 {
		v := d.below(n)
		require.Less(t, v, uint64(n))
		if v >= n/3*2 {
			high++
		}
	}
	require.InDelta(t, 1000, high, 100)
}
