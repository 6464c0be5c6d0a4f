package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// TestFiguresThatCannotBeTrue: such a figure is as good as none, and is named.
func TestFiguresThatCannotBeTrue(t *testing.T) {
	t.Parallel()
	const head = "the endpoint reports figures that cannot be true, which are taken as not reported: "
	const sound = `"prompt_tokens": 10, "completion_tokens": 5`
	usd := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		usage    string
		reported bool
		want     echo.Usage
		cost     *float64
		ignored  string
	}{
		{sound, true, echo.Usage{In: 10, Out: 5}, nil, ""},
		{sound + `, "cost": 0.25`, true, echo.Usage{In: 10, Out: 5}, usd(0.25), ""},
		{sound + `, "cost": 0`, true, echo.Usage{In: 10, Out: 5}, usd(0), ""},
		{sound + `, "cost": null`, true, echo.Usage{In: 10, Out: 5}, nil, ""},
		{sound + `, "cost": 1e308`, true, echo.Usage{In: 10, Out: 5}, nil, head + "cost 1e308"},
		{sound + `, "cost": 1e400`, true, echo.Usage{In: 10, Out: 5}, nil, head + "cost 1e400"},
		{sound + `, "cost": -1`, true, echo.Usage{In: 10, Out: 5}, nil, head + "cost -1"},
		{sound + `, "cost": "NaN"`, true, echo.Usage{In: 10, Out: 5}, nil, head + `cost "NaN"`},
		{sound + `, "cost": "0.5"`, true, echo.Usage{In: 10, Out: 5}, nil, head + `cost "0.5"`},
		{sound + `, "cost": {"usd": 1}`, true, echo.Usage{In: 10, Out: 5}, nil, head + `cost {"usd": 1}`},
		{sound + `, "cost": 10001`, true, echo.Usage{In: 10, Out: 5}, nil, head + "cost 10001"},
		{sound + `, "cost": 1, "is_byok": true, "cost_details": {"upstream_inference_cost": 2}`, true, echo.Usage{In: 10, Out: 5}, usd(3), ""},
		{sound + `, "cost": 1, "is_byok": true, "cost_details": {"upstream_inference_cost": -2}`, true, echo.Usage{In: 10, Out: 5}, nil, head + "cost_details.upstream_inference_cost -2"},
		{`"prompt_tokens": 12.0, "completion_tokens": 5e0`, true, echo.Usage{In: 12, Out: 5}, nil, ""},
		{`"prompt_tokens": -1, "completion_tokens": 5`, false, echo.Usage{}, nil, head + "prompt_tokens -1"},
		{`"prompt_tokens": 10.5, "completion_tokens": 5`, false, echo.Usage{}, nil, head + "prompt_tokens 10.5"},
		{`"prompt_tokens": 9223372036854775808, "completion_tokens": 1e99`, false, echo.Usage{}, nil, head + "completion_tokens 1e99, prompt_tokens 9223372036854775808"},
		{`"prompt_tokens": "10", "completion_tokens": [5]`, false, echo.Usage{}, nil, head + `completion_tokens [5], prompt_tokens "10"`},
		{`"prompt_tokens": 1000000001, "completion_tokens": 5`, false, echo.Usage{}, nil, head + "prompt_tokens 1000000001"},
		{sound + `, "prompt_tokens_details": {"cache_write_tokens": -5}`, true, echo.Usage{In: 10, Out: 5}, nil, head + "prompt_tokens_details.cache_write_tokens -5"},
		{sound + `, "cached_tokens": -5, "reasoning_tokens": 1e400`, true, echo.Usage{In: 10, Out: 5}, nil, head + "cached_tokens -5, reasoning_tokens 1e400"},
		{sound + `, "cost": "` + strings.Repeat("9", 100) + `"`, true, echo.Usage{In: 10, Out: 5}, nil, head + `cost "` + strings.Repeat("9", 39) + "..."},
	} {
		var u wireUsage
		require.NoError(t, json.Unmarshal([]byte("{"+c.usage+"}"), &u), c.usage)
		got, reported := u.usage()
		require.Equal(t, c.reported, reported, c.usage)
		require.Equal(t, c.want, got, c.usage)
		require.Equal(t, c.cost, u.cost(), c.usage)
		require.Equal(t, c.ignored, u.ignored(), c.usage)
	}
}

