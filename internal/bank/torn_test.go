package bank

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/ledger"
	"github.com/windlass-run/windlass/internal/ledger/ledgertest"
)

// requireLines demands that a bank has the entries of so many whole lines, and that the next write keeps them.
func requireLines(t *testing.T, b *testBundle, lines []string) {
	t.Helper()
	h := b.history(t)
	require.Len(t, h.Entries, max(len(lines)-1, 0))
	s := begin(t, on(b, ledgertest.New(t, "", 0)), "next") // which syncs nothing
	s.does(t, create("/memories/next.md", "next"))
	text := b.text(t)
	if len(lines) > 0 {
		require.True(t, strings.HasPrefix(text, strings.Join(lines, "")), "what was whole is kept")
	}
	require.NotContains(t, text, "\x00")
	h = b.history(t)
	require.Len(t, h.Entries, max(len(lines)-1, 0)+2)
	v, is := h.Current("/memories/next.md")
	require.True(t, is)
	require.Equal(t, "next", v.Text)
}

// A bank that is cut off anywhere has all whole lines before that, and can be written again.
func TestTornAtEveryOffset(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.story(t)
	whole := []byte(b.text(t))
	for n := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(b.path(t), whole[:n], 0o600))
		lines := strings.SplitAfter(string(whole[:n]), "\n")
		requireLines(t, b, lines[:len(lines)-1])
	}
}

// A power failure leaves zeros of sectors that were not synced: in lines without a newline, in whole ones, and in lines of
// views before others.
func TestUnwrittenSectors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.does(t, create(notePath, strings.Repeat("long ", 400)))
	durable := []byte(b.text(t))
	known := strings.SplitAfter(string(durable), "\n")
	known = known[:len(known)-1]
	for range 8 {
		s.does(t, view(notePath))
	}
	views := b.text(t)
	s.does(t, create("/memories/b.md", strings.Repeat("long ", 400)))
	for name, whole := range map[string]string{"views": views, "views and a version": b.text(t)} {
		found := 0
		for at := len(durable)/ledger.Sector*ledger.Sector + ledger.Sector; at+ledger.Sector < len(whole); at += ledger.Sector {
			text := []byte(whole)
			clear(text[at : at+ledger.Sector])
			require.NoError(t, os.WriteFile(b.path(t), text, 0o600))
			first := bytes.IndexByte(text, 0)
			lines := strings.SplitAfter(string(text[:first]), "\n")
			if name == "views" || first > len(views) || strings.Count(string(text[first:]), "\n") <= 1 {
				requireLines(t, b, lines[:len(lines)-1])
				found++
				continue
			}
			_, err := b.store().Read(noteBank)
			require.ErrorAs(t, err, new(*DamageError), "the version was written when all before it was synced")
		}
		require.Positive(t, found, name)
	}
	text := append(append([]byte{}, durable...), make([]byte, 3000)...)
	require.NoError(t, os.WriteFile(b.path(t), text, 0o600))
	requireLines(t, b, known)
	text = append(append([]byte{}, durable...), "\x00\x00\n"...)
	require.NoError(t, os.WriteFile(b.path(t), text, 0o600))
	_, err := b.store().Read(noteBank)
	require.ErrorAs(t, err, new(*DamageError), "a sector is written as a whole")
}

// A head that the disk did not get is that of a bank without entries, which the list tells.
func TestUnwrittenHead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(b.path(t)), 0o700))
	for _, text := range []string{"", `{"windlass_bank":1,"na`, strings.Repeat("\x00", 200), strings.Repeat("\x00", 512) + "\n"} {
		require.NoError(t, os.WriteFile(b.path(t), []byte(text), 0o600))
		list, err := b.store().List(true)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.ErrorContains(t, list[0].Err, " has no whole entry: ")
		requireLines(t, b, nil)
	}
}
