package autocontext_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
)

// A carry in which everything is set comes back from JSON as it was, but for the message of its
// summary, which the record holds as an entry of its own.
func TestCarrySurvivesJSON(t *testing.T) {
	t.Parallel()
	m := echo.NewText(echo.RoleUser, echo.KindSummary, "notes")
	c := echo.Carry{
		AsOf: 1, Sent: 2, Debt: 3, Paid: 4, Full: 5, Cleared: 6, Removed: &echo.Removal{From: 1, To: 2, Level: 3}, Slid: 7,
		Summary: &echo.Summary{Covers: 8, Hash: m.Hash(), By: "model", Message: m}, Cut: []echo.Cut{{At: 1, To: 300}},
		Warned: true, Scale: 9, Acting: 10, Cold: true, Ceiling: 11, Refused: 12, Summaries: 13, Recounts: 14,
		Answered: &echo.Answered{Counted: 1, Actual: 2, Summary: &echo.Summary{Covers: 1, Hash: m.Hash(), By: "model"}},
	}
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	var back echo.Carry
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Nil(t, back.Summary.Message)
	back.Summary.Message = m
	require.Equal(t, c, back)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &fields))
	require.Len(t, fields, 19, "a field that is new is set above")
	raw, err = json.Marshal(echo.Carry{})
	require.NoError(t, err)
	require.JSONEq(t, `{}`, string(raw))
}

// A run goes on from a carry that went through the record, with the same bytes as if it had not
// ended, and a carry that was kept is still what it was.
func TestCarryGoesOn(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		w := newWorld(seed, seed%2 == 0)
		s := w.settings()
		if seed%2 == 0 {
			s.Limit = 4000
		}
		history, calls := w.conversation(20)
		b := autocontext.NewBuilder(s)
		var c echo.Carry
		var kept []echo.Carry
		var texts []string
		for k, n := range calls {
			raw, err := json.Marshal(c)
			require.NoError(t, err)
			var back echo.Carry
			require.NoError(t, json.Unmarshal(raw, &back))
			if back.Summary != nil {
				back.Summary.Message = c.Summary.Message
			}
			kept, texts = append(kept, c), append(texts, string(raw))
			step, err := build(t, w, b, history[:n], &c)
			if err != nil {
				break
			}
			asked := step.Carry.Summaries != back.Summaries || step.Carry.Recounts != back.Recounts
			if c = step.Carry; k%3 > 0 || asked {
				continue
			}
			again, err := autocontext.NewBuilder(s).Build(history[:n], back)
			require.NoError(t, err)
			require.Equal(t, c, again.Carry, "seed %d call %d", seed, k)
			require.Equal(t, string(bytesOf(s, step.View)), string(bytesOf(s, again.View)))
		}
		for i := range kept {
			raw, err := json.Marshal(kept[i])
			require.NoError(t, err)
			require.Equal(t, texts[i], string(raw), "no step writes into a carry that was given away")
		}
	}
}

// A builder that is given something else than what follows its last call starts anew.
func TestBuilderStartsAnew(t *testing.T) {
	t.Parallel()
	k := newTalk().reads(12, 1000)
	s := policy(nil)
	b := autocontext.NewBuilder(s)
	early, err := b.Build(k.items[:12], echo.Carry{})
	require.NoError(t, err)
	late, err := b.Build(k.items, early.Carry)
	require.NoError(t, err)
	want := string(bytesOf(s, late.View))
	require.NotEqual(t, early.Carry, late.Carry)

	again, err := b.Build(k.items[:12], echo.Carry{}) // the history has shrunk
	require.NoError(t, err)
	require.Equal(t, early.Carry, again.Carry)
	require.False(t, again.View.Report().Delta)
	again, err = b.Build(k.items, early.Carry)
	require.NoError(t, err)
	require.Equal(t, want, string(bytesOf(s, again.View)))
	require.Equal(t, late.Carry, again.Carry)
	again, err = b.Build(k.items, early.Carry) // an older carry
	require.NoError(t, err)
	require.Equal(t, want, string(bytesOf(s, again.View)))
	require.Equal(t, late.Carry, again.Carry)

	again, err = b.Build(k.items[:12], late.Carry) // the history has shrunk, and the carry knows more of it
	require.NoError(t, err)
	require.Len(t, again.View.Items, 12)
	validSequence(t, autocontext.NewRenderer(s.Dialect).Render(again.View))

	odd := late.Carry
	odd.Sent, odd.Cleared, odd.Slid, odd.AsOf = 1000, 1000, 1000, 1000
	odd.Removed, odd.Cut = &echo.Removal{From: -5, To: 5000}, []echo.Cut{{At: 999, To: -1}}
	again, err = b.Build(k.items, odd) // a carry of another phase
	require.NoError(t, err)
	validSequence(t, autocontext.NewRenderer(s.Dialect).Render(again.View))
	again, err = b.Build(nil, odd)
	require.NoError(t, err)
	require.Empty(t, again.View.Items)
}

// A summary whose message was not restored would take what it tells out of the request without a
// word.
func TestBuilderMissesTheSummary(t *testing.T) {
	t.Parallel()
	k := newTalk().reads(3, 100)
	m := echo.NewText(echo.RoleUser, echo.KindSummary, "notes")
	for name, s := range map[string]*echo.Summary{
		"no message":      {Covers: 4, Hash: m.Hash()},
		"another message": {Covers: 4, Hash: "0123456789abcdef", Message: m},
	} {
		c := echo.Carry{Sent: 4, AsOf: 2, Summary: s}
		step, err := autocontext.NewBuilder(policy(nil)).Build(k.items, c)
		require.EqualError(t, err, "the carry has the summary "+string(s.Hash)+
			" of 4 messages without its message: restore Summary.Message from the record", name)
		require.Equal(t, c, step.Carry)
		require.Nil(t, step.View)
	}
}

func TestBuilderTells(t *testing.T) {
	t.Parallel()
	k := newTalk().reads(6, 1000).say("x").user(echo.KindTurnPrompt, "go on")
	b := autocontext.NewBuilder(policy(nil))
	step, err := b.Build(k.items, echo.Carry{})
	require.NoError(t, err)
	require.Equal(t, 8, step.Carry.AsOf)
	require.Equal(t, 10, b.Frontier(step.Carry), "results before the fifth turn may be masked")
	require.Zero(t, b.Frontier(echo.Carry{}))
	require.Equal(t, len(k.items), b.Frontier(echo.Carry{AsOf: 99}))
	require.True(t, b.Masked(k.items[3].Message.Hash()))
	require.False(t, b.Masked(k.items[13].Message.Hash()))
	require.False(t, b.Masked("0123456789abcdef"))
	require.True(t, b.MayMask(echo.Carry{}))
	free := autocontext.NewBuilder(guarded(100, nil))
	require.False(t, free.MayMask(echo.Carry{}))
	for _, c := range []echo.Carry{{AsOf: 1}, {Slid: 1}, {Cut: []echo.Cut{{}}}, {Removed: &echo.Removal{}}, {Summary: &echo.Summary{}}} {
		require.True(t, free.MayMask(c))
	}
}
