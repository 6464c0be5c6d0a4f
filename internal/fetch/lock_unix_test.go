//go:build unix

package fetch

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLockOfAPipe: a named pipe in the place of a lock file is not waited for.
func TestLockOfAPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	unlock, err := Lock(t.Context(), path, func() { t.Error("nobody has the lock") })
	require.NoError(t, err)
	unlock()
}
