package effect

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSeamsOfAProcess(t *testing.T) {
	t.Parallel()
	s := Seams{}.OrSystem()
	boom := errors.New("boom")
	ended := make(chan bool, 1)
	err := s.Parallel(t.Context(), 2, []func(context.Context) error{
		func(context.Context) error { return boom },
		func(ctx context.Context) error { <-ctx.Done(); ended <- true; return ctx.Err() },
	})
	require.ErrorIs(t, err, boom)
	require.True(t, <-ended, "the first error ends the context of the others")
}

func TestSleepOfAProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := Seams{}.OrSystem()
		start := s.Now()
		require.NoError(t, s.Sleep(t.Context(), time.Hour))
		require.Equal(t, time.Hour, s.Now().Sub(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, s.Sleep(ctx, time.Hour), context.DeadlineExceeded)
		require.ErrorIs(t, s.Sleep(ctx, 0), context.DeadlineExceeded)
	})
}
