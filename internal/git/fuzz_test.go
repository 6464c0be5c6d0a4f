package git

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// FuzzRead reads what git status may say: every record is one file at most, none is lost but beyond
// the limit, and what became of a file is one of the known words.
func FuzzRead(f *testing.F) {
	f.Add([]byte("1 .M N... 100644 100644 100644 aaaa bbbb a b.txt\x00? new\nline\x00u UU N... 1 2 3 4 a b c both.txt\x00"))
	f.Add([]byte("1 AM\x002 R. x\x00! ignored\x00\x00? \x00# branch.head x\x00"))
	f.Add([]byte(strings.Repeat("? a\x00", 300)))
	f.Fuzz(func(t *testing.T, out []byte) {
		w := &echo.Workspace{}
		read(w, out)
		require.LessOrEqual(t, len(w.Files), maxFiles)
		require.LessOrEqual(t, len(w.Files)+w.More, strings.Count(string(out), "\x00")+1)
		for _, file := range w.Files {
			require.Contains(t, []string{"modified", "added", "deleted", "changed", "untracked", "unmerged"}, file.Change)
			require.Contains(t, string(out), file.Path)
		}
	})
}
