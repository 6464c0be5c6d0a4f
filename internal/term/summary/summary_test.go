package summary

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/waits"
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
	require.Empty(t, contextLine(result(), record.Sizes{Full: 100, Sent: 100}))
	require.Equal(t, "Context: sent 6,632 of 10,000 tokens of history (33.7 % less, estimated), 3 tool results masked at the end, "+
		"1 recall and 2 repeated calls of masked results",
		contextLine(result(engine.ContextFigures{MaskedResults: 2, Rereads: 2}, engine.ContextFigures{MaskedResults: 1, Recalls: 1}), record.Sizes{Full: 10_000, Sent: 6632}))
}

func TestWriteText(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	run := Run{
		Session: "01a", Result: &engine.Result{Status: echo.StatusOverBudget, Phases: make([]engine.PhaseResult, 1)},
		Totals: record.Totals{Calls: 2, UnknownCosts: 1}, Cards: record.Totals{Calls: 1, Embeddings: 3, CostUSD: 0.5},
		Copied: record.Copied{Origin: echo.Origin{Session: "0zz", Upto: 9}, Totals: record.Totals{Calls: 4, CostUSD: 2, UnknownCosts: 1}},
	}
	run.WriteText(&out)
	require.Equal(t, "\nStopped by the budget in 0ms: 1 phase, 2 model calls  in 0  cached 0  out 0  $0.00 + unknown\n"+
		"Cards: 1 model call, 3 embedding requests of it, in 0  cached 0  out 0  $0.5000\n"+
		"Copied from 0zz: 4 model calls, $2.00 + unknown, not counted\nsession 01a\n", out.String())
}

func TestWaitingRun(t *testing.T) {
	t.Parallel()
	run := Run{Session: "01a", Result: &engine.Result{Status: echo.StatusWaiting}}
	for i := range 7 {
		x := &waits.Wait{ID: fmt.Sprint("w", i), Kind: echo.WaitSignal, Signal: "go"}
		if i == 0 {
			x = &waits.Wait{ID: "w0", Kind: echo.WaitInput, Form: &echo.Form{Question: "Fine?"}, Asked: "Fine?"}
		}
		run.Waits = append(run.Waits, x)
	}
	var out strings.Builder
	run.WriteText(&out)
	require.Equal(t, "\nWaiting in 0ms: 0 phases, 0 model calls  in 0  cached 0  out 0  $0.00\n"+
		"Waits for an answer: Fine?  windlass answer w0\n"+
		"Waits for the signal \"go\"  windlass answer w1\n"+
		"Waits for the signal \"go\"  windlass answer w2\n"+
		"Waits for the signal \"go\"  windlass answer w3\n"+
		"Waits for the signal \"go\"  windlass answer w4\n"+
		"2 more waits  windlass waiting 01a\nsession 01a\n", out.String())
	out.Reset()
	require.NoError(t, run.WriteJSON(&out, nil))
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(out.String()), &got))
	require.Equal(t, "waiting", got["status"])
	require.Len(t, got["waits"], 7)
}

// What children took is in figures of its own, and in those with children.
func TestChildren(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	run := Run{
		Session: "01a", Result: &engine.Result{Status: echo.StatusCompleted}, Totals: record.Totals{Calls: 1, CostUSD: 0.25},
		Below: record.Below{Begun: 3, Ended: 2, Totals: record.Totals{Calls: 4, CostUSD: 0.5, UnknownCosts: 1}},
	}
	run.WriteText(&out)
	require.Equal(t, "\nCompleted in 0ms: 0 phases, 1 model call  in 0  cached 0  out 0  $0.2500\n"+
		"Children: 3 sessions that this one began (1 without an end here, whose costs are not known), and all below them, not in the figures above: 4 model calls  in 0  cached 0  out 0  "+
		"$0.5000 + unknown; with them $0.7500 + unknown\nsession 01a\n", out.String())
	out.Reset()
	require.NoError(t, run.WriteJSON(&out, nil))
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(out.String()), &got))
	require.InDelta(t, 0.25, got["cost_usd"], 0)
	children, all := got["children"].(map[string]any), got["with_children"].(map[string]any)
	require.Equal(t, []any{3.0, 2.0, 4.0, 0.5}, []any{children["sessions"], children["ended"], children["model_calls"], children["cost_usd"]})
	require.Equal(t, []any{5.0, 0.75}, []any{all["model_calls"], all["cost_usd"]})
	run.Below = record.Below{Begun: 1, Ended: 1}
	out.Reset()
	run.WriteText(&out)
	require.Contains(t, out.String(), "Children: 1 session that this one began, and all below them, not")
}

