package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
)

// Nothing of auto_context is off unless the file says so, and what it says is checked.
func TestAutoContext(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"auto_context": {}}`, `{"auto_context": {"intra_phase": true, "cards": true, "inter_phase": true, "llm_selection": true}}`} {
		c, err := config.Parse("w.json", []byte(text))
		require.NoError(t, err)
		require.Zero(t, c.Off)
	}
	_, err := config.Parse("w.json", []byte(`{"auto_context": {"intra": false, "cards": "no"}}`))
	require.ErrorContains(t, err, `unknown key "intra" in auto_context`)
	require.ErrorContains(t, err, "cards must be true or false")
	_, err = config.Parse("w.json", []byte(`{"auto_context": false}`))
	require.ErrorContains(t, err, "auto_context must be an object")
}
