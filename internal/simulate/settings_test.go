package simulate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/simulate"
)

// TestPolicySettings: what is pasted into a cascade is the policy that was chosen by its name.
func TestPolicySettings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"full", "default", "cost", "every_turn", "step:7"} {
		text, ok := simulate.PolicySettings(name)
		require.True(t, ok, name)
		want, ok := simulate.NamedPolicy(name)
		require.True(t, ok)
		p, found, err := simulate.ParsePolicy(name, "pasted.json", text)
		require.NoError(t, err, "%s: %v", name, found)
		require.Equal(t, want, p, "%s", text)
	}
	text, ok := simulate.PolicySettings(`tight={"window": 2}`)
	require.True(t, ok)
	require.JSONEq(t, `{"window": 2}`, string(text))
	for _, none := range []string{"hindsight", "@file.json", "step:0", "", "x"} {
		_, ok := simulate.PolicySettings(none)
		require.False(t, ok, none)
	}
}
