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
	require.Equal(t, 9, r.separate.tried.calls)
	require.Equal(t, 9, r.masked.tried.calls)
	require.GreaterOrEqual(t, r.masked.judged.calls, 6)
	require.Zero(t, r.uncached.tried.cached)
	require.Less(t, r.separate.usd(), r.uncached.usd())
	require.Less(t, r.shared.tried.usd, r.separate.usd(), "the prefix is paid once")
	require.Positive(t, r.masked.said)
	sent, read, written := parts(r.masked.judged)
	require.InDelta(t, r.masked.judged.usd, sent+read+written, 1e-9, "the parts of a bill are all of it")
	var out bytes.Buffer
	show(&out, b, []*row{r})
	require.Contains(t, out.String(), "| 3000 |")
}

func TestArguments(t *testing.T) {
	t.Parallel()
	require.EqualError(t, run(t.Context(), []string{"-prefixes", "20k"}, &bytes.Buffer{}), "--prefixes is a list of numbers above 0, as 1000,20000")
}
