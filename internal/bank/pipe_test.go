//go:build unix

package bank

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/ledger"
)

// Opening a pipe would never end.
func TestPipes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.path(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := b.store().Read(noteBank)
	require.ErrorIs(t, err, ledger.ErrNoFile)
	_, err = b.store().Start(t.Context(), noteBank, "s")
	require.ErrorIs(t, err, ledger.ErrNoFile)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.RemoveAll(path+ledger.LockSuffix))
	require.NoError(t, syscall.Mkfifo(path+ledger.LockSuffix, 0o600))
	_, err = b.store().Start(t.Context(), noteBank, "s")
	require.ErrorIs(t, err, ledger.ErrNoFile)
}

// TestListOfNoFiles: a link, a folder and a pipe in the place of a bank are listed with the reason, as runs cannot use the
// bank.
func TestListOfNoFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begin(t, b.store(), "s")
	dir := filepath.Dir(b.path(t))
	at := func(name string) string { return filepath.Join(dir, name+suffix) }
	require.NoError(t, os.Symlink(b.path(t), at("a-link")))
	require.NoError(t, os.Symlink("nowhere", at("b-dangling")))
	require.NoError(t, os.Mkdir(at("c-folder"), 0o700))
	require.NoError(t, syscall.Mkfifo(at("d-pipe"), 0o600))
	for _, every := range []bool{true, false} {
		list, err := b.store().List(every)
		require.NoError(t, err)
		errs := map[string]error{}
		for i := range list {
			errs[list[i].Ref.Name] = list[i].Err
		}
		require.Len(t, errs, 5)
		require.NoError(t, errs[noteBank])
		for _, name := range []string{"a-link", "b-dangling", "c-folder", "d-pipe"} {
			require.EqualError(t, errs[name], "open bank "+at(name)+": open "+at(name)+": it is not a file of its own")
		}
	}
}
