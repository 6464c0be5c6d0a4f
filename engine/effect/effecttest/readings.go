package effecttest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// What a reading says now differs from what is recorded of it: an implementation that answers from a recording returns that.
const (
	clockThen = echo.Clock(1.5)
	clockNow  = echo.Clock(2.5)
)

var (
	handoffThen = echo.Handoff{Phase: "p"}
	handoffNow  = echo.Handoff{Phase: "q"}
)

func recordedReading(t testing.TB, b *bench) {
	clock, phase := "1.5", "p"
	if b.Asks {
		clock, phase = "2.5", "q"
	}
	raw, err := b.value(t, readings.Step(echo.StepClock), clockNow)
	require.NoError(t, err)
	require.JSONEq(t, clock, raw)
	if e := b.outcome(t, echo.NodeValue, readings.Step(echo.StepClock)); e != nil {
		require.JSONEq(t, string(e.Data), raw)
	}
	raw, err = b.value(t, readings.Step(echo.StepHandoff), handoffNow)
	require.NoError(t, err)
	handoff, err := echo.Decode[echo.Handoff](json.RawMessage(raw))
	require.NoError(t, err)
	require.Equal(t, phase, handoff.Phase)
	if e := b.outcome(t, echo.NodeHandoff, readings.Step(echo.StepHandoff)); e != nil {
		require.JSONEq(t, string(e.Data), raw)
	}
}

// noReading is of a place of which nothing is recorded, in a branch that has more recorded.
func noReading(t testing.TB, b *bench) {
	raw, err := b.effects.Value(t.Context(), readings.Step(echo.StepIdle), site, func() echo.Payload { return nil })
	require.NoError(t, err)
	require.Nil(t, raw)
	require.Empty(t, b.disk.Entries())
	if b.Records {
		return
	}
	reading, err := b.value(t, readings.Step(echo.StepIdle), clockNow)
	require.NoError(t, err)
	require.Empty(t, reading, "what is not recorded was not known")
}

func takenOnce(t testing.TB, b *bench) {
	taken := 0
	read := func() echo.Payload { taken++; return clockNow }
	_, err := b.effects.Value(t.Context(), readings.Step(echo.StepClock), site, read)
	require.NoError(t, err)
	if !b.Records {
		_, err = b.effects.Value(t.Context(), readings.Step(echo.StepIdle), site, read)
		require.NoError(t, err)
		require.Zero(t, taken)
		return
	}
	require.Equal(t, 1, taken)
}
