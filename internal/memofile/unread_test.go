package memofile

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/ledger/ledgertest"
)

// A memo that no run was told of is unread after so many runs that began since it was written, or was last told.
func TestUnread(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := begin(t, b.store(), "first")
	told, silent := first.saves(t, "The harbour closes at low tide."), first.saves(t, "The sea is green.")
	second := begin(t, b.store(), "second")
	require.Contains(t, second.does(t, memo.ToolRetrieve, args{"query": "harbour"}).Text, "low tide")
	require.Equal(t, []string{silent}, b.history(t).Unread(1))
	require.Empty(t, b.history(t).Unread(2))
	begin(t, b.store(), "third")
	begin(t, b.store(), "third")
	require.Equal(t, []string{told, silent}, b.history(t).Unread(1))
	require.Equal(t, []string{silent}, b.history(t).Unread(2), "the third run has begun once")
	_, _, err := b.store().Edit(t.Context(), "ann", &memo.Command{Tool: memo.ToolDelete, ID: told}, "")
	require.NoError(t, err)
	require.Equal(t, []string{silent}, b.history(t).Unread(1), "what was deleted is not listed")
	_, _, err = b.store().Edit(t.Context(), "ann", &memo.Command{Tool: memo.ToolEdit, ID: silent, Text: new("The sea is blue.")}, "")
	require.NoError(t, err)
	require.Empty(t, b.history(t).Unread(1), "what was edited is new")
	for i := range 30 {
		begin(t, b.store(), fmt.Sprint("later", i))
	}
	require.Equal(t, []string{silent}, b.history(t).Unread(30))
}

// A session that begins again sees what it saw when it began, also when others have written since.
func TestBeginsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, err := b.store().Start(t.Context(), "s")
	require.NoError(t, err)
	begin(t, b.store(), "other").saves(t, "One.")
	again, err := b.store().Start(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, one, again)
	later, err := b.store().Start(t.Context(), "later")
	require.NoError(t, err)
	require.Equal(t, 1, later.Memos)
}

// The number by which a session begins is recorded for good: after a power failure it is still that of the same entry, also
// where lines that may be lost were before it.
func TestBeginIsDurable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		b := setup(t)
		d := ledgertest.New(t, b.path(), 0)
		one := begin(t, on(b, d), "one")
		one.saves(t, "One.")
		for range 3 {
			one.does(t, memo.ToolRetrieve, args{})
		}
		start, err := on(b, d).Start(t.Context(), "two")
		require.NoError(t, err)
		d.PowerOff(t, rand.New(rand.NewPCG(1, seed))) //nolint:gosec // it is to be the same again
		require.GreaterOrEqual(t, b.history(t).Last(), start.At, "seed %d", seed)
	}
}
