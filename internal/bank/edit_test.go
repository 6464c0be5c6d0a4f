package bank

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store := b.store()
	edit := func(seen memory.Seen, c *memory.Command) (*Entry, error) {
		return store.Edit(t.Context(), noteBank, Edit{Person: "ann", Command: *c, Seen: seen})
	}
	now := func() memory.Seen { return b.history(t).Now() }
	e, err := edit(memory.Seen{}, create(notePath, "one"))
	require.NoError(t, err)
	require.Equal(t, Writer{Person: "ann"}, e.By)
	require.Equal(t, "edit", e.Command)
	first := now()
	_, err = edit(first, insert(notePath, 1, "two"))
	require.NoError(t, err)
	require.Equal(t, memory.Files{notePath: "one\ntwo\n"}, b.files(t))
	_, err = store.Overwrite(t.Context(), noteBank, "ben", "/memories/b.md", "b", now())
	require.NoError(t, err)
	_, err = store.Overwrite(t.Context(), noteBank, "ben", "/memories/b.md", "c", now())
	require.NoError(t, err)
	files := b.files(t)
	for want, do := range map[string]func() error{
		"edit the bank notes: somebody else has changed /memories/a.md meanwhile": func() error {
			_, err := edit(first, replaces(notePath, "one", "x"))
			return err
		},
		"edit the bank notes: somebody else has changed /memories/b.md meanwhile": func() error {
			_, err := store.Overwrite(t.Context(), noteBank, "ann", "/memories/b.md", "x", first)
			return err
		},
		"edit the bank notes: The path /memories/A.md is the same as the existing /memories/a.md but for upper and lower case or the encoding of characters, " +
			"and some disks cannot keep both. Use the existing name, or one that differs more": func() error {
			_, err := edit(memory.Seen{}, create("/memories/A.md", "x"))
			return err
		},
		"edit the bank notes: File /memories/a.md already exists": func() error { _, err := edit(now(), create(notePath, "x")); return err },
		"edit the bank notes: Path must start with /memories, got: /etc/passwd": func() error {
			_, err := store.Overwrite(t.Context(), noteBank, "ann", "/etc/passwd", "x", now())
			return err
		},
		memory.CheckName("N").Error(): func() error {
			_, err := store.Edit(t.Context(), "N", Edit{})
			return err
		},
	} {
		err := do()
		require.EqualError(t, err, want)
		require.True(t, failure.Is(err, failure.InvalidRequest))
	}
	require.Equal(t, files, b.files(t))
}
