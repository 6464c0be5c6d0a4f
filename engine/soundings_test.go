package engine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestSoundings(t *testing.T) {
	t.Parallel()
	b, m := branching(t, nil)
	res, err := b.run(`{"cascade_id":"c","phases":[
		{"name":"draft","instructions":"Draft {{ sounding_index }} of {{ sounding_factor }} {{ is_sounding }}.","soundings":{"factor":3}},
		{"name":"next","context":{"from":["draft"]},"instructions":"after {{ outputs.draft }} {{ is_sounding }}"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "<after <Draft 0 of 3 true.> false>", res.Output)
	require.Len(t, m.requests, 4)
	require.InDelta(t, 0.04, res.CostUSD, 1e-9)
	require.Equal(t, []string{"draft/sounding1/candidate", "draft/sounding2/candidate", "draft/sounding3/candidate"}, sorted(b.entries.keys(echo.NodeCandidate)))
}

func sorted(keys []string) []string { return slices.Sorted(slices.Values(keys)) }
