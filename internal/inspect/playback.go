package inspect

import (
	"context"
	"iter"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// longestPause bounds how long a playback pauses, before its speed: nobody ran a session between two
// of its parts.
const longestPause = time.Minute

// PlayBack yields entries with the pauses between them at a speed: how many times as fast as they
// were recorded, 0 for no pauses. It ends early when the context ends.
func PlayBack(ctx context.Context, entries []*echo.Entry, speed float64) iter.Seq[*echo.Entry] {
	return func(yield func(*echo.Entry) bool) {
		for i, e := range entries {
			if speed > 0 && i > 0 {
				pause := min(e.At.Sub(entries[i-1].At), longestPause)
				select {
				case <-time.After(time.Duration(float64(pause) / speed)):
				case <-ctx.Done():
					return
				}
			}
			if !yield(e) {
				return
			}
		}
	}
}
