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
	"github.com/windlass-run/windlass/engine/views"
)

const twoTalks = `{"cascade_id":"c","phases":[{"name":"a","instructions":"Go."},{"name":"b","instructions":"Go on."}]}`

const assumedWarning = "the context window of m is not known: 200000 tokens are assumed; set context_window of the model in windlass.json"

func unknownModel(string) effect.ModelFacts { return effect.ModelFacts{DefaultWindow: 200_000} }

// A model of which nothing is known has a window, which is recorded as assumed, and one warning in a
// run says so.
func TestAssumedWindow(t *testing.T) {
	t.Parallel()
	b := setup(t, say("one"), say("two"))
	b.runner.Facts = unknownModel
	_, err := b.run(twoTalks, nil)
	require.NoError(t, err)
	facts := b.entries.of(echo.NodeValue)
	require.Len(t, facts, 1)
	require.JSONEq(t, `{"window":200000,"assumed":true}`, string(facts[0].Data))
	require.Equal(t, []string{assumedWarning}, b.entries.warnings())
	for _, c := range b.phaseContexts() {
		require.Equal(t, []int64{200_000, 150_000, 50_000}, []int64{c.Window, c.Limit, c.Reserve})
	}
}

// phaseContexts returns what is recorded of the views of the phases.
func (b *testBundle) phaseContexts() (list []*echo.PhaseContext) {
	for _, e := range b.entries.of(echo.NodePhaseStart) {
		d, err := echo.Read[echo.PhaseStart](e)
		require.NoError(b.t, err)
		list = append(list, d.Context)
	}
	return list
}

// Under rules 1 the window stays unknown, whatever is known of it now.
func TestAssumedWindowSinceRules2(t *testing.T) {
	t.Parallel()
	b := setup(t, say("one"), say("two"))
	b.runner.Facts = func(string) effect.ModelFacts {
		return effect.ModelFacts{DefaultWindow: 200_000, AskWindow: func(context.Context) int64 { panic("asked under rules 1") }}
	}
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(twoTalks), c))
	_, err := b.runner.Run(t.Context(), Spec{Cascade: c, Log: echo.NewLog("s1", nil, nil, b.entries), Header: json.RawMessage(`{}`), Rules: 1})
	require.NoError(t, err)
	require.Empty(t, b.entries.of(echo.NodeValue))
	require.Empty(t, b.entries.warnings())
	require.Zero(t, b.phaseContexts()[0].Limit)
}

// What an endpoint says of its window counts more than a table, and is asked for once; a replay has
// it from the record (every run of these tests is replayed).
func TestWindowIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		says, table, want int64
		assumed           bool
	}{
		"it says": {says: 8192, table: 128_000, want: 8192}, "it does not say": {table: 128_000, want: 128_000},
		"nobody says": {want: 200_000, assumed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, say("one"), say("two"))
			asked := 0
			b.runner.Facts = func(string) effect.ModelFacts {
				return effect.ModelFacts{Window: tt.table, DefaultWindow: 200_000, AskWindow: func(context.Context) int64 { asked++; return tt.says }}
			}
			_, err := b.run(twoTalks, nil)
			require.NoError(t, err)
			require.Equal(t, 1, asked)
			require.Equal(t, tt.want, b.phaseContexts()[1].Window)
			require.Equal(t, tt.assumed, len(b.entries.warnings()) > 0)
		})
	}
}

// A run that ends while an endpoint is asked has learnt nothing.
func TestWindowIsNotKnownWhenTheRunEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.runner.Facts = func(string) effect.ModelFacts {
		return effect.ModelFacts{DefaultWindow: 200_000, AskWindow: func(context.Context) int64 { cancel(); return 0 }}
	}
	_, err := b.runCtx(ctx, twoTalks, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, b.entries.of(echo.NodeValue))
}

// What a provider refuses is the limit, whatever was assumed.
func TestRefusalOutranksAnAssumedWindow(t *testing.T) {
	t.Parallel()
	const window = 3000
	b := setup(t, talking(20, 1600)...)
	b.runner.Facts = unknownModel
	b.tools.addBig("big", 20)
	b.model.summarizer(estimated(say("notes")))
	refused := b.refusesAbove(window)
	res, err := b.run(fmt.Sprintf(longPhase, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "done", res.Output)
	require.Positive(t, *refused)
	require.LessOrEqual(t, *refused, 3, "what was refused once is a limit for all later requests")
}

// A window that is only assumed keeps nothing from being sent.
func TestAssumedWindowRefusesNothing(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"a long task": `{"cascade_id":"c","phases":[{"name":"p","instructions":"` + strings.Repeat("word ", 200_000) + `"}]}`,
		"strategy fail": `{"cascade_id":"c","token_budget":{"max_total":1000000000,"strategy":"fail"},"phases":[{"name":"p","instructions":"` +
			strings.Repeat("word ", 200_000) + `"}]}`,
		"a long answer": `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","max_output_tokens":300000}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, say("done"))
			b.runner.Facts = unknownModel
			_, err := b.run(source, nil)
			require.NoError(t, err)
		})
	}
	facts := effect.ModelFacts{Window: 200_000, Assumed: true}
	require.Equal(t, views.Room{}, views.RoomFor(facts, nil, 300_000))
	r := views.RoomFor(facts, &cascade.TokenBudget{MaxTotal: 400_000}, 0)
	require.Equal(t, int64(300_000), r.Limit, "a person who says max_total knows better")
	require.False(t, r.Assumed)
}
