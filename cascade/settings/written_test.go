package settings_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/settings"
)

// What is written out of settings shares no list with them.
func TestWrittenSharesNothing(t *testing.T) {
	t.Parallel()
	in := settings.DefaultIntra()
	in.Enabled, in.ExcludeTools = true, []string{"sql"}
	clearing := settings.DefaultClear()
	clearing.ExcludeTools = []string{"read_file"}
	in.ClearToolUses = &clearing
	in.Guard.RemovalLevels = []int{10}
	out := in.Written()
	out.ExcludeTools[0], out.ClearToolUses.ExcludeTools[0], out.Guard.RemovalLevels[0] = "x", "x", 1
	require.Equal(t, []string{"sql"}, in.ExcludeTools)
	require.Equal(t, []string{"read_file"}, in.ClearToolUses.ExcludeTools)
	require.Equal(t, []int{10}, in.Guard.RemovalLevels)
}
