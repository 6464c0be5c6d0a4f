package wholefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/wholefile"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// names lists what is in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "marks.json")
	for _, text := range []string{"new", "newer"} {
		require.NoError(t, wholefile.Write(path, []byte(text), 0o600))
		require.Equal(t, text, read(t, path))
	}
	require.Equal(t, []string{"marks.json"}, names(t, dir))
	require.Error(t, wholefile.Write(filepath.Join(dir, "nowhere", "f"), nil, 0o600))
}

// What readers see changes with Commit only.
func TestOldContentStaysUntilCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, wholefile.Write(path, []byte("old"), 0o600))
	f, err := wholefile.Create(path, 0o600)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, err)
	require.Equal(t, "old", read(t, path))
	require.NoError(t, f.Sync())
	require.NoError(t, f.Commit())
	require.Equal(t, "new", read(t, path))
	require.NoError(t, f.Discard(), "it does nothing any more")
	require.Equal(t, "new", read(t, path))
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	f, err := wholefile.Create(path, 0o600)
	require.NoError(t, err)
	require.NoError(t, f.Discard())
	require.NoError(t, f.Discard())
	require.Empty(t, names(t, dir))
}

// A folder cannot be replaced; what was written for it does not stay.
func TestFailedCommitLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "in"), 0o700))
	require.ErrorContains(t, wholefile.Write(path, []byte("new"), 0o600), "rename ")
	require.Equal(t, []string{"f"}, names(t, dir))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, info.IsDir())
}
