package waits_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/waits"
)

// What a session has recorded of letters is in no mailbox any more; what it has not taken stays.
func TestForget(t *testing.T) {
	t.Parallel()
	home, key := t.TempDir(), echo.MustKey("p/attempt1/turn1/tool1/wait")
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	box := waits.Box(home, "s1")
	require.NoError(t, box.Answer(echo.WaitID("s1", key), echo.Answer{Value: "secret", At: at}))
	require.NoError(t, box.Answer("other", echo.Answer{Value: "later", At: at}))
	require.NoError(t, waits.HomeBox(home).Send("go", echo.Answer{Letter: "l1", Value: "secret", At: at}))
	taken, err := waits.HomeBox(home).Take("go", "s1 w", time.Time{})
	require.NoError(t, err)
	require.NotNil(t, taken)
	entries := []*echo.Entry{echo.NewEntry(key, echo.Answer{Value: "secret", At: at}), echo.NewEntry(echo.MustKey("w/wait"), *taken)}
	for range 2 { // the second time there is nothing left to do
		require.NoError(t, waits.Forget(home, "s1", entries))
	}
	files := func(dir string) (names []string) {
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range list {
			names = append(names, e.Name())
		}
		return names
	}
	require.Equal(t, []string{"answer-other.json"}, files(box.Dir))
	require.Empty(t, files(waits.HomeBox(home).Dir))
}

// An answer that no run has taken is removed with a text that it has, and only with that.
func TestRedactedAnswers(t *testing.T) {
	t.Parallel()
	form := question(echo.Form{Kind: echo.FormText})
	d := deskOf(t, form, approval(), form, form)
	given := []any{"the word is open", map[string]any{"decision": "deny", "reason": "open"}, "fine"}
	for i, value := range given {
		require.NoError(t, d.Answer(find(t, d, i), waits.Given{Value: value}))
	}
	rec, err := journal.Read(filepath.Join(config.SessionDir(d.Home, session), journal.File))
	require.NoError(t, err)
	has := func(text string) bool { return strings.Contains(text, "open") }
	ids := waits.Redacted(d.Home, session, rec.Entries, has)
	require.Equal(t, []string{idOf(0), idOf(1)}, ids)
	require.NoError(t, waits.ForgetAnswers(d.Home, session, ids))
	for i := range 4 {
		require.Equal(t, i == 2, find(t, d, i).Answer != nil)
	}
	require.Empty(t, waits.Redacted(d.Home, session, rec.Entries, has))
	require.NoError(t, d.Answer(find(t, d, 0), waits.Given{Value: "another"}), "it can be answered again")
}
