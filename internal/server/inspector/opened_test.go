package inspector_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// impatient shows at once that a session is being read.
func impatient(o *inspector.Options) { o.Patience = time.Nanosecond }

// TestLongSessionsAreShownWhenTheyAreRead: a page says that a session is being read and is asked for again; everything else waits
// for the same reading.
func TestLongSessionsAreShownWhenTheyAreRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inspectortest.Long{Calls: 100, Results: 9, Characters: 1500, Every: 50}.Write(t, home, "long")
	b := inspectortest.New(t, home, impatient)
	w := b.Ask(http.MethodGet, "/sessions/long", nil)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "1", w.Header().Get("Refresh"))
	require.Contains(t, w.Body.String(), "The record of this session is being read: ")
	require.NotContains(t, w.Body.String(), "Timeline")

	require.Equal(t, http.StatusOK, b.Fetch("/sessions/long/matrix/whole").Code)
	w = b.Ask(http.MethodGet, "/sessions/long", nil)
	require.Equal(t, http.StatusOK, w.Code)
	require.Empty(t, w.Header().Get("Refresh"))
	require.Contains(t, w.Body.String(), "Timeline")
}

// TestLongSessionsThatAreDamagedSaySo: the browser is not kept waiting for ever.
func TestLongSessionsThatAreDamagedSaySo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inspectortest.Long{Calls: 100, Results: 9, Characters: 1500, Every: 50}.Write(t, home, "long")
	path := filepath.Join(config.SessionDir(home, "long"), journal.File)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[len(text)/2]++
	require.NoError(t, os.WriteFile(path, text, 0o600))

	b := inspectortest.New(t, home, impatient)
	require.Contains(t, b.Ask(http.MethodGet, "/sessions/long", nil).Body.String(), "is being read")
	told := b.Fetch("/sessions/long/matrix/whole")
	require.NotEqual(t, http.StatusOK, told.Code)
	w := b.Ask(http.MethodGet, "/sessions/long", nil)
	require.Equal(t, told.Code, w.Code, w.Body)
	require.Contains(t, w.Body.String(), "long")
	require.NotContains(t, w.Body.String(), "is being read")
}
