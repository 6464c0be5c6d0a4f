package journal

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// brokenOnce returns a store in which one sync of the journal of s1 fails once it is armed.
func brokenOnce(t *testing.T, root string) (*Store, *once) {
	t.Helper()
	s := storeOf(t, root)
	fault := &once{operation: "sync", session: "s1", err: syscall.EIO}
	s.on = faulty{osFiles{}, fault.fails}
	return s, fault
}

// A system says only once that it could not write a file back. What the journal has is then not
// known to be on the disk, whatever another sync says: the commit log stays for a recovery.
func TestCommitLogOfAJournalThatCouldNotBeSynced(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(t *testing.T, s *Store, j *Journal){
		"by the committer": func(t *testing.T, _ *Store, j *Journal) {
			t.Helper()
			require.NoError(t, j.Write(entryOf(strings.Repeat("x", maxKept)))) // too much for the log
			err := j.Wait(context.Background())
			require.ErrorIs(t, err, syscall.EIO)
			require.ErrorContains(t, err, "write journal "+j.Path()+": ")
		},
		"by the end of a log": func(t *testing.T, _ *Store, j *Journal) {
			t.Helper()
			require.ErrorIs(t, j.checkpoint(), syscall.EIO)
			require.ErrorIs(t, j.checkpoint(), syscall.EIO, "still")
		},
		"by the end of the session": func(*testing.T, *Store, *Journal) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			s, fault := brokenOnce(t, root)
			j, _ := begun(t, s, "s1", "one")
			fault.armed.Store(true)
			fail(t, s, j)
			require.ErrorIs(t, j.Close(context.Background()), syscall.EIO)
			require.False(t, fault.armed.Load())
			require.ErrorIs(t, j.checkpoint(), syscall.EIO, "a log that is full meanwhile")
			require.NoError(t, s.Close())
			require.Len(t, logsOf(t, s), 1)
			require.NoError(t, storeOf(t, root).Recover(context.Background()))
			requireNoLogs(t, s)
		})
	}
}

// A log that has the end of a closed journal stays when it is full, and the next ones are removed as
// before.
func TestFullCommitLogWithTheEndOfAClosedJournal(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s, fault := brokenOnce(t, root)
	s.limit = 2000
	j, _ := begun(t, s, "s1", "one")
	fault.armed.Store(true)
	require.ErrorIs(t, j.Close(context.Background()), syscall.EIO)
	_, log := begun(t, s, "s2")
	for range 50 {
		require.NoError(t, log.Append(entryOf("more")))
		require.NoError(t, log.Wait(context.Background()))
	}
	require.NoError(t, log.Close(context.Background()))
	require.NoError(t, s.Close())
	logs := logsOf(t, s)
	require.Len(t, logs, 1)
	require.Equal(t, 1, logs[0].number)
	text, err := os.ReadFile(logs[0].path)
	require.NoError(t, err)
	require.Contains(t, string(text), `"text":"one"`)
	require.NoError(t, storeOf(t, root).Recover(context.Background()))
	requireNoLogs(t, s)
}

// A journal that could not be synced is written again, so that the next sync of whoever resumes the
// session tells the truth.
func TestJournalThatCouldNotBeSyncedIsWrittenAgain(t *testing.T) {
	t.Parallel()
	on := newTape(t.TempDir())
	fault := &once{operation: "sync", session: "s1", err: syscall.EIO}
	s := tapedStore(on, powerRun{limit: 1 << 20, plain: 1 << 20})
	s.on = faulty{on, fault.fails}
	j, err := s.Create(t.Context(), headerOf("s1"))
	require.NoError(t, err)
	fault.armed.Store(true)
	require.NoError(t, j.Write(numbered(1, "one")))
	require.ErrorIs(t, j.Wait(context.Background()), syscall.EIO)
	require.ErrorIs(t, j.Close(context.Background()), syscall.EIO)
	j, rec, err := s.Open(t.Context(), "s1")
	require.NoError(t, err)
	require.Len(t, rec.Entries, 1)
	require.NoError(t, j.Close(context.Background()))
	left := replay(on.ops).powerOff(t, t.TempDir(), lostAll, nil)
	_, rec, err = tapedStore(left, powerRun{}).Open(t.Context(), "s1")
	require.NoError(t, err)
	require.Len(t, rec.Entries, 1)
}
