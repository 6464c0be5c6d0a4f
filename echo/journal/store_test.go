package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// storeOf returns a store below a folder, which begins its commit log at once.
func storeOf(t *testing.T, root string) *Store {
	t.Helper()
	s := NewStore(filepath.Join(root, "sessions"), filepath.Join(root, "commit"))
	s.plain = 0
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func headerOf(id string) Header {
	h := testHeader
	h.SessionID = id
	return h
}

// begun returns a session of a store with entries, which are durable.
func begun(t *testing.T, s *Store, id string, texts ...string) (*Journal, *echo.Log) {
	t.Helper()
	j, err := s.Create(t.Context(), headerOf(id))
	require.NoError(t, err)
	log := echo.NewLog(id, nil, j)
	for _, text := range texts {
		require.NoError(t, log.Append(entryOf(text)))
	}
	require.NoError(t, log.Wait(context.Background()))
	return j, log
}

// created makes sessions.
func created(t *testing.T, s *Store, ids ...string) (logs []*echo.Log) {
	t.Helper()
	for _, id := range ids {
		j, err := s.Create(t.Context(), headerOf(id))
		require.NoError(t, err)
		logs = append(logs, echo.NewLog(id, nil, j))
	}
	return logs
}

func logsOf(t *testing.T, s *Store) []foundLog {
	t.Helper()
	logs, err := findLogs(s.folder)
	require.NoError(t, err)
	return logs
}

// textOf returns what the commit log of a store has, without the zeros ahead.
func textOf(t *testing.T, s *Store) string {
	t.Helper()
	logs := logsOf(t, s)
	require.Len(t, logs, 1)
	text, err := os.ReadFile(logs[0].path)
	require.NoError(t, err)
	return strings.TrimRight(string(text), "\x00")
}

// A commit log has the lines of all journals as they are in them, and is gone when all is synced.
func TestCommitLogHasTheLines(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	one, log1 := begun(t, s, "s1", "one", "two")
	_, log2 := begun(t, s, "s2", "three")
	whole, err := os.ReadFile(one.Path())
	require.NoError(t, err)
	text := textOf(t, s)
	for line := range strings.Lines(string(whole)) {
		require.Equal(t, !strings.HasPrefix(line, headerStart), strings.Contains(text, line))
	}
	require.Equal(t, 3, strings.Count(text, "\n"))
	info, err := os.Lstat(logsOf(t, s)[0].path)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
	require.NoError(t, log1.Close(context.Background()))
	require.NoError(t, log2.Close(context.Background()))
	require.NoError(t, s.Close())
	names, err := os.ReadDir(s.folder)
	require.NoError(t, err)
	require.Len(t, names, 1, "the gate")
	_, err = s.Create(t.Context(), headerOf("s3"))
	require.ErrorIs(t, err, errStoreClosed)
}

// The only session of a process that does little has no commit log.
func TestShortRunsHaveNoCommitLog(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	s.plain = plainSyncs
	_, log := begun(t, s, "s1", "one")
	require.Empty(t, logsOf(t, s))
	for range plainSyncs {
		require.NoError(t, log.Append(entryOf("x")))
		require.NoError(t, log.Wait(context.Background()))
	}
	require.Len(t, logsOf(t, s), 1)
	require.NoError(t, log.Close(context.Background()))
}

// More lines than are worth writing twice are synced in their journal.
func TestManyLinesAreSyncedInTheirJournal(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	_, log := begun(t, s, "s1", "small")
	text := textOf(t, s)
	require.NoError(t, log.Append(entryOf(strings.Repeat("x", maxKept))))
	require.NoError(t, log.Wait(context.Background()))
	require.Equal(t, text, textOf(t, s))
	require.NoError(t, log.Append(entryOf("small again")))
	require.NoError(t, log.Wait(context.Background()))
	require.Contains(t, textOf(t, s), "small again")
	require.NoError(t, log.Close(context.Background()))
}

// The commit log of a process that lives is left alone, and what is not closed keeps its log.
func TestCommitLogsOfTheLivingStay(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := storeOf(t, root)
	j, log := begun(t, s, "s1", "one")
	other := storeOf(t, root)
	require.NoError(t, other.Recover(context.Background()))
	require.Len(t, logsOf(t, s), 1)
	require.ErrorContains(t, s.Close(), "1 journals are open")
	require.Len(t, logsOf(t, s), 1)
	require.NoError(t, log.Wait(context.Background()), "all of it is durable")
	require.NoError(t, log.Append(entryOf("late")))
	err := log.Wait(context.Background())
	require.ErrorIs(t, err, errStoreClosed)
	require.EqualError(t, err, "write journal "+j.Path()+": the store of sessions was closed before this session, and makes nothing durable any more: "+
		"close every session first, and resume this one")
	require.ErrorIs(t, log.Append(entryOf("later")), errStoreClosed)
	require.NoError(t, other.Recover(context.Background()))
	require.Len(t, logsOf(t, s), 1, "the session is in use")
	require.ErrorIs(t, log.Close(context.Background()), errStoreClosed)
	require.NoError(t, other.Recover(context.Background()))
	requireNoLogs(t, s)
}

// Journals of one process may come and go at once, while its logs are full all the time.
func TestManyJournalsAtOnce(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	s.limit = 1000
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			id := fmt.Sprintf("s%d", n)
			j, log := begun(t, s, id, "first")
			for range 20 {
				require.NoError(t, log.Append(entryOf(id)))
				require.NoError(t, log.Wait(context.Background()))
			}
			require.NoError(t, log.Close(context.Background()))
			rec, err := Read(j.Path())
			require.NoError(t, err)
			require.Len(t, rec.Entries, 21)
		})
	}
	wg.Wait()
	require.NoError(t, s.Close())
	requireNoLogs(t, s)
}

