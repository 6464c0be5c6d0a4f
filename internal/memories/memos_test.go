package memories

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/memofile"
)

// A memo that none of the newest runs was told of is listed as such; a version before it is not, nor is a memo that was deleted.
func TestUnreadMemos(t *testing.T) {
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	desk := OpenMemos(home, folder, "ann")
	old, err := desk.Add(t.Context(), memo.Project, "The harbour closes at low tide.", nil)
	require.NoError(t, err)
	gone, err := desk.Add(t.Context(), memo.Global, "The sea is green.", nil)
	require.NoError(t, err)
	for i := range bank.UnreadRuns {
		list, err := desk.List("", nil)
		require.NoError(t, err)
		require.False(t, list[0].Unread || list[1].Unread, "after %d runs", i)
		_, err = memofile.Open(home, folder, nil).Start(t.Context(), fmt.Sprint("run", i))
		require.NoError(t, err)
	}
	fresh, err := desk.Add(t.Context(), memo.Project, "The moon is full.", nil)
	require.NoError(t, err)
	list, err := desk.List("", nil)
	require.NoError(t, err)
	unread := map[string]bool{}
	for i := range list {
		unread[list[i].ID] = list[i].Unread
	}
	require.Equal(t, map[string]bool{old.ID: true, gone.ID: true, fresh.ID: false}, unread)
	text := "The harbour closes at noon."
	_, err = desk.Edit(t.Context(), old.ID, &text, nil, "")
	require.NoError(t, err)
	_, err = desk.Delete(t.Context(), gone.ID)
	require.NoError(t, err)
	all, err := desk.History("", "")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for i := range all {
		require.False(t, all[i].Unread, all[i].Text)
	}
}
