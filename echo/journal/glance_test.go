package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A glance at a journal says what a look at it does.
func TestGlance(t *testing.T) {
	t.Parallel()
	for _, started := range []time.Time{
		time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC),
		time.Date(2026, 3, 1, 12, 0, 0, 5e8, time.FixedZone("", -3600)),
	} {
		h := testHeader
		h.StartedAt, h.ChildOf = started, strings.Repeat("p", started.Nanosecond()%64)
		dir := filepath.Join(t.TempDir(), h.SessionID)
		j, err := Create(dir, h)
		require.NoError(t, err)
		require.NoError(t, j.Close(t.Context()))
		ends, err := Look(j.Path(), nil)
		require.NoError(t, err)
		got, ok, err := Glance(j.Path())
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, Glimpse{ends.Header.StartedAt, h.ChildOf}, got)
	}
	_, _, err := Glance(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, ok, err := Glance(t.TempDir())
	require.NoError(t, err)
	require.False(t, ok, "a folder")
}

// What does not begin as journals are written says nothing, and is looked at.
func TestGlanceAtSomethingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), File)
	for _, text := range []string{
		"", "{", `{"windlass_journal":3`, `{"windlass_journal":2,"rules":1,"session_id":"s1","started_at":"2026-03-01T12:00:00Z","x":0}`,
		`{"windlass_journal":3,"rules":1,"session_id":"s1","x":0,"started_at":"2026-03-01T12:00:00Z","y":0}`,
		`{"windlass_journal":3,"rules":1,"session_id":"s1","started_at":"soon","x":0}`,
		`{"windlass_journal":3,"rules":1,"session_id":"s1","started_at":"0001-01-01T00:00:00Z","x":0}`,
		`{"windlass_journal":3,"rules":1,"session_id":"s1","started_at":"2026-03-01T12:00:00Z"`,
		`{"windlass_journal":3,"rules":1,"session_id":"s1`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, ok, err := Glance(path)
		require.NoError(t, err)
		require.False(t, ok, text)
	}
}
