package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// stopFiles are cascades in which a limit stops a run while a call of a child beside it is in flight: what "big" asks for
// does not fit, and what "leaf" asks for is held back by the server until that is so.
var stopFiles = map[string]string{
	"beside.json": `{"cascade_id": "beside", "budget": {"max_usd": 0.01}, "phases": [
		{"name": "small", "instructions": "wait for leaf", "max_output_tokens": 10, "async_cascades": [{"ref": "leaf.json"}]},
		{"name": "big", "instructions": "big", "max_output_tokens": 100000}]}`,
	"detached.json": `{"cascade_id": "detached", "budget": {"max_usd": 0.01}, "phases": [
		{"name": "small", "instructions": "wait for leaf", "max_output_tokens": 10, "async_cascades": [{"ref": "leaf.json", "detach": true}]},
		{"name": "big", "instructions": "big", "max_output_tokens": 100000}]}`,
	"spawned.json": `{"cascade_id": "spawned", "budget": {"max_usd": 0.01}, "phases": [
		{"name": "small", "instructions": "spawn", "max_output_tokens": 10, "tackle": ["spawn_cascade"]},
		{"name": "big", "instructions": "big", "max_output_tokens": 100000}]}`,
	"nested.json": `{"cascade_id": "nested", "budget": {"max_usd": 0.01}, "phases": [
		{"name": "small", "instructions": "wait for leaf", "max_output_tokens": 10, "async_cascades": [{"ref": "middle.json"}]},
		{"name": "big", "instructions": "big", "max_output_tokens": 100000}]}`,
	"middle.json": `{"cascade_id": "middle", "phases": [
		{"name": "pass", "tool": "set_state", "inputs": {"key": "a", "value": "b"}, "async_cascades": [{"ref": "leaf.json"}]}]}`,
	"below.json":  `{"cascade_id": "below", "phases": [{"name": "small", "instructions": "small", "max_output_tokens": 10, "sub_cascades": [{"ref": "beside.json"}]}]}`,
	"above.json":  `{"cascade_id": "above", "phases": [{"name": "small", "instructions": "small", "max_output_tokens": 10, "sub_cascades": [{"ref": "holder.json"}]}]}`,
	"holder.json": `{"cascade_id": "holder", "budget": {"max_usd": 0.01}, "phases": [{"name": "none", "instructions": "none", "sub_cascades": [{"ref": "greedy.json"}]}]}`,
	"greedy.json": `{"cascade_id": "greedy", "phases": [{"name": "big", "instructions": "big", "max_output_tokens": 100000}]}`,
	"leaf.json": `{"cascade_id": "leaf", "phases": [
		{"name": "one", "instructions": "leaf", "max_output_tokens": 10}, {"name": "two", "instructions": "never", "max_output_tokens": 10}]}`,
}

// stopSink says when a run, or one below it, was stopped by its budget, and keeps in which order runs ended.
type stopSink struct {
	id      string
	stopped func()
	ends    *ends
}

type ends struct {
	mu  sync.Mutex
	ids []string
}

func (s *stopSink) Write(e *echo.Entry) error {
	switch e.NodeType { //nolint:exhaustive // the others say nothing of it
	case echo.NodePhaseEnd:
		if d, err := echo.Read[echo.PhaseEnd](e); err == nil && d.Status == echo.StatusOverBudget {
			s.stopped()
		}
	case echo.NodeRunEnd:
		s.ends.mu.Lock()
		defer s.ends.mu.Unlock()
		s.ends.ids = append(s.ends.ids, s.id)
	}
	return nil
}

func (s *stopSink) Close(context.Context) error { return nil }

