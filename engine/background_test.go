package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// runBackground runs a cascade while calls in its background take what is given, once for each time
// that it asks. They are recorded in the middle of the run, as they would be, and a replay goes the
// same way without them.
func (b *testBundle) runBackground(source string, took ...effect.Totals) (*Result, error) {
	b.t.Helper()
	c := &cascade.Cascade{}
	require.NoError(b.t, json.Unmarshal([]byte(source), c))
	log := echo.NewLog("s1", nil, nil, b.entries)
	asked := 0
	res, err := b.runner.Run(context.Background(), Spec{Cascade: c, Log: log, WorkDir: "/scratch", Background: func() effect.Totals {
		asked++
		for _, key := range []echo.Key{echo.CardsKey().Numbered(echo.StepCall, asked), echo.CardsKey().Numbered(echo.StepEmbed, asked)} {
			require.NoError(b.t, log.Append(&echo.Entry{NodeType: echo.NodeModelCall, Key: key}))
		}
		if asked > len(took) {
			return effect.Totals{}
		}
		return took[asked-1]
	}})
	b.entries.checkKeys(b.t)
	b.checkReplay(c, nil, res, err)
	return res, err
}

const backgroundSource = `{"cascade_id":"c","budget":{%s},"phases":[{"name":"a","instructions":"A"},{"name":"b","instructions":"B"},{"name":"cards","instructions":"C"}]}`

// A budget counts the background of the run; what a phase and the run itself took stays theirs.
func TestBudgetCountsTheBackground(t *testing.T) {
	t.Parallel()
	some := effect.Totals{Calls: 2, CostUSD: 0.004, Usage: echo.Usage{In: 300, Out: 20}}
	for name, tc := range map[string]struct{ budget, want string }{
		"usd":    {`"max_usd":0.025`, "budget reached: max_usd is $0.0250, used $0.0280"},
		"tokens": {`"max_tokens":740`, "budget reached: max_tokens is 740 tokens, used 860 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, say("a"), say("b"))
			res, err := b.runBackground(fmt.Sprintf(backgroundSource, tc.budget), effect.Totals{}, some, some)
			require.ErrorContains(t, err, "c/cards (attempt 1, turn 1): "+tc.want)
			require.Equal(t, echo.StatusOverBudget, res.Status)
			require.Equal(t, 2, res.Calls, "of its own")
			require.InDelta(t, 0.02, res.CostUSD, 1e-12)
		})
	}
}

// What was known of it is a reading like that of a clock: recorded when there is something new, and
// never as an effect of its own.
func TestBackgroundIsAReading(t *testing.T) {
	t.Parallel()
	some := effect.Totals{Calls: 2, CostUSD: 0.004, Usage: echo.Usage{In: 300}}
	b := setup(t, say("a"), say("b"), say("c"))
	_, err := b.runBackground(fmt.Sprintf(backgroundSource, `"max_usd":1`), some, effect.Totals{}, some)
	require.NoError(t, err)
	require.Equal(t, []string{"a/attempt1/turn1/model/beside", "cards~1/attempt1/turn1/model/beside"}, b.entries.keys(echo.NodeValue))
	require.JSONEq(t, `{"model_calls":2,"usage":{"in":300,"out":0},"cost_usd":0.004,"unknown_costs":0,"limited_usd":true}`, string(b.entries.of(echo.NodeValue)[0].Data))
	for _, e := range b.entries.list {
		require.Equal(t, e.Key.Purpose() == echo.PurposeCards || e.Key.Purpose() == echo.PurposeEmbed, e.Background(),
			"%s: a phase may be called cards", e.Key)
	}

	for name, budget := range map[string]string{"no limit that it counts for": `"max_seconds":60`, "nothing goes on": `"max_usd":1`} {
		b := setup(t, say("a"), say("b"), say("c"))
		took := []effect.Totals{some}
		if name == "nothing goes on" {
			took = nil
		}
		_, err := b.runBackground(fmt.Sprintf(backgroundSource, budget), took...)
		require.NoError(t, err, name)
		for _, key := range b.entries.keys(echo.NodeValue) {
			require.NotContains(t, key, "beside", name)
		}
	}
}

// A run that is taken up after any entry counts what was read before it stopped: it stops at the
// same place.
func TestBackgroundAfterAStop(t *testing.T) {
	t.Parallel()
	source := fmt.Sprintf(backgroundSource, `"max_usd":0.025`)
	b := setup(t, say("a"), say("b"))
	_, err := b.runBackground(source, effect.Totals{}, effect.Totals{Calls: 1, CostUSD: 0.012})
	require.ErrorContains(t, err, "c/cards (attempt 1, turn 1): budget reached: max_usd is $0.0250, used $0.0320")
	whole := b.entries.asRead(t)
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	from := 0
	for i, e := range whole {
		if strings.HasSuffix(e.Key.String(), "/beside") {
			from = i + 1
		}
	}
	require.Positive(t, from)
	for n := from; n < len(whole) && whole[n].NodeType != echo.NodePhaseEnd; n++ {
		again := setup(t, say("b"), say("c"))
		sink := &inMemory{list: whole[:n:n]}
		_, err := again.runner.Run(context.Background(), Spec{Cascade: c, Log: echo.ContinueLog("s1", uint64(n), nil, nil, sink), WorkDir: "/scratch", Recording: whole[:n:n], Background: func() effect.Totals { return effect.Totals{} }})
		require.ErrorContains(t, err, "c/cards (attempt 1, turn 1): budget reached: max_usd is $0.0250, used $0.0320", "after entry %d", n)
	}
}

// A cost that is not known is told once and does not end the run: it depends on none of these
// calls.
func TestBackgroundOfUnknownCost(t *testing.T) {
	t.Parallel()
	unknown := effect.Totals{Calls: 1, UnknownCosts: 1}
	b := setup(t, say("a"), say("b"), say("c"))
	res, err := b.runBackground(fmt.Sprintf(backgroundSource, `"max_usd":1`), unknown, unknown, unknown)
	require.NoError(t, err)
	require.Equal(t, echo.StatusCompleted, res.Status)
	require.NotNil(t, res.Cost(), "that of the run itself is known")
	require.Equal(t, []string{"a/attempt1/turn1/model/beside/warning"}, b.entries.keys(echo.NodeWarning))
	require.JSONEq(t, `{"message":"max_usd counts what cards cost as far as that is known: the cost of 1 call for them is unknown"}`,
		string(b.entries.of(echo.NodeWarning)[0].Data))

	b = setup(t, say("a"), say("b"), say("c"))
	_, err = b.runBackground(fmt.Sprintf(backgroundSource, `"max_tokens":1000`), unknown)
	require.NoError(t, err)
	require.Empty(t, b.entries.of(echo.NodeWarning), "tokens are known")
}
