package journal

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// A session that a crash cut off at any byte of its last line is continued: what was whole stays,
// and what is added follows it.
func TestOpenAfterACrash(t *testing.T) {
	t.Parallel()
	lines := written(t, "first", "second")
	whole, last := strings.Join(lines[:2], ""), lines[2]
	for cut := range len(last) + 1 {
		dir := sessionFolder(t)
		require.NoError(t, os.WriteFile(filepath.Join(dir, File), []byte(whole+last[:cut]), 0o600))
		j, rec, err := Open(dir)
		require.NoError(t, err)
		kept := 1
		if cut == len(last) {
			kept = 2
		}
		require.Len(t, rec.Entries, kept)
		require.Equal(t, cut > 0 && cut < len(last), rec.Torn)
		log := echo.ContinueLog("s1", uint64(kept), nil, j)
		require.NoError(t, log.Append(entryOf("more")))
		require.NoError(t, log.Close(context.Background()))
		again, err := Read(filepath.Join(dir, File))
		require.NoError(t, err)
		require.False(t, again.Torn)
		require.Len(t, again.Entries, kept+1)
		require.Equal(t, "more", again.Entries[kept].Message.Text())
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, _, err := Open(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)

	j, dir := create(t)
	busy, err := Busy(dir)
	require.NoError(t, err)
	require.True(t, busy)
	_, _, err = Open(dir)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, j.Close(context.Background()))
	busy, err = Busy(dir)
	require.NoError(t, err)
	require.False(t, busy)
	busy, err = Busy(t.TempDir())
	require.NoError(t, err)
	require.False(t, busy, "a journal that was copied there")

	path := filepath.Join(dir, File)
	text := []byte(`{"windlass_journal":3}` + "\n" + `{"seq`)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, _, err = Open(dir)
	var damage *DamageError
	require.ErrorAs(t, err, &damage)
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, left, "nothing is changed")
}

// What was read of a journal is on disk when Open returns: a killed process may have written what
// was never synced.
func TestOpenMakesDurable(t *testing.T) {
	t.Parallel()
	j, dir := create(t)
	require.NoError(t, j.Close(context.Background()))
	j, _, err := Open(dir)
	require.NoError(t, err)
	require.Equal(t, uint64(1), j.Syncs())
	require.NoError(t, j.Close(context.Background()))
}
