//go:build unix

package editor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatAnEditorLeaves: only a file is read back, and nothing is waited for.
func TestWhatAnEditorLeaves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("of somebody else"), 0o600))
	program := func(name, lines string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
		return "sh " + path
	}
	text, err := edit(strings.NewReader(""), &strings.Builder{}, program("new", `rm "$1"; echo new >"$1"`), "memory.md", "old")
	require.NoError(t, err)
	require.Equal(t, "new\n", text)
	for lines, want := range map[string]string{
		`rm "$1"; mkfifo "$1"`:            "when the editor has ended, memory.md is a named pipe, not a file: it may never end",
		`ln -sf ` + other + ` "$1"`:       "when the editor has ended, memory.md is a link, not a file",
		`rm "$1"; mkdir "$1"`:             "when the editor has ended, memory.md is a folder, not a file",
		`rm "$1"`:                         "it has left no file",
		`head -c 1048577 /dev/zero >"$1"`: "the text has 1048577 bytes, at most 1048576 are taken",
		`exit 3`:                          "exit status 3",
	} {
		_, err := edit(strings.NewReader(""), &strings.Builder{}, program("bad", lines), "memory.md", "old")
		require.EqualError(t, err, want)
	}
}
