package journal

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Processes begin, end and die while others recover: none of them fails for another, what the dead
// had is restored, and nothing stays.
func TestManyProcessesAtOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	first := storeOf(t, root)
	path, lines := cutSession(t, first, 2)
	deadLog(t, first, strings.Join(lines[2:], ""))
	var wg sync.WaitGroup
	for n := range 6 {
		wg.Go(func() {
			for round := range 4 {
				s := storeOf(t, root)
				s.limit = 500
				_, log := begun(t, s, fmt.Sprintf("p%d-%d", n, round), "one", "two", "three")
				if round%2 == 1 {
					kill(t, s)
					continue
				}
				require.NoError(t, log.Close(context.Background()))
				require.NoError(t, s.Close())
			}
		})
		wg.Go(func() {
			for range 8 {
				require.NoError(t, storeOf(t, root).Recover(context.Background()))
			}
		})
	}
	wg.Wait()
	require.NoError(t, first.Recover(context.Background()))
	requireNoLogs(t, first)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Join(lines, ""), string(text))
	for n := range 6 {
		for round := range 4 {
			_, rec, err := storeOf(t, root).Open(t.Context(), fmt.Sprintf("p%d-%d", n, round))
			require.NoError(t, err)
			require.Len(t, rec.Entries, 3)
		}
	}
}
