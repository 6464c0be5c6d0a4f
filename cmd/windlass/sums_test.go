package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestReportsAreSumsOfTheRecord runs models that answer, are refused, break off, are tried again,
// and a script, and holds every line of every cost report, and of the sessions, against sums over
// the model_call entries of the journals.
func TestReportsAreSumsOfTheRecord(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	for name, text := range recorded {
		l.file(name, text)
	}
	l.file("windlass.json", `{"models": {"*": {"max_retries": 1}, "limited": {"max_retries": 0}}}`)
	var calls []*echo.Entry
	for _, r := range []struct {
		code        int
		model, file string
	}{
		{exitOK, "gpt-5-mini", "ask.json"},
		{exitOK, "gpt-5-mini", "read.json"},
		{exitOK, "plain", "ask.json"},
		{exitOK, "limited-once", "ask.json"},
		{exitProvider, "limited", "ask.json"},
		{exitProvider, "cut", "ask.json"},
		{exitOK, "", "odd.json"},
	} {
		args := []string{"run", r.file, "--session", "of-" + r.model + "-" + r.file, "--model", r.model}
		if r.model == "" {
			args = append(args[:4], "--offline")
		}
		l.run(r.code, args...)
		rec, err := journal.Read(filepath.Join(l.home, "sessions", args[3], journal.File))
		require.NoError(t, err)
		for _, e := range rec.Entries {
			if e.NodeType == echo.NodeModelCall {
				calls = append(calls, e)
			}
		}
	}
	sums := map[string]func(*echo.Entry) clickhouse.CostRow{
		"cascade": func(e *echo.Entry) clickhouse.CostRow { return clickhouse.CostRow{CascadeID: e.CascadeID} },
		"phase": func(e *echo.Entry) clickhouse.CostRow {
			return clickhouse.CostRow{CascadeID: e.CascadeID, Phase: e.Phase}
		},
		"model": func(e *echo.Entry) clickhouse.CostRow {
			return clickhouse.CostRow{Model: e.Model, Provider: e.Provider}
		},
		"session": func(e *echo.Entry) clickhouse.CostRow {
			return clickhouse.CostRow{SessionID: e.SessionID, CascadeID: e.CascadeID}
		},
		"day": func(e *echo.Entry) clickhouse.CostRow { return clickhouse.CostRow{Day: e.At.Format("2006-01-02")} },
	}
	for by, name := range sums {
		var rows []clickhouse.CostRow
		require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "cost", "--by", by, "--json").out.String()), &rows))
		got := map[clickhouse.CostRow]clickhouse.Usage{}
		for _, r := range rows {
			u := r.Usage
			r.Usage = clickhouse.Usage{}
			require.NotContains(t, got, r, "each once")
			got[r] = u
		}
		require.Empty(t, cmp.Diff(sumUp(calls, name), got, cmp.Comparer(nearly)), by)
	}
	bySession := sumUp(calls, sums["session"])
	var sessions []clickhouse.Session
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "sessions", "list", "--json").out.String()), &sessions))
	require.Len(t, sessions, len(bySession))
	for _, s := range sessions {
		want := bySession[clickhouse.CostRow{SessionID: s.ID, CascadeID: s.CascadeID}]
		got := clickhouse.Usage{
			Calls: s.Calls, UnknownCostCalls: s.UnknownCostCalls, ScriptedCalls: s.ScriptedCalls, FailedCalls: want.FailedCalls,
			Tokens: s.Tokens, CostUSD: s.CostUSD, DurationMS: want.DurationMS,
		}
		require.Empty(t, cmp.Diff(want, got, cmp.Comparer(nearly)), s.ID)
	}

	// What is known beforehand of these calls, so that a record that is wrong itself is noticed.
	byModel := sumUp(calls, sums["model"])
	of := func(model, provider string) clickhouse.Usage {
		return byModel[clickhouse.CostRow{Model: model, Provider: provider}]
	}
	host := calls[0].Provider
	refused := of("limited", host)
	require.Equal(t, uint64(1), refused.FailedCalls)
	require.Zero(t, refused.UnknownCostCalls, "what was refused cost nothing")
	require.Equal(t, uint64(1), of("cut", host).UnknownCostCalls, "an answer was under way")
	require.Equal(t, uint64(1), of("limited-once", host).Calls, "a request that is tried again is one call")
	require.Equal(t, int64(3*1200), of("gpt-5-mini", host).TokensIn)
	require.InDelta(t, 3*0.000335, *of("gpt-5-mini", host).CostUSD, 1e-12) // 1000 at 0.25, 200 at 0.025, 40 at 2 per million
	require.Equal(t, uint64(1), of("scripted", "scripted").ScriptedCalls)
	require.Zero(t, *of("scripted", "scripted").CostUSD)
}

// sumUp is what a report should say: the sums over calls of the same name.
func sumUp(calls []*echo.Entry, name func(*echo.Entry) clickhouse.CostRow) map[clickhouse.CostRow]clickhouse.Usage {
	sums := map[clickhouse.CostRow]clickhouse.Usage{}
	for _, e := range calls {
		s := sums[name(e)]
		s.Calls++
		s.DurationMS += e.DurationMS
		if e.Scripted {
			s.ScriptedCalls++
		}
		if e.Error != nil {
			s.FailedCalls++
		}
		if e.Usage != nil {
			s.TokensIn += e.Usage.In
			s.TokensCached += e.Usage.Cached
			s.TokensOut += e.Usage.Out
			s.TokensReasoning += e.Usage.Reasoning
		}
		if e.CostUSD == nil {
			s.UnknownCostCalls++
		} else {
			sum := *e.CostUSD
			if s.CostUSD != nil {
				sum += *s.CostUSD
			}
			s.CostUSD = &sum
		}
		sums[name(e)] = s
	}
	return sums
}

// nearly compares sums whose parts were added in another order.
func nearly(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
