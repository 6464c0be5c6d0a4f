package grants

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	core "github.com/windlass-run/windlass/internal/app"
)

// TestFilesOfALargeFolder: a list ends within its bounds, and says so. Of several folders with the same name of a file the
// first has it.
func TestFilesOfALargeFolder(t *testing.T) {
	t.Parallel()
	large, small := filepath.Join(t.TempDir(), "large"), filepath.Join(t.TempDir(), "small")
	for _, dir := range []string{large, small} {
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte(child), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(small, "a.json"), []byte(shell), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(small, "z.json"), []byte(child), 0o600))
	for i := range mostEntries {
		require.NoError(t, os.Mkdir(filepath.Join(large, fmt.Sprintf("b%05d", i)), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(large, "c.json"), []byte(child), 0o600))
	g, err := Open(Options{Rights: core.Rights{Roots: []string{large, small}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	names, notes := g.Files(t.Context())
	require.Equal(t, []string{"a.json", "z.json"}, names)
	require.Equal(t, []string{"Of the folder large only a part was looked at, as it has more than 20000 files and folders, or 64 MiB of JSON and YAML."}, notes)
	f, err := g.File("a.json")
	require.NoError(t, err)
	require.Equal(t, child, string(f.Text))
	_, err = g.File("none.json")
	require.EqualError(t, err, "there is no cascade file none.json in the folders that this server was started with")
}

// TestUnreadFolder: a folder that may not be read hides no other, and the list says that there is one.
func TestUnreadFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0o700))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	l := lister{ctx: t.Context()}
	require.Equal(t, fs.SkipDir, l.visit("closed", entries[0], fs.ErrPermission))
	require.Equal(t, []string{"Of the folder flows a part cannot be read."}, l.notes("flows", nil))
	require.Equal(t, []string{"Of the folder flows a part cannot be read."}, (&lister{}).notes("flows", fs.ErrPermission))
	require.Empty(t, (&lister{}).notes("flows", nil))
}
