package clickhouse

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lateContext is one whose deadline has passed without its having noticed yet.
type lateContext struct{ context.Context } //nolint:containedctx // it is one

func (lateContext) Deadline() (time.Time, bool) { return time.Now().Add(-time.Nanosecond), true }

func TestEnded(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancelCause(t.Context())
	errWhy := errors.New("somebody wants no more")
	cancel(errWhy)
	future, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	for name, tt := range map[string]struct {
		ctx  context.Context //nolint:containedctx // a row of a table
		want error
	}{
		"running":             {t.Context(), nil},
		"deadline ahead":      {future, nil},
		"cancelled":           {cancelled, errWhy},
		"late, not cancelled": {lateContext{t.Context()}, context.DeadlineExceeded},
		"late and cancelled":  {lateContext{cancelled}, errWhy},
	} {
		require.Equal(t, tt.want, ended(tt.ctx), name)
	}
}
