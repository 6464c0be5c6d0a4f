//go:build unix

package bank

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Opening a pipe would never end.
func TestPipes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.path(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := b.store().Read(noteBank)
	require.ErrorIs(t, err, errNoFile)
	_, err = b.store().Start(t.Context(), noteBank, "s")
	require.ErrorIs(t, err, errNoFile)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.RemoveAll(path+lockSuffix))
	require.NoError(t, syscall.Mkfifo(path+lockSuffix, 0o600))
	_, err = b.store().Start(t.Context(), noteBank, "s")
	require.ErrorIs(t, err, errNoFile)
}
