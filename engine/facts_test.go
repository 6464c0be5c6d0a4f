package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/views"
)

func TestRoomFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		facts     effect.ModelFacts
		budget    *cascade.TokenBudget
		maxOutput int
		limit     int64
	}{
		"nothing is known":                  {limit: 0},
		"a quarter is for the answer":       {facts: effect.ModelFacts{Window: 8000}, limit: 6000},
		"or less: the longest answer":       {facts: effect.ModelFacts{Window: 8000, MaxOutput: 1000}, limit: 7000},
		"not more than a quarter":           {facts: effect.ModelFacts{Window: 400_000, MaxOutput: 128_000}, limit: 300_000},
		"max_output_tokens":                 {facts: effect.ModelFacts{Window: 8000, MaxOutput: 1000}, maxOutput: 3000, limit: 5000},
		"reserve_for_output":                {facts: effect.ModelFacts{Window: 8000}, budget: &cascade.TokenBudget{ReserveForOutput: 500}, maxOutput: 3000, limit: 7500},
		"a lower ceiling":                   {facts: effect.ModelFacts{Window: 8000}, budget: &cascade.TokenBudget{MaxTotal: 4000}, limit: 3000},
		"a ceiling above the window":        {facts: effect.ModelFacts{Window: 8000}, budget: &cascade.TokenBudget{MaxTotal: 40_000}, limit: 6000},
		"a ceiling and no window":           {budget: &cascade.TokenBudget{MaxTotal: 4000, ReserveForOutput: 1000}, limit: 3000},
		"a ceiling far below the window":    {facts: effect.ModelFacts{Window: 400_000, MaxOutput: 128_000}, budget: &cascade.TokenBudget{MaxTotal: 50_000}, limit: 37_500},
		"everything is kept for the answer": {facts: effect.ModelFacts{Window: 8000}, maxOutput: 9000, limit: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.limit, views.RoomFor(tc.facts, tc.budget, tc.maxOutput).Limit)
		})
	}
	require.NoError(t, views.RoomFor(effect.ModelFacts{}, nil, 5).Check("m"))
	require.NoError(t, views.RoomFor(effect.ModelFacts{Window: 100}, nil, 5).Check("m"))
	require.EqualError(t, views.RoomFor(effect.ModelFacts{Window: 100}, nil, 100).Check("m"),
		"max_output_tokens keeps 100 tokens for the answer, and m takes only 100 in all: nothing is left to send; lower "+
			"max_output_tokens, or set context_window of the model in windlass.json if it takes more")
}

func TestSettingsFor(t *testing.T) {
	t.Parallel()
	p := &cascade.Phase{Name: "p"}
	s, _ := views.SettingsFor(views.Asked{Cascade: &cascade.Cascade{}}, core.Rules, p, effect.ModelFacts{Window: 1000, Exact: true}, dialect.Prompted)
	require.False(t, s.Policy.Enabled)
	require.Equal(t, []int64{750, 80}, []int64{s.Limit, int64(s.Policy.Guard.WarnPercent)})
	require.True(t, s.Exact)
	require.Equal(t, dialect.Prompted, s.Dialect)
	require.Empty(t, s.Strategy)

	c := &cascade.Cascade{TokenBudget: &cascade.TokenBudget{MaxTotal: 500, WarningThreshold: 0.58, Strategy: cascade.BudgetFail}}
	s, r := views.SettingsFor(views.Asked{Cascade: c}, core.Rules, p, effect.ModelFacts{Window: 1000}, dialect.Native)
	require.Equal(t, int64(375), s.Limit)
	require.Equal(t, 58, s.Policy.Guard.WarnPercent, "the threshold of the budget outranks the guard's")
	require.Equal(t, cascade.BudgetFail, s.Strategy)
	require.Equal(t, int64(125), r.Reserve)
}