// stopped runs a cascade of stopFiles and returns what the server has billed, and the runs in the order of their ends.
func stopped(t *testing.T, a *App, name string) (res *engine.Result, bill []llmtest.Charge, order []string, err error) {
	t.Helper()
	leaf, over := make(chan struct{}), make(chan struct{})
	wait := func(until chan struct{}) {
		select {
		case <-until:
		case <-t.Context().Done():
		}
	}
	server := llmtest.Start(llmtest.Config{Prices: &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}, Answer: func(r llmtest.Request) *llmtest.Answer {
		first, _, _ := strings.Cut(r.Messages[len(r.Messages)-1].Text(), "\n")
		switch first {
		case "leaf":
			close(leaf)
			wait(over)
		case "wait for leaf":
			<-leaf
		case "spawn":
			return &llmtest.Answer{Calls: []llmtest.Call{{ID: "c1", Name: "spawn_cascade", Arguments: `{"cascade": "leaf"}`}}}
		default:
			if r.Messages[len(r.Messages)-1].Role == "tool" {
				wait(leaf)
			}
		}
		return &llmtest.Answer{Text: "said " + first}
	}})
	t.Cleanup(server.Close)
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "windlass.json"), fmt.Appendf(nil,
		`{"models": {"*": {"base_url": %q, "context_window": 200000, "price": {"input": 2, "cached_input": 0.2, "output": 8, "as_of": "2026-01-31", "source": "test"}}}}`, server.URL), 0o600))
	for file, text := range stopFiles {
		require.NoError(t, os.WriteFile(filepath.Join(a.dir, file), []byte(text), 0o600))
	}
	c, found, err := LoadFile(t.Context(), filepath.Join(a.dir, name), Known())
	require.NoError(t, err, found)
	once, ends := sync.OnceFunc(func() { close(over) }), &ends{}
	sinks := func(r *Run) []echo.Sink { return []echo.Sink{&stopSink{r.ID(), once, ends}} }
	r, err := a.Start(t.Context(), Job{Cascade: c, File: filepath.Join(a.dir, name)}, RunOptions{SessionID: "top", NoClickHouse: true, Models: Models{Default: "m1"}}, Watch{
		Follow: func(r *Run) (engine.Observer, []echo.Sink) { return nil, sinks(r) },
		Child:  func(_, r *Run) (engine.Observer, []echo.Sink) { return nil, sinks(r) },
	})
	require.NoError(t, err)
	res, err = r.Do(t.Context())
	closing := r.Close()
	require.NoError(t, closing.Err)
	return res, server.Bill(), ends.ids, err
}

// recordedMoney returns what the model calls of all sessions have cost, by their records.
func recordedMoney(t *testing.T, a *App) (calls int, usd float64) {
	t.Helper()
	dirs, err := os.ReadDir(filepath.Dir(a.SessionDir("top")))
	require.NoError(t, err)
	for _, d := range dirs {
		for _, e := range a.recording(t, d.Name()).Entries {
			if e.NodeType == echo.NodeModelCall {
				require.NotNil(t, e.CostUSD, "%s of %s: %v", e.Key, d.Name(), e.Error)
				usd += *e.CostUSD
				calls++
			}
		}
	}
	return calls, usd
}

// A limit that stops a run lets calls in flight come to their ends wherever they are in its tree, as they are paid for; no
// other call begins. What is recorded is what the server has billed.
func TestBudgetStopsSoftly(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		ends  []string // cascades, in the order in which they end
		calls int
	}{
		"beside":   {[]string{"leaf", "beside"}, 2},
		"spawned":  {[]string{"leaf", "spawned"}, 3},
		"nested":   {[]string{"leaf", "middle", "nested"}, 2},
		"detached": {[]string{"leaf", "detached"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			res, bill, order, err := stopped(t, a, name+".json")
			require.ErrorContains(t, err, "the next call would exceed the budget: max_usd is $0.0100")
			require.True(t, failure.Is(err, failure.OverBudget))
			require.Equal(t, echo.StatusOverBudget, res.Status)
			var ids []string
			for _, id := range order {
				rec := a.recording(t, id)
				require.Equal(t, echo.StatusOverBudget, record.EndOf(rec.Entries).Status, id)
				ids = append(ids, strings.TrimSuffix(filepath.Base(rec.Header.File), ".json"))
			}
			if name == "detached" { // nobody waits for it but the process
				require.ElementsMatch(t, want.ends, ids)
			} else {
				require.Equal(t, want.ends, ids)
			}
			calls, usd := recordedMoney(t, a)
			billed := 0.0
			for i := range bill {
				billed += bill[i].USD()
			}
			require.Equal(t, []int{want.calls, want.calls}, []int{calls, len(bill)})
			require.InDelta(t, billed, usd, 1e-6)
			verifyTree(t, a, "top")
		})
	}
}

// A limit of a child's own stops what is below it, and is an outcome for its parent.
func TestBudgetStopsAChildSoftly(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	res, bill, _, err := stopped(t, a, "below.json")
	require.ErrorContains(t, err, "the cascade beside (session ")
	require.ErrorContains(t, err, "ended over_budget: beside/big (attempt 1, turn 1): the next call would exceed the budget: max_usd is $0.0100")
	require.Equal(t, echo.StatusFailed, res.Status)
	_, usd := recordedMoney(t, a)
	billed := 0.0
	for i := range bill {
		billed += bill[i].USD()
	}
	require.InDelta(t, billed, usd, 1e-6)
}

// Nor does such a limit stop the runs above when a child of the child comes to it.
func TestBudgetOfAChildIsReachedBelow(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	res, bill, order, err := stopped(t, a, "above.json")
	require.ErrorContains(t, err, "the cascade holder (session ")
	require.Equal(t, echo.StatusFailed, res.Status)
	require.Empty(t, bill)
	require.Len(t, order, 3)
	verifyTree(t, a, "top")
}
