package mailbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/mailbox"
)

func TestCheckLetter(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "7", "-", "build-1-4-0", "0190a7b2-7c1e-7f00-8000-000000000000", strings.Repeat("x", 64)} {
		require.NoError(t, mailbox.CheckLetter(id), id)
	}
	for _, id := range []string{"", "A", "a.b", "a_b", "../x", `a\b`, "a b", "a\n", "ä", "a\x00", strings.Repeat("x", 65)} {
		require.EqualError(t, mailbox.CheckLetter(id), fmt.Sprintf("%q is no id of a letter: it has 1 to 64 of a to z, 0 to 9 and -", id))
	}
}

// TestSendOnce: the letter of a client is left once, whoever sends it again and when, also after it was taken; another one with its
// id is refused.
func TestSendOnce(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	a := signalOf("build-7", sent)
	a.Value = map[string]any{"b": json.Number("1.50"), "a": []any{nil, "<x>"}}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			again := a
			again.At, again.By = sent.Add(time.Duration(i)*time.Second), fmt.Sprint("client ", i)
			if err := box.SendOnce("go", again); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := box.Take("go", "one", time.Time{})
	require.NoError(t, err)
	require.Equal(t, a.Value, got.Value)
	require.NoError(t, box.SendOnce("go", a))
	none, err := box.Take("go", "two", time.Time{})
	require.NoError(t, err)
	require.Nil(t, none, "it was two signals")
	files, err := os.ReadDir(box.Dir)
	require.NoError(t, err)
	require.Len(t, files, 2)

	want := fmt.Sprintf(`the letter build-7 was left already, and says something else: the signal "go", sent by %s (command) at %s`, got.By, got.At.Local().Format("2006-01-02 15:04:05"))
	require.EqualError(t, box.SendOnce("stop", a), want)
	a.Value = map[string]any{"b": json.Number("1.51"), "a": []any{nil, "<x>"}}
	err = box.SendOnce("go", a)
	var other *mailbox.OtherLetterError
	require.ErrorAs(t, err, &other)
	require.EqualError(t, err, want)
	require.EqualError(t, &mailbox.OtherLetterError{ID: "x"}, "the letter x was another one")

	require.NoError(t, os.WriteFile(filepath.Join(box.Dir, "signal-torn.json"), []byte("{"), 0o600))
	require.ErrorContains(t, box.SendOnce("go", signalOf("torn", sent)), "signal-torn.json: it is no whole letter: ")
}
