package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestKeepsWhatWasAppended(t *testing.T) {
	t.Parallel()
	j, dir := create(t)
	log := echo.NewLog("s1", nil, j)
	cost := 0.25
	full := &echo.Entry{
		NodeType: echo.NodeModelCall, Key: echo.MustKey("p/attempt1/turn1/model"), CascadeID: "c", Phase: "p", Attempt: 1, Turn: 1, Sounding: 2,
		Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "line\nline \u2028 \x00"), Model: "m", Provider: "h", Scripted: true,
		Usage: &echo.Usage{In: 4, Cached: 3, Out: 2, Reasoning: 1, Estimated: true}, CostUSD: &cost, DurationMS: 1.5, RequestHash: "ff",
		Tool: &echo.ToolUse{Name: "n", CallID: "i", Arguments: "{"}, Error: &echo.Failure{Kind: "k", Message: "m"},
		Selection: &echo.Selection{ContextSize: 7, Spans: []echo.Span{{From: 0, Count: 2, Form: "full", Reason: "r"}}},
		Data:      []byte(`{"x":[1,2]}`),
	}
	require.NoError(t, log.Append(full))
	require.NoError(t, log.Append(entryOf("two")))
	require.NoError(t, log.Close(context.Background()))

	rec, err := Read(filepath.Join(dir, File))
	require.NoError(t, err)
	require.False(t, rec.Torn)
	require.Equal(t, "s1", rec.Header.SessionID)
	require.Equal(t, Version, rec.Header.Version)
	require.Len(t, rec.Entries, 2)
	require.Equal(t, full, rec.Entries[0])
	require.Equal(t, full.Message.Hash(), rec.Entries[0].ContentHash)
	require.Equal(t, uint64(2), rec.Entries[1].Seq)
}

// A line of a journal is what json.Marshal makes of the entry.
func TestEntriesAreEncodedWhole(t *testing.T) {
	t.Parallel()
	hostile := entryOf("two <lines>\n\u2028 & \x00 ,\"content_hash\":\"")
	hostile.Key, hostile.ContentHash, hostile.Data = echo.MustKey(`a,"content_hash":b`), hostile.Message.Hash(), []byte(`{ "content_hash" : "<" }`)
	for name, e := range map[string]*echo.Entry{
		"hostile": hostile, "no hash": entryOf("x"), "no message": {NodeType: echo.NodeRoute, Key: echo.MustKey("run/route"), ContentHash: "ff", Data: []byte(`{"to":"a"}`)},
	} {
		line, err := e.AppendJSON(nil)
		require.NoError(t, err)
		want, err := json.Marshal(e)
		require.NoError(t, err)
		require.Equal(t, string(want), string(line), name)
	}
}

// Waiting promises that the entries are in the file, whichever goroutine appended them and however
// many waited at once.
func TestWaitMakesConcurrentAppendsDurable(t *testing.T) {
	t.Parallel()
	j, dir := create(t)
	log := echo.NewLog("s1", nil, j)
	const workers, each = 8, 25
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				require.NoError(t, log.Append(entryOf(fmt.Sprintf("%d/%d", w, i))))
				require.NoError(t, log.Wait(context.Background()))
				b, err := os.ReadFile(filepath.Join(dir, File))
				require.NoError(t, err)
				require.Contains(t, string(b), fmt.Sprintf(`"text":"%d/%d"`, w, i))
			}
		})
	}
	wg.Wait()
	rec, err := Read(j.Path())
	require.NoError(t, err)
	require.Len(t, rec.Entries, workers*each)
	require.LessOrEqual(t, j.Syncs(), uint64(workers*each+1))
}

// A full disk stops the log with the disk's own error; nothing is accepted after it and nothing
// hangs.
func TestFullDiskStopsTheLog(t *testing.T) {
	t.Parallel()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	j := maker{}.start("full", "s1", dataFile{f}, flock.New(filepath.Join(t.TempDir(), "lock")))
	log := echo.NewLog("s1", nil, j)
	require.NoError(t, log.Append(entryOf("x")))
	err = log.Wait(context.Background())
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "write journal full")
	require.ErrorIs(t, log.Append(entryOf("y")), syscall.ENOSPC)
	require.ErrorIs(t, log.Append(entryOf("z")), syscall.ENOSPC)
	require.ErrorIs(t, log.Close(context.Background()), syscall.ENOSPC)
}

// smallDisk is a file on a disk with space for so many bytes.
type smallDisk struct {
	content []byte
	room    int
}

func (d *smallDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room-len(d.content))
	d.content = append(d.content, b[:n]...)
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *smallDisk) WriteAt(b []byte, at int64) (int, error) {
	d.content = d.content[:at]
	return d.Write(b)
}

func (d *smallDisk) Truncate(size int64) error { d.content = d.content[:size]; return nil }
func (d *smallDisk) Sync() error               { return nil }
func (d *smallDisk) Close() error              { return nil }

// Once flushed, an entry is in the file, synced or not: a killed process loses nothing of it.
func TestFlushedEntriesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	j, _ := create(t)
	log := echo.NewLog("s1", nil, j)
	syncs := j.Syncs()
	require.NoError(t, log.Append(entryOf("first")))
	require.NoError(t, log.Append(entryOf("second")))
	log.Flush()
	rec, err := Read(j.Path())
	require.NoError(t, err)
	require.Len(t, rec.Entries, 2)
	require.Equal(t, syncs, j.Syncs(), "nothing asked for a sync")
}

// What a failed write got through is cut off again: the file ends with a whole line.
func TestFailedWriteLeavesNoHalfLine(t *testing.T) {
	t.Parallel()
	d := &smallDisk{room: 1000}
	j := maker{}.start("small", "s1", d, flock.New(filepath.Join(t.TempDir(), "lock")))
	log := echo.NewLog("s1", nil, j)
	var err error
	for i := 0; err == nil; i++ {
		require.Less(t, i, 1000)
		if err = log.Append(entryOf(strings.Repeat("x", 50))); err == nil {
			err = log.Wait(context.Background())
		}
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NotEmpty(t, d.content)
	require.True(t, strings.HasSuffix(string(d.content), "\n"))
	require.ErrorIs(t, log.Close(context.Background()), syscall.ENOSPC)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	idle := &committer{} // without its goroutine: there is nobody to sync anything
	idle.cond = sync.NewCond(&idle.mu)
	j := &Journal{commits: idle}
	j.cond = sync.NewCond(&j.mu)
	j.written = 1
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	time.AfterFunc(0, func() { cancel(cause) })
	require.ErrorIs(t, j.Wait(ctx), cause)
}
