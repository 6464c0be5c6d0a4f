package verdict

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/validators"
)

// TestEveryBuiltinValidator has the engine judge by every built-in validator and tell a model about
// it, and looks for it in the page of the language: a kind that is only parsed fails here.
func TestEveryBuiltinValidator(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/cascade.md")
	require.NoError(t, err)
	c := &cascade.Cascade{}
	for _, written := range validators.Builtins() {
		kind, _, _ := strings.Cut(written, ":")
		require.Contains(t, string(page), "`"+kind, written)
		ref, err := c.ParseValidator(strings.NewReplacer("PATTERN", "a.c", "N", "3", "LINE", "true").Replace(written))
		require.NoError(t, err)
		require.Equal(t, kind, string(ref.Kind))
		if ref.Kind == cascade.ValidatorCommand {
			continue // judged by a tool, in TestToolAndCommandValidators
		}
		rule, _, why := Rule(ref, " \t")
		require.NotEmpty(t, rule, written)
		require.NotEmpty(t, why, written)
	}
}
