package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A small measurement comes to an end, and its figures fit together.
func TestMeasure(t *testing.T) {
	b := &bench{candidates: 3, turns: 3, scale: 0.1}
	require.NoError(t, b.build(t.Context()))
	t.Cleanup(b.close)
	r, err := b.measure(t.Context(), 3000)
	require.NoError(t, err)
	require.Equal(t, 9, r.separate.calls)
	require.Equal(t, 9, r.masked.calls-r.masked.judged)
	require.GreaterOrEqual(t, r.masked.judged, 6)
	require.Zero(t, r.uncached.cached)
	require.Less(t, r.separate.usd, r.uncached.usd)
	require.Less(t, r.shared.usd-r.shared.judging, r.separate.usd, "the prefix is paid once")
	require.Positive(t, r.masked.said)
	var out bytes.Buffer
	show(&out, b, []*row{r})
	require.Contains(t, out.String(), "| 3000 |")
}

func TestArguments(t *testing.T) {
	t.Parallel()
	require.EqualError(t, run(t.Context(), []string{"-prefixes", "20k"}, &bytes.Buffer{}), "--prefixes is a list of numbers above 0, as 1000,20000")
}
