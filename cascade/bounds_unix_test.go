//go:build unix

package cascade

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/source"
)

// TestAPipeIsNoCascade: neither a file of the machine nor one below a root is waited for.
func TestAPipeIsNoCascade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "c.json"), 0o600))
	_, _, err := Load(filepath.Join(dir, "c.json"), testKnown())
	require.ErrorIs(t, err, source.ErrNoFile)
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	_, _, err = LoadFS(t.Context(), root.FS(), "c.json", testKnown())
	require.EqualError(t, err, "load cascade: c.json is a named pipe, not a file: it may never end")
}
