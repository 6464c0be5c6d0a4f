package simulate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a file held stays when nothing complete takes its place, and nothing else is left beside it.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Symlink(path, link))
	f, err := CreateFile(link)
	require.NoError(t, err)
	require.NoError(t, f.line("<new>"))
	require.NoError(t, f.discard())
	read := func() string {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(data)
	}
	require.Equal(t, "old", read())
	f, err = CreateFile(link)
	require.NoError(t, err)
	require.NoError(t, f.line("<new>"))
	require.NoError(t, f.commit())
	require.NoError(t, f.discard(), "a file that has its name is not taken back")
	require.Equal(t, "\"<new>\"\n", read())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	_, err = CreateFile(dir)
	require.EqualError(t, err, dir+" is a folder")
}
