//go:build unix

package embedded

import (
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/source"
)

// TestEngineFilesThatAreNone: named pipes in the places of the engine's files are not waited for.
func TestEngineFilesThatAreNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		return path
	}
	_ = pipe(endpointFile)
	_, err := readEndpoint(dir)
	require.EqualError(t, err, "read the engine's endpoint: "+filepath.Join(dir, endpointFile)+" is a named pipe, not a file: it may never end")

	log := pipe("log")
	_, err = openLog(log)
	require.EqualError(t, err, "open the engine's log: "+log+" is a named pipe, not a file: it may never end")
	require.ErrorIs(t, err, source.ErrNoFile)
	require.Equal(t, " (its log "+log+" is empty)", logTail(log))

	held, err := lockHeld(pipe(runLockFile))
	require.NoError(t, err)
	require.False(t, held)
	for i := range readers {
		_ = pipe("reader" + strconv.Itoa(i+1) + ".lock")
	}
	r, err := ClaimReader(dir, Endpoint{})
	require.NoError(t, err)
	require.NoError(t, r.Release())
}
