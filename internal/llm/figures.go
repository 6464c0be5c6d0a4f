package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The figures of an endpoint become money, budgets and rows. These are the ranges in which they are believed; a figure
// outside its range is taken as not reported, and named in a warning. Sums of such figures cannot overflow.
const (
	maxTokens  = 1_000_000_000 // of one call; the largest windows are of some million
	maxCostUSD = 10_000        // of one call
	maxID      = 512           // bytes of a call's id; a longer one is replaced
	maxName    = 256           // bytes of the name of a tool or of the model
	maxDims    = 1 << 16       // of a vector
)

// tokens is a number of tokens that an endpoint reports. It reads any JSON value: an answer is worth more than a figure
// of it.
type tokens struct {
	n   int64
	bad string // the value, when it is no number of tokens
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *tokens) UnmarshalJSON(b []byte) error {
	*t = tokens{}
	x, ok := figure(b)
	switch {
	case bytes.Equal(b, []byte("null")):
	case !ok || x < 0 || x > maxTokens || x != math.Trunc(x):
		t.bad = shownFigure(b)
	default:
		t.n = int64(x)
	}
	return nil
}

// dollars is an amount that an endpoint reports. It reads any JSON value.
type dollars struct {
	usd float64
	set bool
	bad string // the value, when it is no amount
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *dollars) UnmarshalJSON(b []byte) error {
	*d = dollars{}
	x, ok := figure(b)
	switch {
	case bytes.Equal(b, []byte("null")):
	case !ok || x < 0 || x > maxCostUSD:
		d.bad = shownFigure(b)
	default:
		d.usd, d.set = x, true
	}
	return nil
}

// figure reads a JSON number that a float64 holds.
func figure(b []byte) (x float64, ok bool) {
	if json.Unmarshal(b, &x) != nil {
		return 0, false
	}
	return x, !math.IsNaN(x) && !math.IsInf(x, 0)
}

func shownFigure(b []byte) string {
	const shown = 40
	if len(b) > shown {
		return strings.ToValidUTF8(string(b[:shown]), "") + "..."
	}
	return string(b)
}

// ignored names the figures that are out of range, in a text for a warning; "" when there are none.
func (u *wireUsage) ignored() string {
	if u == nil {
		return ""
	}
	var bad []string
	for name, value := range map[string]string{
		"prompt_tokens": u.PromptTokens.bad, "completion_tokens": u.CompletionTokens.bad, "input_tokens": u.InputTokens.bad,
		"output_tokens": u.OutputTokens.bad, "prompt_tokens_details.cached_tokens": u.PromptDetails.Cached.bad,
		"completion_tokens_details.reasoning_tokens": u.CompletionDetails.Reasoning.bad, "prompt_cache_hit_tokens": u.CacheHit.bad,
		"cached_tokens": u.CachedFlat.bad, "cache_read_input_tokens": u.CacheRead.bad, "reasoning_tokens": u.Reasoning.bad,
		"cost": u.Cost.bad, "cost_details.upstream_inference_cost": u.CostDetails.Upstream.bad,
	} {
		if value != "" {
			bad = append(bad, name+" "+value)
		}
	}
	if len(bad) == 0 {
		return ""
	}
	slices.Sort(bad)
	return fmt.Sprintf("the endpoint reports figures that cannot be true, which are taken as not reported: %s", strings.Join(bad, ", "))
}
