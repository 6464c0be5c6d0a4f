package engine

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// reading takes a reading through effects and returns what it says. known is false when there was nothing to know.
func reading[T echo.Payload](ctx context.Context, through effect.Effects, key echo.Key, site effect.Site, take func() echo.Payload) (value T, known bool, err error) {
	raw, err := through.Value(ctx, key, site, take)
	if err != nil || raw == nil {
		return value, false, err
	}
	value, err = echo.Decode[T](raw)
	if err != nil {
		return value, false, fmt.Errorf("read the record of %s: %w", key, err)
	}
	return value, true, nil
}

// wholeReading is [reading] for something that there is always something to know of. What the end of the run cut short is
// no reading.
func wholeReading[T echo.Payload](ctx context.Context, through effect.Effects, key echo.Key, site effect.Site, take func() echo.Payload) (T, error) {
	value, known, err := reading[T](ctx, through, key, site, func() echo.Payload {
		taken := take()
		if ctx.Err() != nil {
			return nil
		}
		return taken
	})
	switch {
	case err != nil || known:
		return value, err
	case ctx.Err() != nil:
		return value, ctx.Err()
	}
	return value, fmt.Errorf("no reading of %s is recorded", key)
}
