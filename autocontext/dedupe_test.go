package autocontext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// last returns the view of the last call of a talk whose frontier moves on every turn, each with how
// its messages are sent.
func last(t *testing.T, s autocontext.Settings, k *talk) *autocontext.View {
	t.Helper()
	step, err := autocontext.NewBuilder(s).Build(k.items, echo.Carry{AsOf: k.turn})
	require.NoError(t, err)
	return step.View
}

// A result that tells of a failure is kept like that of a call that failed.
func TestToldFailureIsKept(t *testing.T) {
	t.Parallel()
	k := newTalk()
	k.calls("", result{tool: "bash", text: strings.Repeat("ok\n", 700) + "FAILED tests/a.py::test_b\n" + strings.Repeat("ok\n", 300)})
	k.calls("", result{tool: "bash", text: strings.Repeat("raise ValueError\n", 100)})
	for range 6 {
		k.calls("", result{tool: "bash", text: "fine"})
	}
	s := autocontext.Settings{Policy: cascade.DefaultIntra(), FailuresInText: true}
	s.Policy.Advance = cascade.AdvanceEveryTurn
	v := last(t, s, k)
	require.Equal(t, "excerpt error", form(v, 3))
	require.Contains(t, v.Items[3].Sent.Text(), "FAILED tests/a.py::test_b")
	require.Equal(t, "masked aged", form(v, 5), "words are no evidence")
	s.Policy.PreserveErrors = false
	require.Equal(t, "masked aged", form(last(t, s, k), 3))
	s.Policy.PreserveErrors, s.FailuresInText = true, false
	require.Equal(t, "masked aged", form(last(t, s, k), 3), "before rules 2")
}

// Of results with equal content the newest stays, once the frontier moves.
func TestDedupe(t *testing.T) {
	t.Parallel()
	same := result{tool: "bash", text: filler(1, 2000)}
	k := newTalk()
	k.calls("", same) // 3: old when it comes again
	for range 4 {
		k.calls("", result{tool: "bash", text: "fine"})
	}
	k.calls("", same) // 13
	k.calls("", same) // 15
	s := autocontext.Settings{Policy: cascade.DefaultIntra()}
	s.Policy.Advance = cascade.AdvanceStep
	s.Policy.StepTurns = 1 << 20
	b := autocontext.NewBuilder(s)
	step, err := b.Build(k.items, echo.Carry{})
	require.NoError(t, err)
	require.Equal(t, "full recent", form(step.View, 13), "the frontier has not moved")
	s.Policy.Advance = cascade.AdvanceEveryTurn
	v := last(t, s, k)
	require.Equal(t, []string{"masked aged", "masked duplicate", "full recent"}, []string{form(v, 3), form(v, 13), form(v, 15)})
	h := string(v.Items[13].Message.Hash())
	require.Equal(t, `[Same as a later result, 2000 characters: recall("`+h+`")]`, v.Items[13].Sent.Text())
	s.Policy.Dedupe = false
	require.Equal(t, "full recent", form(last(t, s, k), 13))
	s.Policy.Dedupe, s.Policy.ExcludeTools = true, []string{"bash"}
	require.Equal(t, "full recent", form(last(t, s, k), 13), "the results of the tool stay")
}

// What is switched off for all cascades says so.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	s := autocontext.Settings{SwitchedOff: true}
	require.Equal(t, "full switched_off", form(last(t, s, newTalk()), 0))
}
