package tool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// opened returns the target of a path in a new folder that has a .git, and the folder.
func opened(t *testing.T, path string) (*target, string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "docs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "page.md"), []byte("page\n"), 0o600))
	f, err := openFolders(Options{Roots: []string{dir}})
	require.NoError(t, err)
	p, err := f.find(path)
	require.NoError(t, err)
	made, err := f.target(p)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, made.close())
		require.NoError(t, f.close())
	})
	return made, dir
}

// swap puts a link to the repository in the place of a folder.
func swap(t *testing.T, dir, name string) {
	t.Helper()
	require.NoError(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, "away")))
	require.NoError(t, os.Symlink(".git", filepath.Join(dir, name)))
}

// A folder that became a link between being seen and being opened is not entered.
func TestFolderThatBecomesALinkIsNotEntered(t *testing.T) {
	t.Parallel()
	made, dir := opened(t, "x.md")
	seen, err := made.dir().root.Lstat("docs")
	require.NoError(t, err)
	swap(t, dir, "docs")
	require.ErrorIs(t, made.enter("docs", seen), errChanged)
	require.Equal(t, []string{"x.md"}, made.path())
}

// What was checked is what is written, whatever the path leads to by then.
func TestLinkThatComesAfterTheCheckChangesNothing(t *testing.T) {
	t.Parallel()
	for _, add := range []bool{false, true} {
		made, dir := opened(t, "docs/config")
		swap(t, dir, "docs")
		verb, err := made.write(made.files.rules, "text", add)
		require.NoError(t, err)
		require.NotEmpty(t, verb)
		require.NoFileExists(t, filepath.Join(dir, ".git", "config"))
		text, err := os.ReadFile(filepath.Join(dir, "away", "config"))
		require.NoError(t, err)
		require.Equal(t, "text", string(text))
	}
}

// A folder that is to be made and is a link by then is not followed.
func TestFolderToBeMadeThatIsALinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	made, dir := opened(t, "new/config")
	require.NoError(t, os.Symlink(".git", filepath.Join(dir, "new")))
	_, err := made.write(made.files.rules, "text", false)
	require.EqualError(t, err, "write new/config: it was changed while it was written; try again")
	require.NoFileExists(t, filepath.Join(dir, ".git", "config"))
}

// A file that became another one between being seen and being opened is not added to.
func TestFileThatBecomesAnotherIsNotOpened(t *testing.T) {
	t.Parallel()
	made, dir := opened(t, "docs/page.md")
	info, err := made.dir().root.Lstat("page.md")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "other"), nil, 0o600))
	require.NoError(t, os.Remove(filepath.Join(dir, "docs", "page.md")))
	require.NoError(t, os.Symlink("other", filepath.Join(dir, "docs", "page.md")))
	require.ErrorIs(t, made.open(&existing{info: info}, true), errChanged)
}
