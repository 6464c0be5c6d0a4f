package mailbox_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/mailbox"
)

// A mark is there from when it was left on, and no name of one leads out of the mailbox.
func TestMark(t *testing.T) {
	t.Parallel()
	box := mailbox.Box{Dir: filepath.Join(t.TempDir(), "mailbox")}
	require.False(t, box.HasMark("served"))
	for range 2 {
		require.NoError(t, box.Mark("served"))
		require.True(t, box.HasMark("served"))
	}
	require.False(t, box.HasMark("notified"))
	require.EqualError(t, box.Mark("../x"), `"mark-../x.json" is no name of a letter`)
	require.False(t, box.HasMark("../x"))
}
