package memories

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/bank"
)

// TestSeeing: the command is one that works for the phase, the visit, the branch, and for a phase without a model.
func TestSeeing(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"work/attempt1/turn1/tool1":            "windlass context show s --phase work",
		"work/attempt2/turn3/tool2":            "windlass context show s --phase work",
		"work~2/attempt1/turn1/tool1":          "windlass context show s --phase work~2",
		"each/item3/attempt1/turn1/tool1":      "windlass context show s --phase each/item3",
		"draft/sounding2/attempt1/turn1/tool1": "windlass context show s --phase draft/sounding2",
		"odd name/attempt1/turn1/tool1":        "windlass context show s --phase 'odd name'",
		"odd name~2/attempt1/turn1/tool1":      "windlass show s --calls",
		"keep/attempt1/tool1":                  "windlass show s",
		"keep/attempt1":                        "windlass show s",
		"run":                                  "windlass show s",
	} {
		require.Equal(t, want, seeing("s", echo.MustKey(key)), key)
	}
}

// TestForgottenElsewhere: of a session that is not on this machine no command is named.
func TestForgottenElsewhere(t *testing.T) {
	t.Parallel()
	call := func(session, key string) bank.Writer { return bank.Writer{Session: session, Key: echo.MustKey(key)} }
	d := Open(t.TempDir(), t.TempDir(), "ann")
	out, err := d.forgotten("notes", "/memories/a", &bank.Forgotten{Sessions: []string{"away"}, Calls: []bank.Writer{call("away", "a/attempt1/turn1/tool1"), call("away", "b/attempt1")}})
	require.NoError(t, err)
	require.Equal(t, []string{"away"}, out.Missing)
	require.Empty(t, out.Look)
	require.Empty(t, out.Redact)
	require.Empty(t, out.Delete)
}
