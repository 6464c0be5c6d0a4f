package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/wholefile"
)

func TestReplaceIn(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "full", "x"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "file"), []byte("old"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "out")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()

	require.NoError(t, wholefile.ReplaceIn(root, "a/file", []byte("new"), 0o640))
	text, err := os.ReadFile(filepath.Join(dir, "a", "file"))
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	info, err := os.Stat(filepath.Join(dir, "a", "file"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())

	require.Error(t, wholefile.ReplaceIn(root, "out/file", []byte("x"), 0o640))
	require.Error(t, wholefile.ReplaceIn(root, "../file", []byte("x"), 0o640))
	require.Error(t, wholefile.ReplaceIn(root, "a/full", []byte("x"), 0o640))
	for folder, n := range map[string]int{filepath.Join(dir, "a"): 2, outside: 0} {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, entries, n, "nothing is left over")
	}
}

// TestWriteNewIn: a file is made where there is nothing, and what is there stays as it is.
func TestWriteNewIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "link")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	require.NoError(t, wholefile.WriteNewIn(root, "file", []byte("one")))
	require.ErrorIs(t, wholefile.WriteNewIn(root, "file", []byte("two")), os.ErrExist)
	require.ErrorIs(t, wholefile.WriteNewIn(root, "link", []byte("two")), os.ErrExist)
	require.ErrorIs(t, wholefile.WriteNewIn(root, "none/file", []byte("two")), os.ErrNotExist)
	require.Error(t, wholefile.WriteNewIn(root, "../file", []byte("two")))
	text, err := os.ReadFile(filepath.Join(dir, "file"))
	require.NoError(t, err)
	require.Equal(t, "one", string(text))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left over")
}
