package budget

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func TestEstimate(t *testing.T) {
	t.Parallel()
	tariff := &echo.Tariff{Input: 2, Cached: 0.5, Output: 10, Over: 1_000_000, Long: &echo.Tariff{Input: 4, Cached: 1, Output: 20}}
	three := tally{calls: 3, out: 100, tokens: 1000, usd: 0.02}
	tests := map[string]struct {
		req        effect.ModelRequest
		in, cached int64
		kind       tally
		model      tally
		longest    int64
		tariff     *echo.Tariff
		want       string
		usd        float64
	}{
		"nothing is known": {
			in: 100, want: "600 tokens (100 in; 500 out, assumed, as nothing was answered yet), at a cost that is not known", usd: -1,
		},
		"a model of short answers": {
			in: 100, longest: 300, tariff: tariff, usd: (100*2 + 300*10) / 1e6,
			want: "400 tokens (100 in; 300 out, the model's longest answer) and $0.0032",
		},
		"max_output_tokens": {
			req: effect.ModelRequest{MaxOutputTokens: 50}, in: 100, kind: three, model: three, tariff: tariff, usd: (100*2 + 50*10) / 1e6,
			want: "150 tokens (100 in; 50 out, its max_output_tokens) and $0.00070",
		},
		"asked for": {
			req: effect.ModelRequest{MaxOutputTokens: 9000, AnswerLength: 800}, in: 100, kind: three, tariff: tariff, usd: (100*2 + 800*10) / 1e6,
			want: "900 tokens (100 in; 800 out, as asked for) and $0.0082",
		},
		"the average of its kind": {
			in: 1000, cached: 900, kind: three, model: tally{calls: 9, out: 9}, tariff: tariff, usd: (100*2 + 900*0.5 + 34*10) / 1e6,
			want: "1034 tokens (1000 in, 900 of them cached; 34 out, the average of 3 answers) and $0.00099",
		},
		"the average of the model": {
			in: 1000, model: tally{calls: 1, out: 40}, tariff: tariff, usd: (1000*2 + 40*10) / 1e6,
			want: "1040 tokens (1000 in; 40 out, the average of 1 answer of the model) and $0.0024",
		},
		"by what its calls cost": {
			in: 466, model: three, usd: 0.02 * 500 / 1000,
			want: "500 tokens (466 in; 34 out, the average of 3 answers of the model) and $0.0100",
		},
		"its calls cost nothing known": {
			in: 466, model: tally{calls: 1, out: 34, tokens: 500, unknown: true}, usd: -1,
			want: "500 tokens (466 in; 34 out, the average of 1 answer of the model), at a cost that is not known",
		},
		"a long request": {
			req: effect.ModelRequest{MaxOutputTokens: 100_000}, in: 2_000_000, cached: 1_000_000, tariff: tariff, usd: 4 + 1 + 2,
			want: "2100000 tokens (2000000 in, 1000000 of them cached; 100000 out, its max_output_tokens) and $7.0000",
		},
		"more cached than sent": {
			req: effect.ModelRequest{MaxOutputTokens: 1}, in: 10, cached: 20, tariff: tariff, usd: (10*0.5 + 10) / 1e6,
			want: "11 tokens (10 in, 10 of them cached; 1 out, its max_output_tokens) and $0.000015",
		},
		"free": {in: 10, tariff: &echo.Tariff{}, want: "510 tokens (10 in; 500 out, assumed, as nothing was answered yet) and $0.0000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := estimate(Size{In: tt.in, Cached: tt.cached}, expectAnswer(&tt.req, tt.kind, tt.model, tt.longest), tt.tariff, tt.model)
			require.Equal(t, tt.want, e.String())
			if tt.usd < 0 {
				require.Nil(t, e.USD)
				return
			}
			require.InDelta(t, tt.usd, *e.USD, 1e-12)
		})
	}
}

// Answers are of one kind when phase, validator, purpose and model are the same.
func TestAnswersByKind(t *testing.T) {
	t.Parallel()
	l := NewLedger(cascade.Budget{}, nil)
	add := func(phase, validator, model string, out int64) {
		req := &effect.ModelRequest{Model: model, Site: effect.Site{Phase: phase, Validator: validator}}
		held, err := l.Hold(req)
		require.NoError(t, err)
		held.Settle(&effect.ModelResponse{Usage: echo.Usage{In: 10, Out: out}}, nil)
	}
	add("p", "", "m", 100)
	add("p", "", "m", 201)
	add("p", "v", "m", 5)
	add("q", "", "n", 7)
	for want, req := range map[int64]*effect.ModelRequest{
		151: {Model: "m", Site: effect.Site{Phase: "p", Attempt: 4, Turn: 9}},
		5:   {Model: "m", Site: effect.Site{Phase: "p", Validator: "v"}},
		102: {Model: "m", Site: effect.Site{Phase: "q"}},
		500: {Model: "new", Site: effect.Site{Phase: "p"}},
	} {
		require.Equal(t, want, l.estimate(req, Size{}, effect.ModelFacts{}).Out)
	}
}