// FuzzFigures: whatever an endpoint reports, what comes of it is in range, and a thousand of it add
// up.
func FuzzFigures(f *testing.F) {
	for _, s := range []string{
		`{"prompt_tokens":1e400,"cost":-1}`, `{"cost":1e308,"completion_tokens":9223372036854775807}`, `{"cost":NaN}`, `{"input_tokens":"1"}`,
		`{"prompt_tokens":5,"cost":"Infinity","is_byok":true,"cost_details":{"upstream_inference_cost":1e309}}`, `{"prompt_tokens":-9.5}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var u wireUsage
		if json.Unmarshal(data, &u) != nil {
			return
		}
		usage, _ := u.usage()
		for _, n := range []int64{usage.In, usage.Out, usage.Cached, usage.Reasoning} {
			require.GreaterOrEqual(t, n, int64(0))
			require.LessOrEqual(t, n, int64(maxTokens))
		}
		var sum effect.Totals
		for range 1000 {
			sum.Count(&effect.ModelResponse{Usage: usage, CostUSD: u.cost()}, nil)
		}
		require.GreaterOrEqual(t, sum.CostUSD, 0.0)
		require.LessOrEqual(t, sum.CostUSD, 2*1000.0*maxCostUSD)
		require.GreaterOrEqual(t, sum.Usage.In, int64(0))
		require.Less(t, len(u.ignored()), 2000)
	})
}

func TestWaitsOfHeaders(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"2": 2 * time.Second, "0.5": time.Second / 2, "-1": -1, "NaN": -1, "Inf": -1, "1e400": -1, "1e12": -1, "": -1, "soon": -1,
		"Sat, 31 Jan 2026 10:00:05 GMT": 5 * time.Second, "Sat, 31 Jan 2026 09:00:00 GMT": 0,
	} {
		require.Equal(t, want, retryAfter(http.Header{"Retry-After": {text}}, now), text)
	}
}

// TestNamesOfAnswers: names and ids are bounded, as they go into every later request and into rows.
func TestNamesOfAnswers(t *testing.T) {
	t.Parallel()
	read := func(answer string) (*assembly, error) {
		a := &assembly{}
		require.NoError(t, a.add([]byte(answer), ""))
		return a, a.complete()
	}
	const call = `{"model": %q, "choices": [{"message": {"tool_calls": [{"id": %q, "function": {"name": %q, "arguments": "{}"}}]}}]}`
	a, err := read(fmt.Sprintf(call, strings.Repeat("m", 1<<20), strings.Repeat("i", 1<<20), "f"))
	require.NoError(t, err)
	require.Len(t, a.model, maxName)
	require.LessOrEqual(t, len(a.message(nil).ToolCalls()[0].ID), maxID)
	_, err = read(fmt.Sprintf(call, "m", "i", strings.Repeat("f", 1000)))
	require.EqualError(t, err, "the answer calls a tool by a name of 1000 bytes")

	_, err = (&embeddings{Data: []embedded{{Embedding: make([]float32, maxDims+1)}}}).vectors(1)
	require.EqualError(t, err, "the vector of text 1 has 65537 dimensions, more than the limit of 65536")
}

var usages = []string{
	`{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1020,"prompt_tokens_details":{"cached_tokens":900,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":3}}`,
	`{"input_tokens":1,"output_tokens":2,"prompt_cache_hit_tokens":3,"cached_tokens":4,"cache_read_input_tokens":5,"reasoning_tokens":6}`,
	`{"cost":0.5,"is_byok":true,"cost_details":{"upstream_inference_cost":1e-3},"x":{"prompt_tokens":7}}`,
	`{"prompt_tokens":"12","completion_tokens":-1,"cost":1e400,"cost_details":null,"is_byok":false,"cached_tokens":[1],"reasoning_tokens":1.5}`,
	`{"prompt_tokens":null,"prompt_tokens":5,"prompt_tokens":null,"prompt_tokens_details":{"cached_tokens":1},"prompt_tokens_details":{}}`,
	`{"Prompt_Tokens":3,"is_byok":null,"cost_details":{"Upstream_inference_cost":2}}`, `{"prompt_to\u006bens":3}`, "{\"prompt_toKens\":3}",
	`{"is_byok":1}`, `{"prompt_tokens_details":5}`, `{"prompt_tokens":1`, `{"cost":true}`, `5`, `null`, `{} `,
}

// FuzzUsage: one pass over the usage finds what encoding/json finds.
func FuzzUsage(f *testing.F) {
	for _, raw := range usages {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want wireUsage
		wantErr := json.Unmarshal(raw, &want)
		got, err := readUsage(raw)
		require.Equal(t, wantErr != nil, err != nil, "%q: %v, %v", raw, wantErr, err)
		if err == nil {
			require.Equal(t, &want, got, "%q", raw)
		}
	})
}
