package inspect

import (
	"context"
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
