package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// written notes when entries were written.
type written struct {
	start time.Time
	after []time.Duration
}

func (w *written) Write(*echo.Entry) error {
	w.after = append(w.after, time.Since(w.start))
	return nil
}
func (w *written) Close(context.Context) error { return nil }

func TestPlayBack(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	entries := []*echo.Entry{{At: at}, {At: at.Add(10 * time.Second)}, {At: at.Add(24 * time.Hour)}}
	synctest.Test(t, func(t *testing.T) {
		w := &written{start: time.Now()}
		require.NoError(t, PlayBack(t.Context(), entries, w, 10))
		require.Equal(t, []time.Duration{0, time.Second, 7 * time.Second}, w.after, "a pause is a minute at most, before the speed")

		w = &written{start: time.Now()}
		require.NoError(t, PlayBack(t.Context(), entries, w, 0))
		require.Equal(t, []time.Duration{0, 0, 0}, w.after)

		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		w = &written{start: time.Now()}
		require.NoError(t, PlayBack(ctx, entries, w, 10))
		require.Len(t, w.after, 2, "it ends with its context")
	})
}
