package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/commandline/limitflags"
)

func TestLimits(t *testing.T) {
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
			var o app.Limits
			cmd := &cobra.Command{}
			limitflags.Add(cmd.Flags(), &o)
			require.NoError(t, cmd.ParseFlags(tt.args))
			require.Equal(t, tt.want, o.Apply(base))
			require.NoError(t, o.Check())
			data, err := json.Marshal(o)
			require.NoError(t, err)
			var again app.Limits
			require.NoError(t, json.Unmarshal(data, &again))
			require.Equal(t, tt.want, again.Apply(base))
		})
	}
	require.Equal(t, cascade.Budget{MaxUSD: 1, MaxTokens: 1000, MaxSeconds: 60}, base)
}

// TestGoOnAsTold runs into every limit, and then types what the error says, until the run has come
// to its end: each time it gets further, nothing is asked twice, and the answer is that of a run
// without a limit. Its record holds what it is told.
func TestGoOnAsTold(t *testing.T) {
	t.Parallel()
	dsn := clickhousetest.DSN(t, clickhousetest.Open(t))
	const source = `{"cascade_id": "it", "tools": [{"tool_id": "nap", "type": "shell", "command": "sleep 0.2"}], "phases": [
		{"name": "nap", "tool": "nap"}, {"name": "one", "instructions": "First."},
		{"name": "two", "instructions": "{{ outputs.one }}", "tackle": ["read_file"]}, {"name": "three", "instructions": "Third."}]}`
	tests := map[string]struct{ flag, value, model string }{
		"usd":     {"--max-usd", "0.00105", "gpt-5-mini"},
		"tokens":  {"--max-tokens", "600", "gpt-5-mini"},
		"seconds": {"--max-seconds", "0.1", "gpt-5-mini"},
		"unknown": {"--max-usd", "1", "plain"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, dsn)
			l.file("it.json", source)
			l.file("README.md", "# A project")
			whole := l.run(exitOK, "run", "it.json", "--model", tt.model, "-q")
			asked := len(l.provider.Requests())
			id := "told-" + name
			p := l.run(exitBudget, "run", "it.json", "--model", tt.model, "--session", id, tt.flag, tt.value, "-q")
			stops := 0
			for ; p.ProcessState.ExitCode() != exitOK; stops++ {
				require.Less(t, stops, 20)
				require.Empty(t, p.out.String())
				before := len(l.provider.Requests())
				again := l.start("resume", id, "-q")
				require.Equal(t, exitBudget, again.wait(), "with the same budget it stops at the same place")
				require.Len(t, l.provider.Requests(), before)
				_, told, found := strings.Cut(p.err.String(), "windlass resume ")
				require.True(t, found, p.err.String())
				require.True(t, strings.HasPrefix(told, id+" "+tt.flag+" "), told)
				p = l.start(append([]string{"resume", "-q"}, strings.Fields(told)...)...)
				require.Contains(t, []int{exitOK, exitBudget}, p.wait(), p.err.String())
				require.Greater(t, len(l.provider.Requests()), before, p.err.String())
			}
			require.Positive(t, stops)
			require.Equal(t, whole.out.String(), p.out.String())
			require.Len(t, l.provider.Requests(), 2*asked, "as many as the run without a limit")
			l.run(exitOK, "verify", id)
			rows := l.ask("SELECT count() AS n, countIf(JSONHas(data_json, 'budget')) AS budgets FROM logs WHERE session_id = '" + id + "' AND node_type IN ('run_start', 'run_resume')")
			require.Equal(t, []map[string]any{{"n": number(uint64(1 + 2*stops)), "budgets": rows[0]["budgets"]}}, rows)
			require.NotEqual(t, number(0), rows[0]["budgets"])
		})
	}
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
		limitflags.Add(cmd.Flags(), &app.Limits{})
		require.ErrorContains(t, cmd.ParseFlags(args), "from 0 on, where 0 is no limit", args)
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1)} {
		require.ErrorIs(t, app.Limits{MaxUSD: &v}.Check(), app.ErrNoAmount)
		require.ErrorIs(t, app.Limits{MaxSeconds: &v}.Check(), app.ErrNoAmount)
	}
	n := int64(-1)
	require.ErrorIs(t, app.Limits{MaxTokens: &n}.Check(), app.ErrNoCount)
}
