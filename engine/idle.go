package engine

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// cacheLife is how long a provider keeps a prefix that nobody asks for: OpenAI says 5 to 10 minutes, Anthropic 5. After
// that the next request is paid for in full whatever it holds, so it is the moment to leave old results out.
const cacheLife = 5 * time.Minute

// readIdle asks the clock whether the provider's prefix cache has expired since the last answer of the phase. The reading
// is recorded only when it has, so that a run without pauses records nothing.
func (v *visit) readIdle(ctx context.Context) error {
	if v.answered.IsZero() {
		return nil
	}
	last := v.answered
	raw, err := v.rec.Value(ctx, v.at(echo.StepIdle), v.place(), func() echo.Payload {
		if idle := v.now().Sub(last); idle > cacheLife {
			return echo.Idle{Seconds: idle.Seconds()}
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.carry.Cold = raw != nil
	return nil
}
