package judging

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
)

var unknown = math.Inf(1)

func TestNormalizedCosts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		by    soundings.Normalization
		costs []float64
		want  []float64
	}{
		"min_max":               {soundings.MinMax, []float64{1, 2, 5}, []float64{0, 0.25, 1}},
		"min_max, not in order": {soundings.MinMax, []float64{5, 1, 3}, []float64{1, 0, 0.5}},
		"min_max, unknown":      {soundings.MinMax, []float64{1, unknown, 3}, []float64{0, 1, 1}},
		"min_max, equal":        {soundings.MinMax, []float64{2, 2, 2}, []float64{0, 0, 0}},
		"min_max, one known":    {soundings.MinMax, []float64{2, unknown}, []float64{0, 1}},
		"min_max, none known":   {soundings.MinMax, []float64{unknown, unknown}, []float64{1, 1}},
		"min_max, free":         {soundings.MinMax, []float64{0, 4}, []float64{0, 1}},
		"z_score":               {soundings.ZScore, []float64{1, 3}, []float64{0.333333, 0.666667}},
		"z_score, far out":      {soundings.ZScore, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100}, append(repeat(0.456967, 15), 1)},
		"z_score, equal":        {soundings.ZScore, []float64{3, 3}, []float64{0, 0}},
		"z_score, unknown":      {soundings.ZScore, []float64{1, 3, unknown}, []float64{0.333333, 0.666667, 1}},
		"log_scale":             {soundings.LogScale, []float64{1, 3, 7}, []float64{0, 0.5, 1}},
		"log_scale, any unit":   {soundings.LogScale, []float64{0.001, 0.003, 0.007}, []float64{0, 0.5, 1}},
		"log_scale, free":       {soundings.LogScale, []float64{0, 1, 3}, []float64{0, 0.5, 1}},
		"log_scale, all free":   {soundings.LogScale, []float64{0, 0}, []float64{0, 0}},
		"log_scale, unknown":    {soundings.LogScale, []float64{1, unknown, 3}, []float64{0, 1, 1}},
		"log_scale, equal":      {soundings.LogScale, []float64{5, 5}, []float64{0, 0}},
		"min_max, tiny":         {soundings.MinMax, []float64{1e-300, 2e-300}, []float64{0, 1}},
		"z_score, tiny spread":  {soundings.ZScore, []float64{1e-300, 2e-300}, []float64{0, 0}},
		"z_score, none known":   {soundings.ZScore, []float64{unknown}, []float64{1}},
		"log_scale, none known": {soundings.LogScale, []float64{unknown}, []float64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.InDeltaSlice(t, tc.want, normalized(tc.costs, tc.by), 1e-6)
		})
	}
}

func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func TestChooseByCost(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		judge  judgeFunc
		aware  soundings.CostAware
		winner int
		tie    bool
		values []float64
	}{
		"quality decides":       {names("deep"), soundings.CostAware{}, 3, false, []float64{0.3, 0.15, 0.7}},
		"cost decides":          {names("deep"), soundings.CostAware{QualityWeight: new(0.2), CostWeight: new(0.8)}, 1, false, []float64{0.8, 0.4, 0.2}},
		"no cost":               {names("deep"), soundings.CostAware{CostWeight: new(0.0)}, 3, false, []float64{0, 0, 0.7}},
		"a tie: the cheapest":   {says(verdict(tie)), soundings.CostAware{}, 1, true, []float64{0.533333, 0.383333, 0.233333}},
		"equal value: cheapest": {says(verdict(tie)), soundings.CostAware{CostWeight: new(0.0)}, 1, true, []float64{0.233333, 0.233333, 0.233333}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tc.judge)
			c, err := b.choose(&soundings.Soundings{CostAware: &tc.aware}, sea...)
			require.NoError(t, err)
			require.Equal(t, echo.ChoiceCost, c.How)
			require.Equal(t, tc.winner, c.Winner)
			require.Equal(t, tc.tie, c.Tie)
			for i, s := range c.Standings {
				require.InDelta(t, tc.values[i], *s.Value, 1e-5)
			}
			require.Equal(t, echo.CandidateWon, c.Standings[tc.winner-1].State)
		})
	}
}
