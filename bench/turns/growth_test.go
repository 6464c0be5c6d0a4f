package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

// growing are conversations whose turns take 0.3 ms, and 2 µs for each message.
func growing() (results []result) {
	for _, n := range []int{100, 200, 400} {
		results = append(results, constant(load{n, 1}, 1, map[string]float64{nameWindlass: 0.3 + 0.002*float64(n)}))
	}
	return results
}

func TestPerMessage(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 2.0, perMessage(growing(), nameWindlass, wall), 1e-9)
	assert.InDelta(t, 4.0, perMessage(growing(), nameWindlass, cpu), 1e-9)
}

func TestGrowthTables(t *testing.T) {
	t.Parallel()
	peers := []peer{{name: nameWindlass}}
	var b bytes.Buffer
	growthTable("turns", peers, growing(), func(l load) int { return l.turns }).print(&b)
	slopeTable(peers, growing()).print(&b)
	assert.Equal(t, `
| turns | windlass: µs a turn | CPU µs | allocations | peak MiB |
|---|---|---|---|---|
| 100 | 500 | 1,000 | 1,200 | 100 |
| 200 | 700 | 1,400 | 1,200 | 100 |
| 400 | 1,100 | 2,200 | 1,200 | 100 |

| each message of the history adds to a turn | µs | CPU µs |
|---|---|---|
| windlass | 2.00 | 4.00 |
`, b.String())
}
