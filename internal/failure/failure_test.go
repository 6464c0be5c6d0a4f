package failure_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/failure"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	inner := failure.New(failure.StorageFailed, fs.ErrPermission, "free space")
	cases := []struct {
		name string
		err  error
		want failure.Kind
	}{
		{"nil", nil, ""},
		{"without a kind", errors.New("x"), failure.Failed},
		{"with a kind", inner, failure.StorageFailed},
		{"wrapped", fmt.Errorf("open: %w", inner), failure.StorageFailed},
		{"the outermost counts", failure.New(failure.Damaged, inner, ""), failure.Damaged},
		{"joined", errors.Join(errors.New("x"), inner), failure.StorageFailed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, failure.KindOf(c.err))
			require.Equal(t, c.err != nil, failure.Is(c.err, failure.KindOf(c.err)))
		})
	}
	require.ErrorIs(t, inner, fs.ErrPermission)
	require.EqualError(t, failure.Newf(failure.UnknownSession, "no session %q", "a"), `no session "a"`)
}
