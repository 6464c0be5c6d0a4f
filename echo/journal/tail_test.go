package journal

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// texts reads what is there of a tail.
func texts(t *testing.T, tail *Tail) (list []string) {
	t.Helper()
	for {
		e, err := tail.Next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return list
		}
		require.Equal(t, tail.Seq(), e.Seq)
		list = append(list, e.Message.Text())
	}
}

// grow appends a text to a file.
func grow(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// A file may grow by any byte: each line is read when it is whole, and not before.
func TestTailFollowsEveryByte(t *testing.T) {
	t.Parallel()
	lines := written(t, "one", "two", "three")
	path := filepath.Join(sessionFolder(t), File)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	tail, err := OpenTail(path, 2)
	require.NoError(t, err)
	defer tail.Close() //nolint:errcheck // only read from
	var size int64
	for i, line := range lines {
		for _, c := range []byte(line) {
			require.Empty(t, texts(t, tail))
			require.Equal(t, size, tail.Offset())
			grow(t, path, string(c))
		}
		if i < 2 {
			require.Empty(t, texts(t, tail), "the header, and an entry that is passed over")
		} else {
			require.Equal(t, []string{[]string{"two", "three"}[i-2]}, texts(t, tail))
		}
		size += int64(len(line))
		require.Equal(t, uint64(i), tail.Seq())
	}
}

// A crash tears the last line, and the process that resumes the session cuts it off and writes
// another one in its place. What a tail has read of the torn line until then does not count.
func TestTailReadsATornLineAnew(t *testing.T) {
	t.Parallel()
	j, dir := create(t)
	log := echo.NewLog("s1", nil, j)
	require.NoError(t, log.Append(entryOf("one")))
	require.NoError(t, log.Append(entryOf("two")))
	require.NoError(t, log.Close(context.Background()))
	grow(t, j.Path(), `{"seq":3,"session_id":"s1","this is torn`)
	tail, err := OpenTail(j.Path(), 0)
	require.NoError(t, err)
	defer tail.Close() //nolint:errcheck // only read from
	e, err := tail.Next()
	require.NoError(t, err)
	require.Equal(t, uint64(1), e.Seq)

	j, rec, err := Open(dir)
	require.NoError(t, err)
	require.True(t, rec.Torn)
	log = echo.ContinueLog("s1", 2, nil, j)
	for _, text := range []string{"three", strings.Repeat("long ", chain.BoundsOfAll.Block), "five"} {
		require.NoError(t, log.Append(entryOf(text)))
	}
	require.NoError(t, log.Close(context.Background()))
	require.Equal(t, []string{"two", "three", strings.Repeat("long ", chain.BoundsOfAll.Block), "five"}, texts(t, tail))
}

// Everything is checked, also what is passed over.
func TestTailOfADamagedJournal(t *testing.T) {
	t.Parallel()
	lines := written(t, "one", "two", "three")
	lines[1] = strings.Replace(lines[1], `"text":"one"`, `"text":"eno"`, 1)
	path := filepath.Join(sessionFolder(t), File)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	tail, err := OpenTail(path, 3)
	require.NoError(t, err)
	defer tail.Close() //nolint:errcheck // only read from
	_, err = tail.Next()
	require.EqualError(t, err, "journal "+path+" is damaged at line 2: "+chain.ErrSum.Error())

	require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o600))
	_, err = OpenTail(path, 1)
	require.EqualError(t, err, "journal "+path+" is damaged at line 1: the line is no header of a journal")
	_, err = OpenTail(filepath.Join(t.TempDir(), File), 1)
	require.ErrorIs(t, err, os.ErrNotExist)
}
