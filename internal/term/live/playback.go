package live

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// longestPause bounds a pause at speed 1: nobody runs a session between two of its parts.
const longestPause = time.Minute

// PlayBack gives entries to a sink, speed times as fast as they were recorded, 0 for at once. It
// returns nil early when the context ends.
func PlayBack(ctx context.Context, entries []*echo.Entry, sink echo.Sink, speed float64) error {
	for i, e := range entries {
		if speed > 0 && i > 0 {
			pause := min(e.At.Sub(entries[i-1].At), longestPause)
			t := time.NewTimer(time.Duration(float64(pause) / speed))
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
				return nil
			}
		}
		if err := sink.Write(e); err != nil {
			return err
		}
	}
	return nil
}
