package llm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/llm/wire"
)

// wireUsage is the usage object in the shapes that providers send.
type wireUsage struct {
	PromptTokens     tokens `json:"prompt_tokens"`
	CompletionTokens tokens `json:"completion_tokens"`
	InputTokens      tokens `json:"input_tokens"`
	OutputTokens     tokens `json:"output_tokens"`
	PromptDetails    struct {
		Cached   tokens `json:"cached_tokens"`
		Written  tokens `json:"cache_write_tokens"`          // OpenAI, OpenRouter
		Created  tokens `json:"cache_creation_input_tokens"` // DashScope
		Creation tokens `json:"cache_creation_tokens"`       // LiteLLM
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning tokens `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit    tokens  `json:"prompt_cache_hit_tokens"` // DeepSeek
	CachedFlat  tokens  `json:"cached_tokens"`           // Moonshot and others
	CacheRead   tokens  `json:"cache_read_input_tokens"`
	CacheCreate tokens  `json:"cache_creation_input_tokens"`
	Reasoning   tokens  `json:"reasoning_tokens"`
	Cost        dollars `json:"cost"` // OpenRouter: what was charged, in US dollars
	CostDetails struct {
		Upstream dollars `json:"upstream_inference_cost"`
	} `json:"cost_details"`
	IsBYOK bool `json:"is_byok"`
}

// readUsage reads the usage object, for the members that it has in one pass.
func readUsage(raw []byte) (*wireUsage, error) {
	u := new(wireUsage)
	if wire.Figures(raw, isDetails, u.set) {
		return u, nil
	}
	*u = wireUsage{}
	return u, json.Unmarshal(raw, u)
}

func isDetails(name string) bool {
	return name == "prompt_tokens_details" || name == "completion_tokens_details" || name == "cost_details"
}

// set takes a figure. It reports false for a value that only encoding/json can judge.
func (u *wireUsage) set(object, name, value []byte) bool {
	switch string(object) {
	case "prompt_tokens_details":
		if t := u.promptDetail(string(name)); t != nil {
			return t.UnmarshalJSON(value) == nil
		}
		return true
	case "completion_tokens_details":
		if string(name) == "reasoning_tokens" {
			return u.CompletionDetails.Reasoning.UnmarshalJSON(value) == nil
		}
		return true
	case "cost_details":
		if string(name) == "upstream_inference_cost" {
			return u.CostDetails.Upstream.UnmarshalJSON(value) == nil
		}
		return true
	}
	switch string(name) {
	case "is_byok":
		u.IsBYOK = string(value) == "true"
		return u.IsBYOK || string(value) == "false"
	case "cost":
		return u.Cost.UnmarshalJSON(value) == nil
	}
	if t := u.tokens(string(name)); t != nil {
		return t.UnmarshalJSON(value) == nil
	}
	return true
}

// promptDetail returns the number of a name in prompt_tokens_details, nil for another name.
func (u *wireUsage) promptDetail(name string) *tokens {
	switch name {
	case "cached_tokens":
		return &u.PromptDetails.Cached
	case "cache_write_tokens":
		return &u.PromptDetails.Written
	case "cache_creation_input_tokens":
		return &u.PromptDetails.Created
	case "cache_creation_tokens":
		return &u.PromptDetails.Creation
	}
	return nil
}

// tokens returns the number of a name, nil for another name.
func (u *wireUsage) tokens(name string) *tokens {
	switch name {
	case "prompt_tokens":
		return &u.PromptTokens
	case "completion_tokens":
		return &u.CompletionTokens
	case "input_tokens":
		return &u.InputTokens
	case "output_tokens":
		return &u.OutputTokens
	case "prompt_cache_hit_tokens":
		return &u.CacheHit
	case "cached_tokens":
		return &u.CachedFlat
	case "cache_read_input_tokens":
		return &u.CacheRead
	case "cache_creation_input_tokens":
		return &u.CacheCreate
	case "reasoning_tokens":
		return &u.Reasoning
	}
	return nil
}

// usage returns the tokens; ok is false without figures, or with some that cannot be true.
func (u *wireUsage) usage() (out echo.Usage, ok bool) {
	if u == nil {
		return out, false
	}
	out.In = max(u.PromptTokens.n, u.InputTokens.n)
	out.Out = max(u.CompletionTokens.n, u.OutputTokens.n)
	out.Cached = min(max(u.PromptDetails.Cached.n, u.CacheHit.n, u.CachedFlat.n, u.CacheRead.n), out.In)
	out.Reasoning = min(max(u.CompletionDetails.Reasoning.n, u.Reasoning.n), out.Out)
	for _, t := range []tokens{u.PromptTokens, u.InputTokens, u.CompletionTokens, u.OutputTokens} {
		if t.bad != "" {
			return echo.Usage{}, false // half of it would make a call look cheap
		}
	}
	return out, out.In > 0 || out.Out > 0
}

// written returns how many of a usage's tokens were written to the provider's prefix cache.
func (u *wireUsage) written(of echo.Usage) int64 {
	if u == nil {
		return 0
	}
	d := &u.PromptDetails
	return min(max(d.Written.n, d.Created.n, d.Creation.n, u.CacheCreate.n), of.In-of.Cached)
}

// cost returns what the provider says it charged, or nil. With a key of one's own at the upstream
// provider, the upstream's charge comes on top.
func (u *wireUsage) cost() *float64 {
	if u == nil || !u.Cost.set {
		return nil
	}
	total := u.Cost.usd
	if u.IsBYOK {
		if u.CostDetails.Upstream.bad != "" {
			return nil
		}
		total += u.CostDetails.Upstream.usd
	}
	return &total
}

// The ranges in which figures of an endpoint are believed, as they become money and budgets. Others
// are taken as not reported, with a warning. Sums of such figures cannot overflow.
const (
	maxTokens  = 1_000_000_000 // of one call; the largest windows are of some million
	maxCostUSD = 10_000        // of one call
	maxID      = 512           // bytes of a call's id; a longer one is replaced
	maxName    = 256           // bytes of the name of a tool or of the model
	maxDims    = 1 << 16       // of a vector
)

// tokens is a number of tokens that an endpoint reports. It reads any JSON value, so that a wrong
// figure does not cost the answer.
type tokens struct {
	n   int64
	bad string // the value, when it is no number of tokens
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *tokens) UnmarshalJSON(b []byte) error {
	x, _, bad := figure(b, maxTokens)
	if x != math.Trunc(x) {
		x, bad = 0, shownFigure(b)
	}
	*t = tokens{int64(x), bad}
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
	d.usd, d.set, d.bad = figure(b, maxCostUSD)
	return nil
}

// figure reads a number between 0 and most. set is false for null and for what bad shows.
func figure(b []byte, most float64) (x float64, set bool, bad string) {
	if string(b) == "null" {
		return 0, false, ""
	}
	// A JSON value that begins with a digit or a minus is a number, and only such ones are.
	isNumber := b[0] == '-' || b[0] >= '0' && b[0] <= '9'
	x, err := strconv.ParseFloat(string(b), 64)
	if !isNumber || err != nil || x < 0 || x > most {
		return 0, false, shownFigure(b)
	}
	return x, true, ""
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
	for _, f := range [...]struct{ name, bad string }{
		{"prompt_tokens", u.PromptTokens.bad},
		{"completion_tokens", u.CompletionTokens.bad},
		{"input_tokens", u.InputTokens.bad},
		{"output_tokens", u.OutputTokens.bad},
		{"prompt_tokens_details.cached_tokens", u.PromptDetails.Cached.bad},
		{"completion_tokens_details.reasoning_tokens", u.CompletionDetails.Reasoning.bad},
		{"prompt_cache_hit_tokens", u.CacheHit.bad},
		{"cached_tokens", u.CachedFlat.bad},
		{"cache_read_input_tokens", u.CacheRead.bad},
		{"reasoning_tokens", u.Reasoning.bad},
		{"prompt_tokens_details.cache_write_tokens", u.PromptDetails.Written.bad},
		{"prompt_tokens_details.cache_creation_input_tokens", u.PromptDetails.Created.bad},
		{"prompt_tokens_details.cache_creation_tokens", u.PromptDetails.Creation.bad},
		{"cache_creation_input_tokens", u.CacheCreate.bad},
		{"cost", u.Cost.bad},
		{"cost_details.upstream_inference_cost", u.CostDetails.Upstream.bad},
	} {
		if f.bad != "" {
			bad = append(bad, f.name+" "+f.bad)
		}
	}
	if len(bad) == 0 {
		return ""
	}
	slices.Sort(bad)
	return fmt.Sprintf("the endpoint reports figures that cannot be true, which are taken as not reported: %s", strings.Join(bad, ", "))
}
