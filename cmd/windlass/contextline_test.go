package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine"
)

func TestContextLine(t *testing.T) {
	t.Parallel()
	result := func(f ...engine.ContextFigures) *engine.Result {
		res := &engine.Result{}
		for _, g := range f {
			res.Phases = append(res.Phases, engine.PhaseResult{ContextFigures: g})
		}
		return res
	}
	require.Empty(t, contextLine(result()))
	require.Empty(t, contextLine(result(engine.ContextFigures{FullSize: 100, SentSize: 100})))
	require.Equal(t, "Context: sent 2,500 of 10,000 tokens of history (75% less, estimated), 3 tool results masked at the end, "+
		"1 recall and 2 repeated calls of masked results",
		contextLine(result(engine.ContextFigures{FullSize: 9000, SentSize: 1500, MaskedResults: 2, Rereads: 2}, engine.ContextFigures{FullSize: 1000, SentSize: 1000, MaskedResults: 1, Recalls: 1})))
}