// When the disk of the commit log fails, every journal that relies on it says so, none hangs, and the
// log has nothing half.
func TestFailingCommitLog(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"write at", "sync"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			s := storeOf(t, t.TempDir())
			broken := false
			s.on = faulty{osFiles{}, func(op, path string) error {
				if op == operation && broken && inCommitFolder(path) {
					return syscall.ENOSPC
				}
				return nil
			}}
			logs := created(t, s, "s1", "s2")
			require.NoError(t, logs[1].Append(entryOf("kept")))
			require.NoError(t, logs[1].Wait(context.Background()))
			before := textOf(t, s)
			broken = true
			require.NoError(t, logs[0].Append(entryOf("lost")))
			err := logs[0].Wait(context.Background())
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.ErrorContains(t, err, filepath.Join("s1", File)+": ")
			require.ErrorContains(t, err, "commit log")
			if err = logs[1].Append(entryOf("lost")); err == nil {
				err = logs[1].Wait(context.Background())
			}
			require.ErrorIs(t, err, syscall.ENOSPC, "it relies on the log, too")
			require.Equal(t, before, textOf(t, s))
			_, later := begun(t, s, "s3", "after it")
			require.NoError(t, later.Close(context.Background()), "it does not rely on the log")
			for _, log := range logs {
				require.ErrorIs(t, log.Close(context.Background()), syscall.ENOSPC)
			}
			require.NoError(t, s.Close())
			requireNoLogs(t, s)
		})
	}
}

// Where no commit log can be made, journals are synced one by one: nothing relies on it yet.
func TestCommitLogThatCannotBegin(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"no room", "no folder"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := storeOf(t, t.TempDir())
			refused := 0
			s.on = faulty{osFiles{}, func(op, path string) error {
				if op == "create" && inCommitFolder(path) && what == "no room" {
					refused++
					return syscall.ENOSPC
				}
				return nil
			}}
			logs := created(t, s, "s1", "s2")
			if what == "no folder" {
				require.NoError(t, os.RemoveAll(s.folder))
			}
			for range 3 {
				for _, log := range logs {
					require.NoError(t, log.Append(entryOf("kept")))
					require.NoError(t, log.Wait(context.Background()))
				}
			}
			for _, log := range logs {
				require.NoError(t, log.Close(context.Background()))
			}
			require.NoError(t, s.Close())
			require.Equal(t, what == "no room", refused == 1)
			requireNoLogs(t, s)
		})
	}
}

