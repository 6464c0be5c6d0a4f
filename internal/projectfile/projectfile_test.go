package projectfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file of the folder is read, also through links that stay in it; nothing else is.
func TestRead(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(filepath.Join(outside, "secret.md"), "secret")
	write(filepath.Join(dir, "MEMORY.md"), "# Rules\n")
	write(filepath.Join(dir, "long.md"), strings.Repeat("x", MaxBytes+1))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "docs", "deep"), 0o700))
	write(filepath.Join(dir, "docs", "deep", "a.md"), "deep")
	require.NoError(t, os.Symlink("MEMORY.md", filepath.Join(dir, "link.md")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "out.md")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "away")))
	for path, want := range map[string]string{"MEMORY.md": "# Rules\n", "link.md": "# Rules\n", "docs/deep/a.md": "deep"} {
		text, there, err := Read(dir, path)
		require.NoError(t, err, path)
		require.True(t, there)
		require.Equal(t, want, text)
	}
	for _, path := range []string{"none.md", "none/none.md"} {
		_, there, err := Read(dir, path)
		require.NoError(t, err)
		require.False(t, there)
	}
	for path, want := range map[string]string{
		"docs": "docs is a folder, not a file", "out.md": "a link on the way to out.md leads out of the project folder, which nothing is read from",
		"away/secret.md": "a link on the way to away/secret.md leads out of the project folder, which nothing is read from",
		"long.md":        "long.md has more than 1048576 bytes, too large: keep it short, and put the rest into other files",
	} {
		_, _, err := Read(dir, path)
		require.EqualError(t, err, want)
	}
	_, _, err := Read(filepath.Join(dir, "gone"), "MEMORY.md")
	require.ErrorContains(t, err, "open the project folder: ")
}
