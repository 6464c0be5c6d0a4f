package grants

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/server"
)

// TestLimits: a request gets the limits that it asks for, but never more than the server grants.
func TestLimits(t *testing.T) {
	t.Parallel()
	usd := func(v float64) *float64 { return &v }
	for name, tt := range map[string]struct {
		asked, most *float64
		base        float64
		want        *float64
		refused     bool
	}{
		"nothing is said":                   {nil, nil, 0, nil, false},
		"the cascade's stays":               {nil, nil, 3, nil, false},
		"the cascade's, below the server's": {nil, usd(5), 3, nil, false},
		"the cascade's, above the server's": {nil, usd(2), 3, usd(2), false},
		"the cascade has none":              {nil, usd(2), 0, usd(2), false},
		"the request's":                     {usd(9), nil, 3, usd(9), false},
		"the request takes it away":         {usd(0), nil, 3, usd(0), false},
		"the request's, below the server's": {usd(1), usd(2), 3, usd(1), false},
		"the request's, as the server's":    {usd(2), usd(2), 1, usd(2), false},
		"the request's, above the server's": {usd(2.5), usd(2), 1, nil, true},
		"the request wants no limit":        {usd(0), usd(2), 1, nil, true},
		"the request's, below zero":         {usd(-1), usd(2), 1, nil, true},
		"the server has no limit":           {usd(7), usd(0), 1, usd(7), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := Grants{options: Options{Limits: core.Limits{MaxUSD: tt.most}}}
			o, err := g.Limits(&server.Budget{MaxUSD: tt.asked}, cascade.Budget{MaxUSD: tt.base})
			if tt.refused {
				require.EqualError(t, err, fmt.Sprintf("the request asks for a max_usd of %v, and this server grants a run 2 at most", *tt.asked))
				return
			}
			require.NoError(t, err)
			require.Equal(t, core.Limits{MaxUSD: tt.want}, o)
		})
	}
}
