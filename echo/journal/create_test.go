package journal

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// A process may die before the first line is whole. Then there is no session, and its id can be
// used.
func TestCreateWhereNoneWasBegun(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{"empty": "", "half a header": `{"windlass_journal":3,"sess`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := sessionFolder(t)
			require.NoError(t, os.WriteFile(filepath.Join(dir, File), []byte(rest), 0o600))
			_, _, err := Open(dir)
			require.ErrorContains(t, err, "is damaged at line 1: no header: its process died before the session had begun")
			j, err := Create(dir, testHeader)
			require.NoError(t, err)
			log := echo.NewLog("s1", nil, j)
			require.NoError(t, log.Append(entryOf("first")))
			require.NoError(t, log.Close(context.Background()))
			rec, err := Read(j.Path())
			require.NoError(t, err)
			require.Len(t, rec.Entries, 1)
		})
	}
}

func TestJournalBelongsToOneProcess(t *testing.T) {
	t.Parallel()
	j, dir := create(t)
	_, err := Create(dir, testHeader)
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorContains(t, err, "lock session s1")
	require.NoError(t, j.Close(context.Background()))
	require.NoError(t, j.Close(context.Background()), "closing twice does nothing")
	_, err = Create(dir, testHeader)
	require.ErrorIs(t, err, ErrExists)
	require.ErrorIs(t, j.Write(entryOf("late")), echo.ErrLogClosed)
}

func TestCreateNeedsRules(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s1")
	_, err := Create(dir, Header{SessionID: "s1", Cascade: []byte(`{}`), Input: []byte(`{}`)})
	require.EqualError(t, err, `create journal: the header has no "rules" from 1 on`)
	require.NoDirExists(t, dir)
}

// A lock whose file was removed is nobody's: the next one who wants the session makes another.
func TestLockOfARemovedSession(t *testing.T) {
	t.Parallel()
	dir := sessionFolder(t)
	lock, err := acquire(dir)
	require.NoError(t, err)
	require.True(t, isAt(lock, filepath.Join(dir, lockFile)))
	require.NoError(t, Remove(dir))
	require.False(t, isAt(lock, filepath.Join(dir, lockFile)))
	other, err := acquire(dir)
	require.NoError(t, err)
	require.False(t, isAt(lock, filepath.Join(dir, lockFile)))
	require.NoError(t, lock.Close())
	_, err = acquire(dir)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, other.Close())
}

func TestRemove(t *testing.T) {
	t.Parallel()
	j, dir := create(t)
	require.NoError(t, j.Close(context.Background()))
	require.NoError(t, Remove(dir))
	require.NoError(t, Remove(dir), "removing what is not there does nothing")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// A disk without room for the header leaves nothing behind.
func TestCreateWithoutRoom(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"create", "write", "sync", "sync folder"} {
		dir := filepath.Join(t.TempDir(), "s1")
		_, err := maker{on: faulty{osFiles{}, func(op, _ string) error {
			if op == operation {
				return syscall.ENOSPC
			}
			return nil
		}}}.create(dir, testHeader)
		require.ErrorIs(t, err, syscall.ENOSPC, operation)
		_, err = os.Lstat(dir)
		require.ErrorIs(t, err, os.ErrNotExist, operation)
	}
}
