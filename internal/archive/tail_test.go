package archive

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
)

// seqsOf reads what is there of a tail.
func seqsOf(t *testing.T, tail Events) (seqs []uint64, ended bool) {
	t.Helper()
	for {
		entries, over, err := tail.Next()
		require.NoError(t, err)
		for _, e := range entries {
			seqs = append(seqs, e.Seq)
		}
		if over || len(entries) == 0 {
			return seqs, over
		}
	}
}

// TestTail follows a journal that grows, tears, is mended and ends.
func TestTail(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s1")
	j, err := journal.Create(dir, journal.Header{Rules: engine.Rules, SessionID: "s1", Cascade: []byte(`{}`), Input: []byte(`{}`)})
	require.NoError(t, err)
	log := echo.NewLog("s1", nil, j)
	add := func(n int) {
		for i := range n {
			require.NoError(t, log.Append(&echo.Entry{NodeType: echo.NodeState, Key: echo.MustKey(fmt.Sprint(i))}))
		}
		log.Flush()
	}
	alive := true
	path := filepath.Join(dir, journal.File)
	tail, err := openTail(path, 3, func() bool { return alive })
	require.NoError(t, err)
	defer tail.Close() //nolint:errcheck // only read from
	seqs, ended := seqsOf(t, tail)
	require.Empty(t, seqs, "there is only a header")
	require.False(t, ended)
	add(2)
	seqs, _ = seqsOf(t, tail)
	require.Empty(t, seqs, "none of these is wanted")
	add(3)
	seqs, _ = seqsOf(t, tail)
	require.Equal(t, []uint64{3, 4, 5}, seqs)
	add(2*tailBatch + 1)
	seqs, ended = seqsOf(t, tail)
	require.Len(t, seqs, 2*tailBatch+1)
	require.Equal(t, uint64(6), seqs[0])
	require.False(t, ended)

	// A crash tears the last line; whoever goes on cuts it off and writes another one in its place.
	require.NoError(t, log.Close(context.Background()))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"session_id":"s1","seq":519,"at":"2026-01-01T00:00:00Z","node_type":"state","key":"torn and much longer than what comes`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	seqs, _ = seqsOf(t, tail)
	require.Empty(t, seqs)
	j, rec, err := journal.Open(dir)
	require.NoError(t, err)
	log = echo.ContinueLog("s1", uint64(len(rec.Entries)), nil, j)
	add(1)
	seqs, _ = seqsOf(t, tail)
	require.Equal(t, []uint64{519}, seqs)

	// What was written before the end is read before the end is told.
	add(1)
	require.NoError(t, log.Close(context.Background()))
	alive = false
	tail.quiet = lookEvery
	seqs, ended = seqsOf(t, tail)
	require.Equal(t, []uint64{520}, seqs)
	require.True(t, ended)
}

// TestTailTakesLongEntriesOneByOne: however long entries are, a reader is not given more at once
// than it has to be, as there may be many readers.
func TestTailTakesLongEntriesOneByOne(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s1")
	j, err := journal.Create(dir, journal.Header{Rules: engine.Rules, SessionID: "s1", Cascade: []byte(`{}`), Input: []byte(`{}`)})
	require.NoError(t, err)
	log := echo.NewLog("s1", nil, j)
	for i := range 5 {
		require.NoError(t, log.Append(&echo.Entry{NodeType: echo.NodeState, Key: echo.MustKey(fmt.Sprint(i)), Data: []byte(`"` + strings.Repeat("x", tailBytes*2/3) + `"`)}))
	}
	require.NoError(t, log.Close(context.Background()))
	tail, err := openTail(filepath.Join(dir, journal.File), 1, func() bool { return false })
	require.NoError(t, err)
	defer tail.Close() //nolint:errcheck // only read from
	for _, want := range []int{2, 2, 1} {
		entries, _, err := tail.Next()
		require.NoError(t, err)
		require.Len(t, entries, want)
	}
	_, ended, err := tail.Next()
	require.NoError(t, err)
	require.True(t, ended)
}
