package contexts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/term/contexts"
)

// TestNoPrice: a script has no price, whichever model the cascade names; of a model the price may be unknown.
func TestNoPrice(t *testing.T) {
	t.Parallel()
	for scripted, want := range map[int]string{3: "no price: scripted", 2: "price unknown"} {
		var b strings.Builder
		sums := inspect.Sums{Calls: 3, Scripted: scripted, Unpriced: 3, FullTokens: 10, SentTokens: 10, Between: record.Between{Selections: 1}}
		require.NoError(t, contexts.Stats(contexts.Out{W: &b}, "s", &sums, nil))
		require.Contains(t, b.String(), "10 tokens  "+want+"\n")
		require.Contains(t, b.String(), "saved 0 tokens, "+want+"\n")
	}
}
