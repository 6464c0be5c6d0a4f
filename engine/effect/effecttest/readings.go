package effecttest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// What a reading says now differs from what is recorded of it, which a replay returns.
const (
	clockThen = echo.Clock(1.5)
	clockNow  = echo.Clock(2.5)
)

var (
	handoffThen = echo.Handoff{Phase: "p"}
	handoffNow  = echo.Handoff{Phase: "q"}
)

func recordedReading(t testing.TB, b *bench) {
	clock, handoff := clockThen, handoffThen
	if b.Asks {
		clock, handoff = clockNow, handoffNow
	}
	sameReading(t, b, readings.Step(echo.StepClock), echo.NodeValue, clockNow, clock)
	sameReading(t, b, readings.Step(echo.StepHandoff), echo.NodeHandoff, handoffNow, handoff)
}

// sameReading takes a reading, and holds that it is the one that is wanted, in the record too.
func sameReading[T echo.Payload](t testing.TB, b *bench, key echo.Key, node echo.NodeType, now, want T) {
	t.Helper()
	raw, err := b.value(t, key, now)
	require.NoError(t, err)
	got, err := echo.Decode[T](json.RawMessage(raw))
	require.NoError(t, err)
	require.Equal(t, want, got)
	if e := b.outcome(t, node, key); e != nil {
		kept, err := echo.Read[T](e)
		require.NoError(t, err)
		require.Equal(t, kept, got)
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
