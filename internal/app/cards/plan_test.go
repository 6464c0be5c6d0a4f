package cards

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/vectors"
)

// A run that compares by meaning compares by spelling where nothing may be fetched, and says so.
func TestNothingIsFetched(t *testing.T) {
	t.Parallel()
	c, found, err := cascade.Parse("c.json", []byte(`{"cascade_id": "c", "phases": [{"name": "a", "instructions": "x"},
		{"name": "b", "instructions": "y", "context": {"mode": "auto", "selection": {"strategy": "semantic"}}}]}`), cascade.Known{})
	require.NoError(t, err, found)
	require.Equal(t, needMuch, needOf(c))
	for text, choice := range map[string]Choice{
		"the word vectors are not on this machine, and nothing is fetched. Try: windlass fetch":         {Cascade: c, NoFetch: true},
		"the word vectors are not on this machine, and nothing is fetched offline. Try: windlass fetch": {Cascade: c, Offline: true},
	} {
		e := choice.embedder(t.Context(), EmbedderWords, vectors.ConfigFromEnv(t.TempDir()))
		require.EqualError(t, e.Instead, text)
		require.NotNil(t, e.Embedder)
	}
}
