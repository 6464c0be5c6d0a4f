package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPerMessage(t *testing.T) {
	t.Parallel()
	var results []result
	for _, n := range []int{100, 200, 400} {
		wall := float64(n) * (0.3 + 0.002*float64(n)) // 0.3 ms a turn, and 2 µs for each message
		results = append(results, result{load: load{n, 1}, samples: map[string][]sample{"x": {{WallMS: wall}}}})
	}
	assert.InDelta(t, 2.0, perMessage(results, "x"), 1e-9)
}
