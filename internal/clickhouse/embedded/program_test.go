package embedded

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeProgram writes a script that can be run at once. No other test may fork while the file is
// open for writing: its child would hold the file open for a moment longer, and running it would
// fail with "text file busy".
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755)) //nolint:gosec // it must be executable
}
