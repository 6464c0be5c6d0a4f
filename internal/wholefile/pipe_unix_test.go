//go:build unix

package wholefile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/wholefile"
)

// TestReplaceRefusesAPipe has a pipe of its own: a check that fails must not harm a device of the machine.
func TestReplaceRefusesAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(pipe, link))
	for _, path := range []string{pipe, link} {
		require.EqualError(t, wholefile.Replace(path, []byte("x")), pipe+" is not a file, and would be replaced by one")
	}
	info, err := os.Lstat(pipe)
	require.NoError(t, err)
	require.Equal(t, os.ModeNamedPipe, info.Mode().Type())
}
