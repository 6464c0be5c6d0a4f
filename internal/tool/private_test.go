package tool_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/tool"
)

// A run that starts where windlass keeps its records must not let the model change its journal.
func TestPrivateFoldersAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session := filepath.Join(dir, "home", "sessions", "s1")
	work := filepath.Join(session, "work")
	require.NoError(t, os.MkdirAll(work, 0o700))
	b := setup(t, tool.Options{Roots: []string{dir, work}, Private: []string{filepath.Join(dir, "home"), filepath.Join(dir, "later"), filepath.Join(dir, "kept.jsonl")}})
	b.file(t, "kept.jsonl", "recorded, too\n")
	b.file(t, "home/sessions/s1/journal.jsonl", "recorded\n")
	b.file(t, "notes.txt", "recorded as well\n")
	require.NoError(t, os.Symlink("home/sessions", filepath.Join(dir, "link")))

	for _, path := range []string{
		"home/sessions/s1/journal.jsonl", "link/s1/journal.jsonl", "./link/../home/new/file", "home/windlass.json", "later/x", session + "/lock", "kept.jsonl",
	} {
		args := `{"path": "` + path + `", "content": "x"}`
		const text = " is in a folder of windlass itself, which tools leave alone"
		require.Equal(t, path+text, b.fails(t, "not_allowed", tool.WriteFile, args))
		require.Equal(t, path+text, b.fails(t, "not_allowed", tool.ReadFile, `{"path": "`+path+`"}`))
	}
	require.Equal(t, "link (symbolic link)\nnotes.txt (17)", b.ok(t, tool.ListFiles, `{}`))
	require.NotContains(t, b.ok(t, tool.SearchFiles, `{"pattern": "recorded", "all": true}`), "journal")
	b.fails(t, "not_allowed", tool.ListFiles, `{"path": "link"}`)

	b.ok(t, tool.WriteFile, `{"path": "`+work+`/draft.txt", "content": "mine"}`)
	require.Contains(t, b.ok(t, tool.ReadFile, `{"path": "`+work+`/draft.txt"}`), "mine")
	recorded, err := os.ReadFile(filepath.Join(session, "journal.jsonl"))
	require.NoError(t, err)
	require.Equal(t, "recorded\n", string(recorded))
}

// windlass.json lists trusted commands: a model that writes it grants them to itself.
func TestConfigurationIsNotWritten(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	for _, path := range []string{"windlass.json", "sub/Windlass.JSON"} {
		require.Equal(t, "write "+path+": not written without a grant: windlass runs the commands that it trusts, and sends keys to the endpoints "+
			"that it names; grant with --allow-write '"+path+"'",
			b.fails(t, "not_allowed", tool.WriteFile, `{"path": "`+path+`", "content": "{}"}`))
	}
}
