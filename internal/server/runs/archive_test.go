package runs

import (
	"testing"

	"github.com/stretchr/testify/require"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/server/grants"
)

// TestArchiveNamesItsDatabase: what the screens say of deliveries is about the ClickHouse that runs deliver to.
func TestArchiveNamesItsDatabase(t *testing.T) {
	t.Parallel()
	a, err := core.Open(core.Options{Home: t.TempDir(), Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	g, err := grants.Open(grants.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	want, err := a.DatabaseAddress()
	require.NoError(t, err)
	got, err := New(a, g, Options{Most: 1}).Archive().Address()
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NotEmpty(t, got)
	require.Nil(t, New(a, g, Options{Most: 1, NoClickHouse: true}).Archive().Address)
}
