package echo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The id of a child follows from its parent's and the key, is one that could be made by windlass, and
// is that of no other child.
func TestChildSession(t *testing.T) {
	t.Parallel()
	parents := []string{"01jd0q5x8v4n7c2k9m3b6f1h5t", "01jd0q5x8v4n7c2k9m3b6f1h5v", "mine", strings.Repeat("a", 64)}
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]string{}
	for _, parent := range parents {
		for n := range 2000 {
			key := PhaseKey(fmt.Sprint("p", r.IntN(50)), 1+r.IntN(3)).Numbered(StepItem, n+1).Named(StepChild, "x")
			id := ChildSession(parent, key)
			require.Len(t, id, 26)
			require.Empty(t, strings.Trim(id, "0123456789abcdefghjkmnpqrstvwxyz"), "the characters of a ULID")
			require.Equal(t, id, ChildSession(parent, key))
			what := parent + " " + key.String()
			if was, ok := seen[id]; ok {
				require.Equal(t, was, what)
			}
			seen[id] = what
		}
	}
	key := PhaseKey("draft", 1).Named(StepChild, "x")
	require.Equal(t, parents[0][:10], ChildSession(parents[0], key)[:10])
	require.NotEqual(t, ChildSession(parents[0], key), ChildSession(parents[1], key))
	require.Equal(t, byte('0'), ChildSession("mine", key)[0])
}
