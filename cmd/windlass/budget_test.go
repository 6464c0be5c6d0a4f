package main

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
)

func TestBudgetOverride(t *testing.T) {
	t.Parallel()
	base := cascade.Budget{MaxUSD: 1, MaxTokens: 1000, MaxSeconds: 60}
	tests := map[string]struct {
		args []string
		want *cascade.Budget
	}{
		"nothing given": {nil, nil},
		"lower":         {[]string{"--max-usd", "0.25"}, &cascade.Budget{MaxUSD: 0.25, MaxTokens: 1000, MaxSeconds: 60}},
		"higher":        {[]string{"--max-tokens=2000", "--max-seconds", "1e3"}, &cascade.Budget{MaxUSD: 1, MaxTokens: 2000, MaxSeconds: 1000}},
		"none":          {[]string{"--max-usd", "0", "--max-tokens", "0", "--max-seconds", "0"}, &cascade.Budget{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o budgetOverride
			cmd := &cobra.Command{}
			o.flags(cmd)
			require.NoError(t, cmd.ParseFlags(tt.args))
			require.Equal(t, tt.want, o.apply(base))
			require.NoError(t, o.check())
			data, err := json.Marshal(o)
			require.NoError(t, err)
			var again budgetOverride
			require.NoError(t, json.Unmarshal(data, &again))
			require.Equal(t, tt.want, again.apply(base))
		})
	}
	require.Equal(t, cascade.Budget{MaxUSD: 1, MaxTokens: 1000, MaxSeconds: 60}, base)
}

func TestWrongLimits(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--max-usd", "-1"},
		{"--max-usd", "NaN"},
		{"--max-usd", "Inf"},
		{"--max-usd", ""},
		{"--max-usd", "$1"},
		{"--max-seconds", "1m"},
		{"--max-tokens", "-5"},
		{"--max-tokens", "1e3"},
		{"--max-tokens", "99999999999999999999"},
	} {
		cmd := &cobra.Command{}
		(&budgetOverride{}).flags(cmd)
		require.ErrorContains(t, cmd.ParseFlags(args), "from 0 on, where 0 is no limit", args)
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		require.ErrorIs(t, budgetOverride{MaxUSD: &v}.check(), errNoAmount)
		require.ErrorIs(t, budgetOverride{MaxSeconds: &v}.check(), errNoAmount)
	}
	n := int64(-1)
	require.ErrorIs(t, budgetOverride{MaxTokens: &n}.check(), errNoCount)
}
