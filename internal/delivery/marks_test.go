package delivery_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/delivery"
)

// TestSetMarkFails: a mark that cannot be written leaves nothing behind.
func TestSetMarkFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, delivery.MarksFile)
	require.NoError(t, os.Mkdir(path, 0o700))
	require.ErrorContains(t, delivery.SetMark(dir, delivery.Mark{}), "note what was delivered: ")
	left, err := filepath.Glob(filepath.Join(dir, delivery.MarksFile+".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