// What calls of children would have cost is in the line of that of the run, also when the run itself has
// made no call.
func TestPretendedOfChildren(t *testing.T) {
	t.Parallel()
	text := func(own, below record.Totals) string {
		var out strings.Builder
		Run{Session: "01a", Result: &engine.Result{Status: echo.StatusCompleted}, Totals: own, Below: record.Below{Begun: 1, Ended: 1, Totals: below}}.WriteText(&out)
		return out.String()
	}
	at := func(usd float64) record.Totals {
		return record.Totals{Calls: 1, Scripted: 1, PretendUSD: usd, PriceAs: "m1"}
	}
	require.Contains(t, text(at(0.25), at(0.5)), "\nAt prices of m1: $0.2500; with children $0.7500 (nothing was paid)\n")
	require.Contains(t, text(record.Totals{}, at(0.5)), "\nAt prices of m1: $0.00; with children $0.5000 (nothing was paid)\n")
	require.Contains(t, text(at(0.25), record.Totals{}), "\nAt prices of m1: $0.2500 (nothing was paid)\n")
	require.NotContains(t, text(record.Totals{}, record.Totals{}), "prices of")
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	run := Run{
		Result: &engine.Result{Status: echo.StatusFailed, Totals: effect.Totals{Calls: 9}, Phases: []engine.PhaseResult{{Totals: effect.Totals{Calls: 8}}}},
		Totals: record.Totals{Calls: 2, UnknownCosts: 2, Failed: 1}, Cards: record.Totals{Calls: 1, CostUSD: 0.5}, Phases: []record.Totals{{Calls: 3, CostUSD: 0.25}},
	}
	require.NoError(t, run.WriteJSON(&out, errors.New("no <answer>")))
	require.Contains(t, out.String(), `"cost_usd": null`, "no cost of a call is known")
	require.Contains(t, out.String(), `"cost_usd": 0.25`)
	require.Contains(t, out.String(), `"model_calls": 3`)
	require.Contains(t, out.String(), `"failed_calls": 1`)
	require.NotContains(t, out.String(), `"model_calls": 8`, "what the engine was answered is another figure")
	require.Contains(t, out.String(), `"cost_usd": 0.5`)
	require.Contains(t, out.String(), `"model_calls": 2`)
	require.Contains(t, out.String(), `"error": "no <answer>"`)
}

func TestWriteOutput(t *testing.T) {
	t.Parallel()
	for want, output := range map[string]any{
		"a text\n":                       "a text",
		"a line\n":                       "a line\n",
		"{\n  \"a\": [\n    1\n  ]\n}\n": map[string]any{"a": []int{1}},
		"\n":                             nil,
	} {
		var out strings.Builder
		require.NoError(t, WriteOutput(&out, output))
		require.Equal(t, want, out.String())
	}
}

// What is wider than a terminal goes on below, between columns where it can.
func TestFolded(t *testing.T) {
	t.Parallel()
	const text = "Completed in 1s: 2 phases, 3 model calls  in 409  cached 89  out 136  $0.00  (scripted: no model was asked, nothing was paid)"
	require.Equal(t, []string{text}, folded(text, 200))
	require.Equal(t, []string{"Completed in 1s: 2 phases, 3 model calls  in 409  cached 89  out 136  $0.00", "(scripted: no model was asked, nothing was paid)"}, folded(text, 78))
	require.Equal(t, []string{"Completed in 1s: 2", "phases, 3 model", "calls  in 409", "cached 89  out 136", "$0.00", "(scripted: no", "model was asked,", "nothing was paid)"}, folded(text, 18))
}
