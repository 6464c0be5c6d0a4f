package reports

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/memories"
	"github.com/windlass-run/windlass/internal/term"
)

// TestMemoTables has what terminals of two widths, and a pipe, show of memos.
func TestMemoTables(t *testing.T) {
	t.Parallel()
	key := echo.MustKey("work/attempt1/turn2/tool1")
	list := []memories.Memo{
		{ID: "m1a2b3c4d", Scope: "project", Version: "2a424662e77892e0", Text: "The harbour closes at low tide.\nAsk the master.", Tags: []string{"gotcha", "api-design"}, Written: memories.Written{At: noon, Session: longID, Key: key, Command: "save_memo"}, Current: true, ReadBy: []string{"one", "two"}, See: "windlass context show " + longID + " --phase work"},
		{ID: "m2a2b3c4d", Scope: "global", Version: "4c82cb466b5aec1f", Text: "Red\x1b[31m " + strings.Repeat("and long ", 30), Written: memories.Written{At: noon.Add(time.Hour), Person: "ann\x1b[31m", Command: "add", Imported: true}, Current: true},
		{ID: "m3a2b3c4d", Scope: "project", Version: "e66d94577ea13d90", Written: memories.Written{At: noon, Person: "ann", Command: "edit"}, Forgotten: true},
		{ID: "m3a2b3c4d", Scope: "project", Version: "b9a53e8f81c735e5", Written: memories.Written{At: noon, Person: "ann", Command: "forget"}, Gone: true},
	}
	unread := slices.Clone(list[:2])
	unread[1].Unread = true
	var b bytes.Buffer
	long := []memories.Memo{{ID: "m4a2b3c4d", Scope: "project", Version: "4c82cb466b5aec1f", Text: "A word: " + strings.Repeat("x", 300), Written: memories.Written{At: noon, Person: "ann", Command: "add"}}}
	for _, table := range []*term.Table{Memos(long), MemoVersions(long)} {
		var out strings.Builder
		require.NoError(t, table.Render(&out, term.Room{Width: 80}))
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 80, "a word that is longer than a line is divided")
		}
		require.Equal(t, 300, strings.Count(out.String(), "x")-strings.Count(out.String(), "text"), "and nothing of it is left out")
	}
	for _, width := range []int{80, 200, 0} {
		fmt.Fprintf(&b, "-- %d columns --\n", width)
		for _, table := range []*term.Table{Memos(list[:2]), Memos(unread), MemoVersions(list)} {
			require.NoError(t, table.Render(&b, term.Room{Width: width}))
			b.WriteByte('\n')
		}
	}
	b.WriteString("-- one --\n" + strings.Join(append(Memo(&list[0]), Memo(&unread[1])...), "\n") + "\n")
	f := &memories.MemoForgotten{ID: "m1a2b3c4d", Versions: 2, Also: []string{"m2a2b3c4d"}, Missing: []string{"gone"}, Look: []string{"windlass context show one --phase work"}, Redact: []string{"windlass sessions redact one HASH --parts"}, Delete: []string{"windlass sessions delete two"}}
	b.WriteString("-- forgotten --\n" + strings.Join(append(MemoForgotten(f, false), MemoForgotten(&memories.MemoForgotten{ID: "m1", Versions: 1}, true)...), "\n") + "\n")
	const path = "testdata/memos.golden"
	if *update {
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
