//go:build unix

package delivery_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/delivery"
)

// TestMarksThatAreNoFile: what is in the place of the file is neither waited for nor read without
// an end. It says that nothing was delivered, and the next mark replaces it.
func TestMarksThatAreNoFile(t *testing.T) {
	t.Parallel()
	master, terminal, err := pty.Open() // a device of the test's own
	require.NoError(t, err)
	defer func() { require.NoError(t, errors.Join(terminal.Close(), master.Close())) }()
	for name, put := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink(terminal.Name(), path) },
		"huge": func(path string) error {
			if err := os.WriteFile(path, []byte(`{"keep_here":true}`), 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		},
	} {
		dir := t.TempDir()
		require.NoError(t, put(filepath.Join(dir, delivery.MarksFile)), name)
		require.Equal(t, delivery.Marks{}, delivery.ReadMarks(dir), name)
		mark := delivery.Mark{To: "here", Database: "d", Seq: 3}
		require.NoError(t, delivery.SetMark(dir, mark), name)
		require.Equal(t, mark, delivery.ReadMarks(dir).Of("here"), name)
	}
}
