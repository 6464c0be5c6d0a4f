package journal

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

// Who only asks whether a session is in use does not keep it from being opened, however long that
// takes it. An owner does.
func TestLockOfASession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		held func(*flock.Flock) (bool, error)
		free time.Duration // when it is given back
		busy bool
	}{
		"who asks":          {(*flock.Flock).TryRLock, 5 * time.Second, false},
		"who asks for good": {(*flock.Flock).TryRLock, time.Minute, true},
		"an owner":          {(*flock.Flock).TryLock, 5 * time.Second, true},
		"an owner who ends": {(*flock.Flock).TryLock, lockLimit / 2, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			other := flock.New(filepath.Join(dir, lockFile))
			ok, err := tt.held(other)
			require.NoError(t, err)
			require.True(t, ok)
			given := time.AfterFunc(tt.free, func() { _ = other.Close() })
			lock, err := acquire(dir)
			if tt.busy {
				require.ErrorIs(t, err, ErrBusy, name)
				given.Stop()
				require.NoError(t, other.Close())
				return
			}
			require.NoError(t, err, name)
			require.NoError(t, lock.Close())
		})
	}
}
