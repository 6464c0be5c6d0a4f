package reports

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/term"
)

const longID = "01jz4k9qw3e5r7t2y4u67k2mq"

func versionsOf() []memories.Version {
	key := echo.MustKey("work/attempt1/turn2/tool1")
	return []memories.Version{
		{ID: "2a424662e77892e0", Path: "/memories/todo.md", At: noon, Session: longID, Key: key, Command: "create", Bytes: 1200, ReadBy: []string{"one", "two"}, See: "windlass context show " + longID + " --phase work"},
		{ID: "4c82cb466b5aec1f", Path: "/memories/todo.md", At: noon.Add(time.Hour), Person: "ann\x1b[31m", Command: "edit", Bytes: 900, Forgotten: true},
		{ID: "e66d94577ea13d90", Path: "/memories/plans/2026/may.md", At: noon.Add(2 * time.Hour), Session: "one", Key: key, Command: "rename", Bytes: 7, From: "/memories/may.md", Current: true, Imported: true, ReadBy: []string{"two"}},
		{ID: "b9a53e8f81c735e5", Path: "/memories/may.md", At: noon.Add(2 * time.Hour), Session: "one", Key: key, Command: "rename", Gone: true, Current: true},
	}
}

// TestMemoryTables has what terminals of two widths, and a pipe, show of banks.
func TestMemoryTables(t *testing.T) {
	t.Parallel()
	versions := versionsOf()
	files := []memories.File{
		{Version: versions[2], Versions: 1},
		{Version: memories.Version{ID: "77aa94577ea13d90", Path: "/memories/plans/2026/june.md", At: noon, Person: "ann", Bytes: 3}, Versions: 2, Others: []string{"x"}},
		{Version: memories.Version{ID: "88aa94577ea13d90", Path: "/memories/plans/old.md", At: noon, Session: longID, Key: versions[0].Key, Bytes: 30}, Versions: 4},
		{Version: versions[0], Versions: 2},
	}
	banks := []memories.Listed{
		{Bank: "notes", Folder: "/home/ann/projects/checkout", Files: 4, Bytes: 1240, Versions: 12, Sessions: 41, Written: &noon, Unread: []string{"/memories/plans/old.md", "/memories/todo.md"}},
		{Bank: "empty", Folder: "/home/ann/projects/checkout"},
		{Bank: "shared:house-style", Error: "bank /home/ann/.windlass/banks/shared/house-style.bank is damaged at line 2: the checksum is wrong"},
	}
	var b bytes.Buffer
	for _, width := range []int{80, 200, 0} {
		fmt.Fprintf(&b, "-- %d columns --\n", width)
		for _, table := range []*term.Table{Banks(banks, false), Banks(banks, true), Memories(files), MemoryVersions(versions)} {
			require.NoError(t, table.Render(&b, term.Room{Width: width}))
			b.WriteByte('\n')
		}
	}
	const path = "testdata/memory.golden"
	if *update {
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
	require.Equal(t, "/memories/plans/2026/june.md of the bank notes was written here and elsewhere, and both versions are kept. Runs see the newer one. "+
		"The next write settles it: windlass memory edit notes PATH", Diverging("notes", files))
}

// Of many sessions the commands of the newest are shown, each once.
func TestSeenBy(t *testing.T) {
	t.Parallel()
	var list []memories.Version
	for _, n := range []int{1, 2, 3, 1, 4, 5, 6} {
		list = append(list, memories.Version{See: fmt.Sprint("windlass show ", n)}, memories.Version{})
	}
	require.Equal(t, []string{"windlass show 3", "windlass show 1", "windlass show 4", "windlass show 5", "windlass show 6"}, SeenBy(list))
}
