package live

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// longestPause bounds how long a playback pauses, before its speed: nobody ran a session between two
// of its parts.
const longestPause = time.Minute

// PlayBack gives entries to a sink, with the pauses between them at a speed: how many times as fast
// as they were recorded, 0 for no pauses. It returns nil early when the context ends.
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
