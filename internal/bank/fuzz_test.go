package bank

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal/chain"
	"github.com/windlass-run/windlass/internal/failure"
)

// Whatever a file of a bank has: it is a history, or an error of it, and a history can be written on.
func FuzzReadBank(f *testing.F) {
	b := setup(f)
	b.story(f)
	whole := []byte(b.text(f))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("\n"))
	f.Add(bytes.Repeat([]byte{0}, 600))
	at := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	f.Add(whole[at:])
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.MkdirAll(filepath.Dir(b.path(t)), 0o700))
		require.NoError(t, os.WriteFile(b.path(t), text, 0o600))
		list, err := b.store().List(true)
		require.NoError(t, err)
		require.LessOrEqual(t, len(list), 1)
		store := b.store()
		h, err := store.Read(noteBank)
		if err != nil {
			require.True(t, failure.Is(err, failure.Damaged) || failure.Is(err, failure.OtherVersion), "%v", err)
			return
		}
		_, _ = h.Files(h.Now()), h.Unread(1)
		_, err = store.Start(t.Context(), noteBank, "fuzzed")
		require.NoError(t, err)
		anew := b.history(t)
		require.GreaterOrEqual(t, anew.Last(), h.Last())
		require.Equal(t, h.Files(h.Now()), anew.Files(anew.Now()))
	})
}

// Whatever an entry says below a right checksum: it is an entry, or an error.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"seq":1,"at":"2026-03-04T05:06:08Z","by":{"session":"s"},"command":"open"`))
	f.Add([]byte(`{"seq":1,"versions":[{"id":"0123456789abcdef","path":"/memories/a","gone":true}]`))
	f.Fuzz(func(t *testing.T, open []byte) {
		var sum chain.Sum
		line := chain.End(bytes.Clone(open), sum.Next(open))
		if _, _, err := readEntry("x", 2, sum, line); err != nil {
			require.ErrorAs(t, err, new(*DamageError))
		}
		if _, err := readHead("x", Ref{}, line); err != nil {
			require.Error(t, err)
		}
	})
}

// Whatever is imported: it is refused as a whole, or the bank has it and can be read.
func FuzzImport(f *testing.F) {
	b := setup(f)
	s := begin(f, b.store(), "s")
	s.does(f, create(notePath, "a"))
	s.does(f, remove(notePath))
	export := b.export(f)
	f.Add([]byte(export))
	f.Add([]byte(export[:len(export)/2]))
	f.Add([]byte(`{"windlass_bank_export":1}` + "\n{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, err := readExport("x", bytes.NewReader(text)); err != nil { // mostly, and without a disk
			require.NotEmpty(t, err.Error())
			return
		}
		other := setup(t)
		out, err := other.store().Import(t.Context(), noteBank, "ann", "x", bytes.NewReader(text))
		if err != nil {
			require.True(t, failure.Is(err, failure.InvalidRequest), "%v", err)
			require.Empty(t, other.history(t).Entries)
			return
		}
		again, err := other.store().Import(t.Context(), noteBank, "ann", "x", bytes.NewReader(text))
		require.NoError(t, err)
		require.Zero(t, again.Versions)
		require.Equal(t, out.Versions+out.Known, again.Known)
		require.Empty(t, other.files(t).Check())
	})
}
