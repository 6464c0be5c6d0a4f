package windlass_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/groups"
)

// What people have taken out of the context is in no handoff and no selection of the library, also where no run has taken it yet.
func TestRecordKnowsPendingChanges(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	w := open(t, windlass.Options{Home: home, NoClickHouse: true})
	run, err := w.Start(t.Context(), incident(t), checkout, tools(), provider(), windlass.WithSessionID("one"))
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
	record, err := w.Record(t.Context(), "one")
	require.NoError(t, err)
	before, err := record.Handoff()
	require.NoError(t, err)
	all := windlass.Selection{Task: "Is checkout up?", Strategy: "prefilter", Budget: 4000}
	offered, err := record.Select(t.Context(), all)
	require.NoError(t, err)

	change := func(action echo.ViewAction) {
		_, err := groups.Change(t.Context(), home, time.Now(), &groups.Wish{Session: "one", Action: action, Groups: []int{1}, By: "ada", Via: echo.ViaCommand})
		require.NoError(t, err)
	}
	change(echo.ViewDrop)
	h, err := record.Handoff()
	require.NoError(t, err)
	require.Equal(t, "its answer was taken out of the context", h.Done[0].Text)
	again, err := w.Handoff(t.Context(), "one")
	require.NoError(t, err)
	require.Equal(t, h.Done, again.Done)
	left, err := record.Select(t.Context(), all)
	require.NoError(t, err)
	require.Less(t, left.Candidates, offered.Candidates)

	change(echo.ViewRestore)
	h, err = record.Handoff()
	require.NoError(t, err)
	require.Equal(t, before.Done, h.Done)

	damaged := filepath.Join(config.SessionDir(home, "one"), "mailbox", "change-000001.json")
	require.NoError(t, os.WriteFile(damaged, []byte(`{"number":`), 0o600))
	_, err = record.Handoff()
	requireError(t, err, windlass.Damaged, "read "+damaged+": it is no whole letter: unexpected EOF", "move the file away: what it says is lost")
}
