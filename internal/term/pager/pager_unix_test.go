//go:build unix

package pager

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShellCommand(t *testing.T) {
	t.Parallel()
	require.Nil(t, shellCommand("no-such-pager-anywhere -R"))
	require.Equal(t, []string{"/bin/sh", "-c", "LESS=R less"}, shellCommand("LESS=R less").Args)
	require.Equal(t, "-c", shellCommand("sh -c x").Args[1])
}
