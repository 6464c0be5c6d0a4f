//go:build unix

package tool_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/tool"
)

// What would be waited for is not opened as an image.
func TestImagesOfPipes(t *testing.T) {
	t.Parallel()
	b := setup(t, tool.Options{})
	require.NoError(t, syscall.Mkfifo(filepath.Join(b.dir, "pipe.png"), 0o600))
	res := b.readImages(t, "pipe.png")
	require.True(t, res.Failed)
	require.Equal(t, "read pipe.png: it is neither a file nor a folder", res.Parts[0].Text)
}
