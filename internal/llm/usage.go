package llm

import (
	"github.com/windlass-run/windlass/echo"
)

// wireUsage is the usage object in the shapes that providers send.
type wireUsage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	InputTokens      int64 `json:"input_tokens"`
	OutputTokens     int64 `json:"output_tokens"`
	PromptDetails    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit    int64    `json:"prompt_cache_hit_tokens"` // DeepSeek
	CachedFlat  int64    `json:"cached_tokens"`           // Moonshot and others
	CacheRead   int64    `json:"cache_read_input_tokens"`
	Reasoning   int64    `json:"reasoning_tokens"`
	Cost        *float64 `json:"cost"` // OpenRouter: what was charged, in US dollars
	CostDetails struct {
		Upstream *float64 `json:"upstream_inference_cost"`
	} `json:"cost_details"`
	IsBYOK bool `json:"is_byok"`
}

// usage returns the tokens in one shape; ok is false when the provider gave no figures.
func (u *wireUsage) usage() (out echo.Usage, ok bool) {
	if u == nil {
		return out, false
	}
	out.In = max(u.PromptTokens, u.InputTokens, 0)
	out.Out = max(u.CompletionTokens, u.OutputTokens, 0)
	out.Cached = min(max(u.PromptDetails.Cached, u.CacheHit, u.CachedFlat, u.CacheRead, 0), out.In)
	out.Reasoning = min(max(u.CompletionDetails.Reasoning, u.Reasoning, 0), out.Out)
	return out, out.In > 0 || out.Out > 0
}

// cost returns what the provider says it charged, or nil. With a key of one's own at the upstream provider the charge
// is the upstream's and comes on top.
func (u *wireUsage) cost() *float64 {
	if u == nil || u.Cost == nil || *u.Cost < 0 {
		return nil
	}
	total := *u.Cost
	if u.IsBYOK && u.CostDetails.Upstream != nil {
		total += *u.CostDetails.Upstream
	}
	return &total
}