func TestOverLimit(t *testing.T) {
	t.Parallel()
	seconds := func(f float64) *float64 { return &f }
	usd := 0.01
	next := &Estimate{In: 90, Out: 10, Basis: "assumed", USD: &usd}
	unpriced := &Estimate{In: 90, Out: 10, Basis: "assumed"}
	used := effect.Totals{Usage: echo.Usage{In: 700, Out: 100}, CostUSD: 0.04}
	background := effect.Totals{Usage: echo.Usage{In: 90, Out: 10}, CostUSD: 0.03, UnknownCosts: 1}
	tests := map[string]struct {
		budget  cascade.Budget
		used    effect.Totals
		elapsed *float64
		next    *Estimate
		want    string
		enough  string
	}{
		"no limit":     {used: used, elapsed: seconds(9), next: next},
		"it just fits": {budget: cascade.Budget{MaxUSD: 0.08, MaxTokens: 1000, MaxSeconds: 10}, used: used, elapsed: seconds(9), next: next},
		"the next is too expensive": {
			budget: cascade.Budget{MaxUSD: 0.079}, used: used, next: next, enough: "0.16",
			want: "the next call would exceed the budget: max_usd is $0.0790, used $0.0700; the call is estimated at 100 tokens (90 in; 10 out, assumed) and $0.0100",
		},
		"the next is too long": {
			budget: cascade.Budget{MaxUSD: 1, MaxTokens: 999}, used: used, next: next, enough: "2000",
			want: "the next call would exceed the budget: max_tokens is 999 tokens, used 900 tokens; the call is estimated at 100 tokens (90 in; 10 out, assumed) and $0.0100",
		},
		"all is used": {
			budget: cascade.Budget{MaxTokens: 900}, used: used, next: &Estimate{}, enough: "1800",
			want: "budget reached: max_tokens is 900 tokens, used 900 tokens; the next call is estimated at 0 tokens (0 in; 0 out, ), at a cost that is not known",
		},
		"no price, and there is some left": {budget: cascade.Budget{MaxUSD: 0.075}, used: used, next: unpriced},
		"no price, and all is used": {
			budget: cascade.Budget{MaxUSD: 0.07}, used: used, next: unpriced, enough: "0.14",
			want: "budget reached: max_usd is $0.0700, used $0.0700; the next call is estimated at 100 tokens (90 in; 10 out, assumed), at a cost that is not known",
		},
		"a cost is unknown": {
			budget: cascade.Budget{MaxUSD: 5}, used: effect.Totals{UnknownCosts: 2}, next: next, enough: "0",
			want: "budget max_usd $5.0000 cannot be kept: the cost of 2 calls is unknown",
		},
		"time": {
			budget: cascade.Budget{MaxSeconds: 9}, used: used, elapsed: seconds(9), next: next, enough: "18",
			want: "budget reached: max_seconds is 9.0 s, used 9.0 s; the next call is estimated at 100 tokens (90 in; 10 out, assumed) and $0.0100",
		},
		"time that is not known": {budget: cascade.Budget{MaxSeconds: 9}, used: used, next: next},
		"a small limit and a large call": {
			budget: cascade.Budget{MaxTokens: 10}, used: effect.Totals{}, next: next, enough: "400",
			want: "budget reached: max_tokens is 10 tokens, used 100 tokens; the next call is estimated at 100 tokens (90 in; 10 out, assumed) and $0.0100",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := overLimit(tt.budget, tt.used, background, tt.elapsed, tt.next)
			if tt.want == "" {
				require.Nil(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
			var be *Error
			require.ErrorAs(t, err, &be)
			require.Equal(t, tt.enough, be.Enough())
		})
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "$0.0000", 0.5: "$0.5000", 12: "$12.0000", 0.001: "$0.0010", 0.00034567: "$0.00035", 0.0000012: "$0.0000012", 1e-20: "$0.000000000000",
	} {
		require.Equal(t, want, dollars(v))
	}
	for v, want := range map[float64]string{
		0: "0", 2: "2", 0.16: "0.16", 0.158: "0.16", 0.2: "0.2", 0.1 + 0.2: "0.3", 1798: "1800", 1800: "1800", 1801: "1900", 7: "7", 13: "13",
		0.00067: "0.00067", 0.000671: "0.00068", 99.5: "100", 1_000_001: "1100000",
	} {
		require.Equal(t, want, roundUp(v), v)
	}
}
