package delivery_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/delivery"
)

// FuzzMarks reads the marks of a session's folder: a file that is damaged means that nothing was
// delivered, and a mark that is set is there, whatever was in the file.
func FuzzMarks(f *testing.F) {
	for _, s := range []string{`{"keep_here": true}`, `{"shipped": [{"to": "a", "database": "d", "seq": 7, "entry_at": "2026-01-01T00:00:00Z"}]}`, `{"shipped": [{"to": "a"}, {"to": "a"}]}`, `{"shipped": [{"seq": -1}]}`, "[", "null", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, delivery.MarksFile), data, 0o600))
		before := delivery.ReadMarks(dir)
		mark := delivery.Mark{To: "there", Database: "d", Seq: 3, EntryAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		require.NoError(t, delivery.SetMark(dir, mark))
		after := delivery.ReadMarks(dir)
		require.Equal(t, mark, after.Of("there"))
		require.Equal(t, before.KeepHere, after.KeepHere)
		for _, m := range before.Shipped {
			if m.To != "there" {
				require.Equal(t, before.Of(m.To), after.Of(m.To))
			}
		}
	})
}
