package oneline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/oneline"
)

func TestOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a b c", oneline.Of(" a\n\tb\u00a0\r\nc "))
	require.Empty(t, oneline.Of(" \n"))
}

func TestCut(t *testing.T) {
	t.Parallel()
	require.Equal(t, "äöü", oneline.Cut("äöü", 3))
	require.Equal(t, "äö...", oneline.Cut("äöü", 2))
	require.Equal(t, "a b...", oneline.Cut("a\n b c", 3))
	require.Equal(t, "...", oneline.Cut("a", 0))
	require.Empty(t, oneline.Cut("", 0))
}
