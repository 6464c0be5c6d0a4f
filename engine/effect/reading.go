package effect

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// Reading takes a reading; known is false when there was nothing to know.
func Reading[T echo.Payload](ctx context.Context, through Effects, key echo.Key, site Site, take func() echo.Payload) (value T, known bool, err error) {
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

// WholeReading is [Reading] where there is always something to know, unless ctx has ended.
func WholeReading[T echo.Payload](ctx context.Context, through Effects, key echo.Key, site Site, take func() echo.Payload) (T, error) {
	value, known, err := Reading[T](ctx, through, key, site, func() echo.Payload {
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
