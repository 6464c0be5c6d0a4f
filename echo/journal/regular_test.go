//go:build unix

package journal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// What is in the place of a session's files is neither waited for nor read without an end.
func TestSessionFilesThatAreNone(t *testing.T) {
	t.Parallel()
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	master, terminal, err := pty.Open() // a device of the test's own
	require.NoError(t, err)
	defer func() { require.NoError(t, errors.Join(terminal.Close(), master.Close())) }()
	device := func(path string) error { return os.Symlink(terminal.Name(), path) }
	sparse := func(path string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 1<<40)
	}
	for name, make := range map[string]func(string) error{"pipe": pipe, "device": device, "folder": func(p string) error { return os.Mkdir(p, 0o700) }} {
		dir := sessionFolder(t)
		path := filepath.Join(dir, File)
		require.NoError(t, make(path))
		want := errNoFile
		if name == "device" {
			want = errLink
		}
		_, err := Read(path)
		require.EqualError(t, err, "open journal: open "+path+": "+want.Error(), name)
		for name, read := range readers {
			require.ErrorIs(t, read(dir), want, name)
		}
		_, err = ReadCopy(path)
		require.EqualError(t, err, "open journal: open "+path+": it is not a file", name)

		dir = sessionFolder(t)
		require.NoError(t, make(filepath.Join(dir, lockFile)))
		_, err = Create(dir, testHeader)
		require.EqualError(t, err, "lock session: open "+filepath.Join(dir, lockFile)+": it is not a file", name)
		_, err = Busy(dir) // whatever it says, it does not wait
		require.True(t, err == nil || name == "folder", err)
	}
	dir := sessionFolder(t)
	path := filepath.Join(dir, File)
	require.NoError(t, sparse(path))
	_, err = Read(path)
	require.EqualError(t, err, "journal "+path+" is damaged at line 1: the line has more than 256 MiB")
	_, err = Create(dir, testHeader)
	require.ErrorIs(t, err, ErrExists)

	elsewhere, link := t.TempDir(), filepath.Join(t.TempDir(), "s1")
	require.NoError(t, os.Symlink(elsewhere, link))
	_, err = Create(link, testHeader)
	require.EqualError(t, err, "make session folder "+link+": the session exists already, and is a link")
	entries, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// A session is a folder with a file: links in their places are refused by everything, wherever they
// lead.
func TestLinksAreNoSessions(t *testing.T) {
	t.Parallel()
	j, dir := create(t)
	require.NoError(t, j.Close(t.Context()))
	linked := filepath.Join(t.TempDir(), "s1")
	require.NoError(t, os.Symlink(dir, linked))
	file, loop := sessionFolder(t), sessionFolder(t)
	require.NoError(t, os.Symlink(j.Path(), filepath.Join(file, File)))
	require.NoError(t, os.Symlink(File, filepath.Join(loop, File)))
	for at, link := range map[string]string{linked: linked, file: filepath.Join(file, File), loop: filepath.Join(loop, File)} {
		for name, read := range readers {
			err := read(at)
			if name == "Create" && at == linked {
				require.ErrorIs(t, err, ErrExists)
				continue
			}
			require.EqualError(t, err, "open journal: open "+link+": "+errLink.Error(), name)
		}
	}
	rec, err := ReadCopy(filepath.Join(file, File))
	require.NoError(t, err)
	require.Equal(t, "s1", rec.Header.SessionID)
}
