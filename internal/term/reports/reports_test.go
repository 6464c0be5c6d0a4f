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
	require.NotContains(t, reports.Sessions([]archive.Listed{{}}).Heads(), "children")
	list := reports.Sessions([]archive.Listed{{Children: 1200}, {ChildOf: "p1"}})
	require.Contains(t, list.Heads(), "children")
	require.Contains(t, list.Heads(), "child of")
	require.Contains(t, text(t, list), "1,200")
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

// What was really sent is the first row, the others say how they differ from it, costs have one number
// of decimals, and what the run paid is below.
func TestSimulationOfARun(t *testing.T) {
	t.Parallel()
	some := func(v float64) *float64 { return &v }
	changed, none := 3, 0
	group := &simulate.Group{
		File: "a", Conversations: 1, Calls: 12, TokensFull: 5000, Prices: simulate.Prices{Input: 2, Cached: 0.5, USD: true, Name: "2:0.5"},
		AsRun: &simulate.Summary{Policy: simulate.AsRun, TokensSent: 2500, Money: 0.0012}, PaidUSD: some(0.25),
		Policies: []*simulate.Summary{
			{Policy: "full", TokensSent: 5000, Money: 1.5, Changed: &changed, TokensOfRun: some(2), MoneyOfRun: some(1250)},
			{Policy: "tight", TokensSent: 2250, Money: 0.0011, Changed: &none, TokensOfRun: some(0.9), MoneyOfRun: some(0.91666)},
		},
	}
	shown := func(room term.Room) string {
		var b strings.Builder
		require.NoError(t, reports.Simulation(&b, room, &simulate.Report{Groups: []*simulate.Group{group}}))
		return b.String()
	}
	all := shown(term.Room{})
	require.Regexp(t, `(?m)^as run +2,500 +0\.0 % +0\.0 % +\$0\.0012 +0\.000`, all)
	require.Regexp(t, `(?m)^full +5,000 +\+100\.0 % +0\.0 % +0\.0 % +\$1\.5000 +\+124900\.0 %`, all)
	require.Regexp(t, `(?m)^tight +2,250 +-10\.0 % +0\.0 % +0\.0 % +\$0\.0011 +-8\.3 %`, all)
	require.True(t, strings.HasSuffix(all, "\n\nBy the record, the run paid $0.2500 for 12 calls, answers included.\n"), all)

	group.Policies, group.AsRun.TokensSent = group.Policies[1:], 5000
	require.Contains(t, shown(term.Room{Width: 80}), ""+
		"\nNo policy would have sent anything else: nothing in 12 calls was old or large\nenough to be left out.\nBy the record,")
}

// What sessions cost with all below them has a column of its own, where one has children.
func TestWithChildren(t *testing.T) {
	t.Parallel()
	var with, open archive.Listed
	usd := 0.75
	with.Below = clickhouse.Below{ChildrenBegun: 1, ChildrenEnded: 1, WithChildren: 2, WithChildrenUSD: &usd}
	open.Below = clickhouse.Below{ChildrenBegun: 2, ChildrenEnded: 1, WithChildren: 2, WithChildrenUSD: &usd}
	shown := text(t, reports.Sessions([]archive.Listed{with, open, {}}))
	require.Contains(t, shown, "with children")
	require.Contains(t, shown, "$0.7500\n")
	require.Contains(t, shown, "$0.7500 + unknown\n")
	require.NotContains(t, text(t, reports.Sessions([]archive.Listed{{}})), "with children")
}

// TestNoCosts: a report without rows says where the sessions are, if there are any.
func TestNoCosts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "No model calls yet. Make some: windlass run FILE", reports.NoCosts(false, archive.Unsent{}))
	require.Equal(t, "No model calls in ClickHouse. 1 session of this machine ran with --no-clickhouse: windlass show SESSION says what one cost, "+
		"windlass ship SESSION delivers it, windlass sessions list names them.\nThe rows of 2 sessions are pending: windlass ship delivers them.",
		reports.NoCosts(false, archive.Unsent{Kept: 1, Pending: 2}))
	require.Equal(t, "No model calls in ClickHouse. The rows of 1 session are pending: windlass ship delivers them.", reports.NoCosts(false, archive.Unsent{Pending: 1}))
	require.Contains(t, reports.NoCosts(true, archive.Unsent{Kept: 1}), "fit these filters")
}
