package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A folder that may not be read is said, and what is beside it is found all the same.
func TestFindFilesBesideAFolderThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"cascade_id": "x"}`), 0o600))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var f finder
	refused := fmt.Errorf("open locked: %w", fs.ErrPermission)
	require.NoError(t, f.visit(filepath.Join(dir, "locked"), nil, refused, false))
	require.NoError(t, f.visit(file, entries[0], nil, false))
	require.Equal(t, []string{file}, f.files)
	require.Equal(t, refused, f.failed)
}

// What a link names is a folder as any other; a link below one is not followed.
func TestFindFilesBehindALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real", "a.json"), []byte(`{"cascade_id": "x"}`), 0o600))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	files, err := FindFiles(filepath.Join(dir, "link"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "link", "a.json")}, files)
	files, err = FindFiles(dir)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "real", "a.json")}, files)
}
