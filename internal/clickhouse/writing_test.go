package clickhouse_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/contextcards/cardstest"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestAWriteThatIsOverLeavesItsConnectionAlone ends the context of a write once before and once
// after the write is over. The driver closes the connection when the context of a batch ends, and
// does so late when the machine is busy: so it must hear of an end during the write, and of none
// after it.
func TestAWriteThatIsOverLeavesItsConnectionAlone(t *testing.T) {
	t.Parallel()
	db, taken := clickhouse.Discarding(t, clickhousetest.Open(t))
	cards := []contextcards.Card{cardstest.Card("s", 1)}
	cards[0].Embedding = nil // one write

	for name, tc := range map[string]struct {
		begin func() (context.Context, context.CancelFunc)
		want  error
	}{
		"cancelled":     {func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, context.Canceled},
		"of a deadline": {func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Hour) }, context.Canceled},
		"of a cause": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(t.Context())
			return ctx, func() { cancel(errors.New("enough")) }
		}, errors.New("enough")},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := tc.begin()
			var during context.Context
			taken.Sent = func(w context.Context) {
				during = w
				require.NoError(t, w.Err())
				want, has := ctx.Deadline()
				got, had := w.Deadline()
				require.Equal(t, want, got)
				require.Equal(t, has, had)
			}
			require.NoError(t, clickhousetest.Cards(db).Put(ctx, cards))
			cancel()
			require.NoError(t, during.Err(), "the driver hears nothing of what is over")

			ctx, cancel = tc.begin()
			taken.Sent = func(w context.Context) {
				cancel()
				<-w.Done() // it hears of it while it writes
				require.Equal(t, ctx.Err(), w.Err())
				require.Equal(t, tc.want, context.Cause(w))
			}
			require.NoError(t, clickhousetest.Cards(db).Put(ctx, cards))
		})
	}

	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	taken.Sent = func(w context.Context) {
		<-w.Done()
		require.Equal(t, context.DeadlineExceeded, w.Err())
	}
	require.NoError(t, clickhousetest.Cards(db).Put(ctx, cards))
}
