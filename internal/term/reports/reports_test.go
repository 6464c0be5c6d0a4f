package reports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func text(t *testing.T, table *term.Table) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, table.Render(&b, term.Room{}))
	return b.String()
}

func TestShipped(t *testing.T) {
	t.Parallel()
	shown := text(t, reports.Shipped([]archive.Shipped{
		{ID: "a", Delivered: 1200, Outcome: archive.LeftRunning},
		{ID: "b", Pending: 3, Error: "the disk is full"},
	}))
	require.Regexp(t, `a +1,200 +0  .+: left to the process that runs it\n`, shown)
	require.Regexp(t, `b +0 +3  : the disk is full\n`, shown)
}

// Every report of costs has columns of its own before those that all have.
func TestCosts(t *testing.T) {
	t.Parallel()
	for by, heads := range map[clickhouse.CostBy][]string{
		clickhouse.ByCascade: {"cascade"},
		clickhouse.ByPhase:   {"cascade", "phase"},
		clickhouse.ByModel:   {"model", "provider"},
		clickhouse.BySession: {"session", "cascade"},
		clickhouse.ByDay:     {"day"},
	} {
		table := reports.Costs(by, []clickhouse.CostRow{{}})
		require.Equal(t, append(heads, "calls", "scripted", "failed", "tokens in", "cached", "tokens out", "cost", "time"), table.Heads())
		text(t, table)
	}
}

// Only a list with something that waits has a column for it.
func TestSessions(t *testing.T) {
	t.Parallel()
	require.NotContains(t, reports.Sessions([]archive.Listed{{}}).Heads(), "waiting")
	require.Contains(t, reports.Sessions([]archive.Listed{{}, {Pending: 1}}).Heads(), "waiting")
}

func TestCalls(t *testing.T) {
	t.Parallel()
	shown := text(t, reports.Calls([]archive.Call{
		{NodeType: "tool_call", Name: "read_file", Failed: true, Error: "no such file"},
		{NodeType: "model_call", Retries: 2},
	}))
	require.Contains(t, shown, "failed: no such file\n")
	require.Contains(t, shown, "ok (tried 3 times)\n")
}

func TestSimulation(t *testing.T) {
	t.Parallel()
	best := 1.25
	group := &simulate.Group{
		File: "a\x1b.jsonl", Conversations: 1, Calls: 1200, TokensFull: 5000, Prices: simulate.Prices{Input: 1, Cached: 0.1},
		Policies: []*simulate.Summary{{Policy: "default", TokensSent: 2500, Saved: 0.5, OfBest: &best, Worst: 1.5, WorstAt: 7}},
	}
	var b strings.Builder
	require.NoError(t, reports.Simulation(&b, term.Room{}, &simulate.Report{Groups: []*simulate.Group{group}}))
	require.True(t, strings.HasPrefix(b.String(), "a.jsonl: 1 conversation, 1,200 calls, 5,000 tokens with full history; a cached token costs 0.1 of another\n\n"), b.String())
	require.Regexp(t, `default +2,500 +50\.0 % +0\.0 % +0 +1\.250 +0\.000 +1\.500  line 7`, b.String())
}
