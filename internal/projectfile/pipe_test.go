//go:build unix

package projectfile

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe is not waited for.
func TestPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "MEMORY.md"), 0o600))
	_, _, err := Read(dir, "MEMORY.md")
	require.EqualError(t, err, "MEMORY.md is a named pipe, not a file: it may never end")
}
