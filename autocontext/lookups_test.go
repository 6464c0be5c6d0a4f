package autocontext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A summary names the tools that find what it does not tell, where there are some.
func TestSummaryNamesLookups(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"": nil, "; these tools find what is not here: recall, search_context": {"recall", "search_context"},
	} {
		require.Equal(t, want, lookupsOf(names))
		b := NewBuilder(Settings{Summary: Summaries{Lookups: names}})
		m := b.summary(&Ask{covers: 3, MaxOut: 400}, "model", "All is well.")
		require.Equal(t, "[Summary of the 3 messages of this conversation before this one, made by model. The originals are kept"+want+".]\n\nAll is well.", m.Text())
	}
}
