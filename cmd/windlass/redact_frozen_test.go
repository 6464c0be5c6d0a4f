package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/sessions"
)

// TestRedactFrozenJournals: whichever message of a session of the examples is redacted, with its parts
// or without, the session stands as before, holds as far as it can be checked, goes on as it would
// have, and can be redacted again.
func TestRedactFrozenJournals(t *testing.T) {
	t.Parallel()
	eachFrozenJournal(t, func(t *testing.T, path string, rec *journal.Recording) {
		home := t.TempDir()
		dir := config.SessionDir(home, rec.Header.SessionID)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		sound, err := os.ReadFile(path)
		require.NoError(t, err)
		var all []echo.Hash
		for _, e := range rec.Entries {
			if e.Message != nil && !slices.Contains(all, e.ContentHash) {
				all = append(all, e.ContentHash)
			}
		}
		for i, hash := range all {
			for _, parts := range []bool{false, true} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, journal.File), sound, 0o600))
				next := all[(i+len(all)/2)%len(all)]
				for _, h := range []echo.Hash{hash, next} {
					redactAndCheck(t, home, rec, h, archive.RedactOptions{Parts: parts})
				}
			}
		}
	})
}

func redactAndCheck(t *testing.T, home string, was *journal.Recording, hash echo.Hash, o archive.RedactOptions) {
	t.Helper()
	id := was.Header.SessionID
	what := fmt.Sprintf("%s %s parts: %t", id, hash, o.Parts)
	done, err := archive.Redact(t.Context(), &archive.Archive{Home: home}, id, string(hash), o)
	require.NoError(t, err, what)
	for _, p := range done.Left {
		require.NotEqual(t, hash, p.Hash, what)
		require.False(t, o.Parts && p.Hash != "", "%s: %v", what, p)
	}
	s, err := sessions.Look(config.SessionDir(home, id))
	require.NoError(t, err, what)
	end := record.EndOf(was.Entries)
	require.Equal(t, []any{end.Status, end.Reason, end.Whole}, []any{s.End.Status, s.End.Reason, s.End.Whole}, what)
	rec, err := journal.Read(archive.JournalPath(home, id))
	require.NoError(t, err, what)
	require.Len(t, rec.Entries, len(was.Entries))
	v, err := appAt(home).Verify(t.Context(), rec, app.Extensions{})
	require.NoError(t, err, what)
	require.True(t, v.Holds, "%s: %s", what, v.Difference)
	require.Equal(t, engine.CheckResumable(was.Entries), engine.CheckResumable(rec.Entries), what)
}
