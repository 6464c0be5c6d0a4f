package inspect

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestPlayBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	entries := []*echo.Entry{{At: at}, {At: at.Add(10 * time.Second)}, {At: at.Add(24 * time.Hour)}}
	synctest.Test(t, func(t *testing.T) {
		played := func(ctx context.Context, speed float64) (after []time.Duration) {
			start := time.Now()
			for range PlayBack(ctx, entries, speed) {
				after = append(after, time.Since(start))
			}
			return after
		}
		require.Equal(t, []time.Duration{0, time.Second, 7 * time.Second}, played(t.Context(), 10),
			"a pause is a minute at most, before the speed")
		require.Equal(t, []time.Duration{0, 0, 0}, played(t.Context(), 0))

		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		require.Len(t, played(ctx, 10), 2, "it ends with its context")

		for range PlayBack(t.Context(), entries, 0) {
			break // a loop may be left
		}
	})
}

// Calls of models and tools begin before what records their end: tools beside each other, after the
// answer that asked for them, however long they are said to have taken.
func TestPlay(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	entry := func(seconds float64, node echo.NodeType, key string, took float64) *echo.Entry {
		return &echo.Entry{At: at.Add(time.Duration(seconds * float64(time.Second))), NodeType: node, Key: echo.MustKey(key), DurationMS: 1000 * took}
	}
	entries := []*echo.Entry{
		entry(0, echo.NodePhaseStart, "p/start", 0),
		entry(5, echo.NodeModelCall, "p/attempt1/turn1/model", 4),
		entry(5, echo.NodeToolStart, "p/attempt1/turn1/tool2/start", 0),
		entry(5, echo.NodeToolCall, "p/attempt1/turn1/tool3", 0), // was refused
		entry(7, echo.NodeToolCall, "p/attempt1/turn1/tool2", 2.5),
		entry(9, echo.NodeToolCall, "p/attempt1/turn1/tool1", 4),
		entry(9, echo.NodePhaseEnd, "p/end", 9),
	}
	var got []string
	clock := NewClock(entries, 0)
	for s := range Play(t.Context(), entries, 0) {
		clock.Set(s.At)
		text := s.Entry.Key.String()
		if s.Begins {
			text += " begins"
		}
		got = append(got, fmt.Sprintf("%s %s", clock.Now().Sub(at), text))
	}
	require.Equal(t, []string{
		"0s p/start", "1s p/attempt1/turn1/model begins", "5s p/attempt1/turn1/model", "5s p/attempt1/turn1/tool2 begins",
		"5s p/attempt1/turn1/tool2/start", "5s p/attempt1/turn1/tool3", "5s p/attempt1/turn1/tool1 begins", "7s p/attempt1/turn1/tool2",
		"9s p/attempt1/turn1/tool1", "9s p/end",
	}, got)
}

// The clock of a playback goes on from each step at its speed.
func TestClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		clock := NewClock([]*echo.Entry{{At: at}}, 10)
		time.Sleep(2 * time.Second)
		require.Equal(t, at.Add(20*time.Second), clock.Now())
		clock.Set(at.Add(time.Hour))
		require.Equal(t, at.Add(time.Hour), clock.Now())
	})
}