// Where there is no room for the zeros ahead of a commit log, it does without.
func TestCommitLogWithoutRoomForZeros(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	writes := 0
	s.on = faulty{osFiles{}, func(operation, _ string) error {
		if operation != "write at" {
			return nil
		}
		if writes++; writes%2 == 0 {
			return syscall.ENOSPC
		}
		return nil
	}}
	j, log := begun(t, s, "s1", "one")
	require.NoError(t, log.Append(entryOf("two")))
	require.NoError(t, log.Wait(context.Background()))
	require.Equal(t, 4, writes)
	text, err := os.ReadFile(logsOf(t, s)[0].path)
	require.NoError(t, err)
	whole, err := os.ReadFile(j.Path())
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(whole), string(text)), "no zeros are left to take room")
	require.NoError(t, log.Close(context.Background()))
}

// Who waits until sessions are restored waits as long as its context lasts, and does not hold up who
// closes the store. Who has a store already begins a commit log meanwhile.
func TestWaitingForARecovery(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	before := storeOf(t, root)
	_, log := begun(t, before, "s0")
	s := storeOf(t, root)
	_, lines := cutSession(t, s, 2)
	deadLog(t, s, lines[2])
	gate, err := enter(context.Background(), s.folder)
	require.NoError(t, err)
	waiting, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			_, err := s.Create(waiting, headerOf(fmt.Sprintf("n%d", n)))
			require.ErrorIs(t, err, enough)
			require.EqualError(t, err, "wait until sessions are restored: enough")
		})
	}
	require.NoError(t, log.Append(entryOf("more")))
	require.NoError(t, log.Wait(context.Background()))
	require.NoError(t, log.Close(context.Background()))
	require.Len(t, logsOf(t, s), 2)
	cancel(enough)
	wg.Wait()
	wg.Go(func() {
		_, _, err := s.Open(t.Context(), "s1")
		require.ErrorIs(t, err, errStoreClosed)
	})
	require.NoError(t, s.Close())
	require.NoError(t, gate.Close())
	wg.Wait()
}

// A recovery that hangs is waited for for a minute.
func TestRecoveryThatHangs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := storeOf(t, root)
	deadLog(t, s, "")
	gate, err := enter(context.Background(), s.folder)
	require.NoError(t, err)
	defer gate.Close() //nolint:errcheck // of a test
	synctest.Test(t, func(t *testing.T) {
		err := NewStore(s.sessions, s.folder).Recover(context.Background())
		require.EqualError(t, err, "use commit folder "+s.folder+", which keeps sessions safe from a power failure: lock "+
			filepath.Join(s.folder, gateFile)+": another windlass has been restoring sessions for more than 1m0s")
		var folder *CommitFolderError
		require.ErrorAs(t, err, &folder)
		require.Equal(t, "wait until it is done; end it when it hangs: what it has not restored the next windlass does", folder.Try())
	})
}

// A folder that is not the user's own, or no folder, is refused with what to do.
func TestCommitFolderIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		make func(folder string) error
		want string
	}{
		"a file":    {func(p string) error { return os.WriteFile(p, nil, 0o600) }, "not a directory"},
		"a link":    {func(p string) error { return errors.Join(os.Mkdir(p+"2", 0o700), os.Symlink(p+"2", p)) }, "it is not a folder"},
		"of others": {func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o777)) }, "others may write to it"}, //nolint:gosec // what is tested
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storeOf(t, t.TempDir())
			require.NoError(t, tc.make(s.folder))
			_, err := s.Create(t.Context(), headerOf("s1"))
			var folder *CommitFolderError
			require.ErrorAs(t, err, &folder)
			require.ErrorContains(t, err, "use commit folder "+s.folder)
			require.ErrorContains(t, err, tc.want)
			require.Contains(t, folder.Try(), "mode 0700")
			_, err = os.Lstat(filepath.Join(s.sessions, "s1"))
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}
