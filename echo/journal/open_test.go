package journal

import (
	"context"
	"fmt"
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

// Where the disk did not get a block before its power failed, the journal is cut off, and what was
// behind is kept. Other damage is not touched.
func TestOpenCutsOffWhatWasNotWritten(t *testing.T) {
	t.Parallel()
	lines := written(t, "one", "two", "three")
	sound := lines[0] + lines[1]
	for name, tc := range map[string]struct {
		end     string
		damaged bool
	}{
		"zeros":             {end: "\x00\x00\x00\x00"},
		"zeros and an end":  {end: "\x00\x00\x00\n"},
		"in a line":         {end: strings.Replace(lines[2], "two", "\x00\x00\x00", 1) + lines[3]},
		"a line of zeros":   {end: strings.Repeat("\x00", len(lines[2])) + lines[3]},
		"changed":           {end: strings.Replace(lines[2], "two", "owt", 1), damaged: true},
		"changed and zeros": {end: strings.Replace(lines[2], "two", "owt", 1) + "\x00\n", damaged: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sessionFolder(t)
			path := filepath.Join(dir, File)
			require.NoError(t, os.WriteFile(path, []byte(sound+tc.end), 0o600))
			_, readErr := Read(path)
			j, rec, err := Open(dir)
			text, textErr := os.ReadFile(path)
			require.NoError(t, textErr)
			if tc.damaged {
				require.True(t, IsUnreadable(err), err)
				require.Equal(t, sound+tc.end, string(text))
				return
			}
			require.NoError(t, err)
			require.Len(t, rec.Entries, 1)
			require.NoError(t, j.Close(context.Background()))
			require.Equal(t, sound, string(text))
			lost, err := os.ReadFile(fmt.Sprintf(lostFile, path, len(sound)))
			if readErr == nil { // a torn end
				require.ErrorIs(t, err, os.ErrNotExist)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.end, string(lost))
		})
	}
}
