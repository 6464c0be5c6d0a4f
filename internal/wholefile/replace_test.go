package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/wholefile"
)

func TestReplaceNamedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(file, link))
	for _, text := range []string{"old", "new"} {
		require.NoError(t, wholefile.Replace(file, []byte(text)))
		got, err := os.ReadFile(link)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
	require.NoError(t, wholefile.Replace(link, []byte("through the link")))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left over")
}

func TestReplaceRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "full"), 0o700))
	require.EqualError(t, wholefile.Replace(folder, []byte("x")), folder+" is a folder")
	require.Error(t, wholefile.Replace(filepath.Join(dir, "none", "file"), []byte("x")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
