package journal

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOwnAndRemove(t *testing.T) {
	t.Parallel()
	j, dir := create(t)
	_, err := Own(dir)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, j.Close(context.Background()))

	o, err := Own(dir)
	require.NoError(t, err)
	_, _, err = Open(dir)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, o.Close())
	_, err = Read(filepath.Join(dir, File))
	require.NoError(t, err, "given back as it was")

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "work", "deep"), 0o700))
	o, err = Own(dir)
	require.NoError(t, err)
	require.NoError(t, o.Remove())
	require.NoDirExists(t, dir)
	_, err = Own(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}
