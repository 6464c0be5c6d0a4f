package autocontext_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// TestCardsEstimateTokensAlike: a card gives the same estimate of its message's tokens as a view
// does.
func TestCardsEstimateTokensAlike(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "ab", "abc", "abcd", "Find the bug in a/b.go.", "Größe\n\"x\""} {
		m := echo.Seal(echo.Draft{Role: echo.RoleUser, Parts: echo.Text(text)})
		card := contextcards.Extract(contextcards.Source{SessionID: "s", Message: m}, time.Unix(0, 0))
		require.Equal(t, autocontext.Tokens(m), card.Tokens, text)
	}
}
