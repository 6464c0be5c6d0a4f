package bank

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/failure"
)

// What is forgotten is in no byte of the file, under no name that the file had. Who read the bank before sees it too.
func TestForget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.store()
	one := begin(t, before, "writer")
	one.does(t, create("/memories/old", "SECRET one"))
	one.does(t, replaces("/memories/old", "one", "two"))
	one.does(t, create("/memories/copy", "SECRET two"))
	one.does(t, create("/memories/other", "harmless"))
	begin(t, b.store(), "reader").does(t, view("/memories/old"))
	begin(t, b.store(), "reader of another").does(t, view("/memories/other"))
	two := begin(t, b.store(), "mover")
	two.does(t, rename("/memories/old", "/memories/d/new"))
	two.does(t, insert("/memories/d/new", 1, "SECRET three"))
	late := begin(t, b.store(), "late")
	late.does(t, create("/memories/old", "another file"))
	last := b.history(t).Last()
	got, err := b.store().Forget(t.Context(), noteBank, "ann", "/memories/d/new")
	require.NoError(t, err)
	var callers []string
	for _, call := range got.Calls {
		require.False(t, call.Key.IsZero())
		callers = append(callers, call.Session)
	}
	require.Subset(t, callers, got.Sessions)
	got.Calls = nil
	require.Equal(t, &Forgotten{
		Versions: 4, Paths: []string{"/memories/d/new", "/memories/old"}, Sessions: []string{"writer", "reader", "mover"}, Also: []string{"/memories/copy"},
	}, got)
	text := b.text(t)
	require.Equal(t, 1, strings.Count(text, "SECRET"), "that of the copy")
	require.NotContains(t, text, "SECRET one")
	require.NotContains(t, text, "SECRET three")
	for _, store := range []*Store{before, one.Store, b.store()} {
		h, err := store.Read(noteBank)
		require.NoError(t, err)
		require.Equal(t, last+1, h.Last())
		require.Equal(t, memory.Files{"/memories/copy": "SECRET two", "/memories/other": "harmless", "/memories/old": "another file"}, h.Files(h.Now()))
		for asOf := range last + 1 {
			require.NotContains(t, h.Files(memory.Seen{Start: asOf}), "/memories/d/new", "who has seen it sees it no more")
		}
		v := h.Versions("/memories/d/new")[0]
		require.True(t, v.Forgotten)
		require.NotEmpty(t, v.Hash)
	}
	_, err = b.store().Forget(t.Context(), noteBank, "ann", "/memories/d/new")
	require.EqualError(t, err, "forget /memories/d/new: the bank notes has no text of it")
	require.True(t, failure.Is(err, failure.InvalidRequest))
	begin(t, b.store(), "again").does(t, create("/memories/d/new", "new"))
	got, err = b.store().Forget(t.Context(), noteBank, "ann", "/memories/copy")
	require.NoError(t, err)
	got.Calls = nil
	require.Equal(t, &Forgotten{Versions: 1, Paths: []string{"/memories/copy"}, Sessions: []string{"writer"}}, got)
	require.NotContains(t, b.text(t), "SECRET")
	require.Equal(t, "new", b.files(t)["/memories/d/new"])
}

// A run that has the file before its eyes is told that it is gone.
func TestForgottenWhileSeen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begin(t, b.store(), "s0").does(t, create(notePath, "SECRET"))
	s := begin(t, b.store(), "s1")
	_, err := b.store().Forget(t.Context(), noteBank, "ann", notePath)
	require.NoError(t, err)
	require.Equal(t, "The path /memories/a.md does not exist. Please provide a valid path.", s.call(t, view(notePath)).Text)
	out := s.call(t, create(notePath, "new"))
	require.Equal(t, "Error: Since this run began, another one, or a person, has changed /memories/a.md, so nothing was written.\n\n/memories/a.md does not exist any more.\n\n"+
		"Decide again with what is there now.", out.Text)
	s.does(t, create(notePath, "new"))
	require.Equal(t, memory.Files{notePath: "new"}, b.files(t))
}

// A session that was told of a version by a conflict has it in its record.
func TestForgetKnowsWhoMetAConflict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "late")
	begin(t, b.store(), "early").does(t, create(notePath, "SECRET"))
	require.True(t, s.call(t, create(notePath, "mine")).Conflict)
	got, err := b.store().Forget(t.Context(), noteBank, "ann", notePath)
	require.NoError(t, err)
	require.Equal(t, []string{"early", "late"}, got.Sessions)
}

// What a bank has forgotten stays forgotten when an export from before is imported, and is in no export after.
func TestForgottenAndImported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := begin(t, b.store(), "s")
	s.does(t, create(notePath, "SECRET"))
	s.does(t, rename(notePath, "/memories/b.md"))
	var before, after strings.Builder
	require.NoError(t, s.Export(noteBank, &before))
	other := setup(t)
	_, err := other.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(before.String()))
	require.NoError(t, err)
	for _, b := range []*testBundle{b, other} { // the family of an imported file is known too
		_, err = b.store().Forget(t.Context(), noteBank, "ann", "/memories/b.md")
		require.NoError(t, err)
		require.NotContains(t, b.text(t), "SECRET")
		in, err := b.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(before.String()))
		require.NoError(t, err)
		require.Zero(t, in.Versions)
		require.NotContains(t, b.text(t), "SECRET")
		require.Empty(t, b.files(t))
	}
	require.NoError(t, s.Export(noteBank, &after))
	require.NotContains(t, after.String(), "SECRET")
	third := setup(t)
	_, err = third.store().Import(t.Context(), noteBank, "ann", "x", strings.NewReader(after.String()))
	require.NoError(t, err)
	require.Empty(t, third.files(t))
}

func TestForgetNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.store().Forget(t.Context(), noteBank, "ann", notePath)
	require.EqualError(t, err, "forget /memories/a.md: the bank notes has no text of it")
	require.NoFileExists(t, b.path(t))
	_, err = b.store().Forget(t.Context(), "N", "ann", notePath)
	require.EqualError(t, err, memory.CheckName("N").Error())
}
