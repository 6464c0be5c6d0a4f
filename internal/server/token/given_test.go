package token

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	secret := strings.Repeat("x", Min)
	own := write("own", secret+"\n", 0o600)
	text, shared, err := ReadFile(own)
	require.NoError(t, err)
	require.Equal(t, secret, text)
	require.Zero(t, shared)

	_, _, err = ReadFile(write("short", "x", 0o600))
	require.ErrorIs(t, err, ErrForm)
	long := write("long", strings.Repeat("x", maxFile+1), 0o600)
	_, _, err = ReadFile(long)
	require.EqualError(t, err, long+" has more than 4096 bytes")
	_, _, err = ReadFile(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
