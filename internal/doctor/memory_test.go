package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/term"
)

// Each file of a bank and of memos is read, and what is wrong with one is told with what to do.
func TestExamineMemory(t *testing.T) {
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	none, err := examineMemory(home)
	require.NoError(t, err)
	require.Empty(t, none)
	desk := memories.Open(home, folder, "ann")
	for _, bank := range []string{"shared:a", "shared:b", "shared:c", "notes"} {
		draft, err := desk.Draft(bank, "x.md")
		require.NoError(t, err)
		_, err = desk.Put(t.Context(), draft, "text")
		require.NoError(t, err)
	}
	memos := memories.OpenMemos(home, folder, "ann")
	for _, scope := range []string{"project", "global"} {
		_, err = memos.Add(t.Context(), scope, "a fact", nil)
		require.NoError(t, err)
	}
	shown := func() string {
		files, err := examineMemory(home)
		require.NoError(t, err)
		require.Len(t, files, 6)
		found := term.NewTable("what", "finding")
		memoryFindings(found, files)
		var out strings.Builder
		require.NoError(t, found.Render(&out, term.Room{}))
		return out.String()
	}
	require.Contains(t, shown(), "banks and memos  6 files: all can be read\n")
	file := func(name string) string { return filepath.Join(config.BanksDir(home), "shared", name+".bank") }
	text, err := os.ReadFile(file("b"))
	require.NoError(t, err)
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write(file("b"), strings.Replace(string(text), "text", "tEXT", 1))
	write(file("c"), "")
	text, err = os.ReadFile(file("a"))
	require.NoError(t, err)
	write(file("a"), string(text)+`{"seq":2`)
	global := filepath.Join(config.MemosDir(home), "global.memos")
	write(global, "x\n")
	all := shown()
	require.Contains(t, all, "banks and memos  6 files, of which 3 cannot be read\n")
	require.Contains(t, all, "  a              "+file("a")+" can be read; it ends in 8 bytes of a line that was not written to its end, which the next write takes away\n")
	require.Contains(t, all, "  b              bank "+file("b")+" is damaged at line 2: ")
	require.Contains(t, all, ". Try: put a sound copy of the bank in its place, or move it away\n")
	require.Contains(t, all, "  c              bank "+file("c")+" has no whole entry: it was cut off, or whoever began it died before the first one was written. "+
		"Try: put a sound copy of the bank in its place, or remove the file: the next write begins it anew\n")
	require.Contains(t, all, "  global         memo file "+global+" is damaged at line 1: ")
	require.NotContains(t, all, "notes")
}
