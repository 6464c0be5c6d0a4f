//go:build unix

package source

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOnlyFilesAreRead: each of these would be waited for, or never end.
func TestOnlyFilesAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, link, socket := filepath.Join(dir, "pipe.json"), filepath.Join(dir, "link.json"), filepath.Join(dir, "s")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(pipe, link))
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	for path, want := range map[string]string{
		pipe: " is a named pipe, not a file: it may never end", link: " is a named pipe, not a file: it may never end",
		"/dev/zero": " is a device, not a file: it may never end", "/dev/null": " is a device, not a file: it may never end",
		socket: " is a socket, not a file", dir: " is a folder, not a file",
	} {
		_, err := ReadFile(path, 10)
		require.ErrorIs(t, err, ErrNoFile)
		require.EqualError(t, err, path+want)
	}
	_, err = ReadFile(filepath.Join(dir, "none"), 10)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFilesAreReadWithinABound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o600))
	data, err := ReadFile(path, 10)
	require.NoError(t, err)
	require.Equal(t, "0123456789", string(data))
	_, err = ReadFile(path, 9)
	require.ErrorIs(t, err, ErrTooLarge)
	require.EqualError(t, err, path+" is too large: it has more than 9 bytes")
}

// TestWhatAProcessWasGivenIsRead: the <(...) of a shell is a pipe, and people use it.
func TestWhatAProcessWasGivenIsRead(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	go func() {
		_, _ = w.WriteString("given")
		_ = w.Close()
	}()
	data, err := ReadFile(fmt.Sprintf("/dev/fd/%d", r.Fd()), 10)
	require.NoError(t, err)
	require.Equal(t, "given", string(data))
}
