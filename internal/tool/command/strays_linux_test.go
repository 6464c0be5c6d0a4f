package command_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/tool/command"
)

func TestRunFindsWhatLeftItsGroup(t *testing.T) {
	t.Parallel()
	// The command ends when the other session is there.
	const line = `setsid sh -c 'sleep 3804; :' & while ! ps -A -o args= | grep -q '^sleep 3804$'; do :; done; echo done`
	res, err := command.Run(context.Background(), spec(line))
	require.NoError(t, err)
	require.Equal(t, "done\n", res.Stdout.String())
	require.Positive(t, res.LeftBehind)
	requireGone(t, "sleep 3804")
}
