package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/quantity"
)

// cardsLab has a cascade whose second phase selects by meaning, with cards by a model and vectors
// by another one.
func cardsLab(t *testing.T, cardModel, embedder, budget string) *lab {
	t.Helper()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.env = append(l.env, "WINDLASS_EMBEDDING_MODEL="+embedder)
	l.file("windlass.json", `{"models": {
		"*": {"max_retries": 0}, "plain": {"price": {"input": 1, "output": 1}}, "summer": {"price": {"input": 1000, "output": 1000}},
		"vectors": {"price": {"input": 2, "output": 0}}}}`)
	long := strings.Repeat("Look at the pump, its seal and its valve. ", 10)
	l.file("review.json", fmt.Sprintf(`{"cascade_id": "review", %s "model": "plain", "auto_context": {"inter_phase": {"card_model": %q}},
		"phases": [{"name": "read", "instructions": %q}, {"name": "report", "instructions": "What of the seal?",
		"context": {"mode": "auto", "anchors": {"window": 1, "include": []}, "selection": {"strategy": "semantic"}}}]}`, budget, cardModel, long))
	return l
}

// cardEntries returns the entries of a session's calls for cards, and the sums of all its model
// calls.
func (l *lab) cardEntries(id string) (cards []*echo.Entry, sum effect.Totals) {
	l.t.Helper()
	rec, err := journal.Read(filepath.Join(l.home, "sessions", id, journal.File))
	require.NoError(l.t, err)
	for _, e := range rec.Entries {
		if e.NodeType != echo.NodeModelCall {
			continue
		}
		if e.Background() {
			cards = append(cards, e)
		}
		if e.Error == nil {
			sum.Count(&effect.ModelResponse{Usage: *e.Usage, CostUSD: e.CostUSD}, nil)
		}
	}
	return cards, sum
}

// What cards cost is in the record, in the sums that a run ends with, in reports and in SQL, the
// same everywhere.
func TestCardsCost(t *testing.T) {
	t.Parallel()
	l := cardsLab(t, "summer", "vectors", "")
	p := l.run(exitOK, "run", "review.json", "--session", "s1", "--json")
	entries, sum := l.cardEntries("s1")
	calls := map[string]int{}
	for _, e := range entries {
		require.Equal(t, "review", e.CascadeID)
		require.Contains(t, e.Provider, "127.0.0.1:")
		require.Positive(t, e.DurationMS, e.Key)
		calls[e.Model]++
		if e.Model == "summer" {
			require.Equal(t, fmt.Sprint("cards/call", calls[e.Model]), e.Key.String())
			require.NotEmpty(t, e.RequestHash)
			require.Equal(t, echo.Usage{In: 1200, Cached: 200, Out: 40}, *e.Usage)
			require.InDelta(t, 1.24, *e.CostUSD, 1e-9)
			continue
		}
		require.Equal(t, fmt.Sprint("cards/embed", calls[e.Model]), e.Key.String())
		require.Nil(t, e.Message)
		require.Empty(t, e.RequestHash)
		require.InDelta(t, float64(e.Usage.In)*2/1e6, *e.CostUSD, 1e-12)
	}
	require.Positive(t, calls["summer"])
	require.Positive(t, calls["vectors"])

	type totals struct {
		effect.Totals
		Embeddings int `json:"embedding_calls"`
	}
	var out struct {
		totals
		Cards  totals
		Phases []totals
	}
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &out))
	require.Equal(t, calls["vectors"], out.Embeddings)
	require.Equal(t, sum.Calls, out.Calls+out.Embeddings)
	require.Equal(t, sum.Usage, out.Usage)
	require.InDelta(t, sum.CostUSD, out.CostUSD, 1e-9)
	require.Equal(t, []int{calls["summer"], calls["vectors"]}, []int{out.Cards.Calls, out.Cards.Embeddings})
	require.InDelta(t, 2*0.00124, out.CostUSD-out.Cards.CostUSD, 1e-9, "what is left is the phases'")
	require.Equal(t, 2, out.Phases[0].Calls+out.Phases[1].Calls)
	require.Contains(t, p.err.String(), fmt.Sprintf("2 phases, %s  in ", quantity.Requests(out.Calls, out.Embeddings)))
	require.Contains(t, p.err.String(), fmt.Sprintf("Cards: %s of it, in ", quantity.Requests(out.Cards.Calls, out.Cards.Embeddings)))

	var rows []struct {
		Calls int     `json:"calls"`
		Embed int     `json:"embedding_calls"`
		In    int64   `json:"tokens_in"`
		Cost  float64 `json:"cost_usd"`
	}
	for _, args := range [][]string{
		{"cost", "--by", "session", "--json"},
		{"sql", "--json", "SELECT countIf(effect != 'embed') AS calls, countIf(effect = 'embed') AS embedding_calls, sum(tokens_in) AS tokens_in, sum(cost_usd) AS cost_usd FROM model_calls WHERE session_id = 's1'"},
	} {
		require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, args...).out.String()), &rows))
		require.Len(t, rows, 1)
		require.Equal(t, []int{out.Calls, out.Embeddings}, []int{rows[0].Calls, rows[0].Embed})
		require.Equal(t, sum.Usage.In, rows[0].In)
		require.InDelta(t, sum.CostUSD, rows[0].Cost, 1e-9)
	}
	require.Contains(t, l.run(exitOK, "cost", "--by", "model").out.String(), "\nvectors ")
	require.NotContains(t, strings.Join(journalOf(t, l.home, "s1"), "\n"), testKey)
}

// What cards cost counts towards the cascade's budget.
func TestCardsCostCountsInBudgets(t *testing.T) {
	t.Parallel()
	l := cardsLab(t, "summer", "vectors", `"budget": {"max_usd": 1},`)
	p := l.run(exitBudget, "run", "review.json", "--session", "s1")
	require.Contains(t, p.err.String(), "review/report (attempt 1, turn 1): budget reached: max_usd is $1.0000, used $1.24")
	var own int
	for _, line := range journalOf(t, l.home, "s1") {
		if strings.Contains(line, `"node_type":"model_call"`) && !strings.Contains(line, `"key":"cards/`) {
			own++
		}
	}
	require.Equal(t, 1, own, "the second phase did not ask")
}

// Endpoints that refuse cost the run nothing but the cards: it ends as it would, says what it did
// without, and tells no key.
func TestCardsCostOfFailures(t *testing.T) {
	t.Parallel()
	l := cardsLab(t, "limited", "limited", `"budget": {"max_usd": 1},`)
	p := l.run(exitOK, "run", "review.json", "--session", "s1")
	require.Equal(t, "An answer in plain words.\n", p.out.String())
	entries, _ := l.cardEntries("s1")
	models := map[string]string{}
	for _, e := range entries {
		require.NotNil(t, e.Error, e.Key)
		require.Zero(t, *e.CostUSD, "nothing was made")
		models[strings.TrimRight(e.Key.String(), "0123456789")] = e.Error.Kind
	}
	require.Equal(t, map[string]string{"cards/call": "rate_limited", "cards/embed": "bad_request"}, models)
	all := strings.Join(journalOf(t, l.home, "s1"), "\n")
	require.Contains(t, all, "[value of OPENAI_API_KEY]")
	require.NotContains(t, all+p.err.String(), testKey)
}
