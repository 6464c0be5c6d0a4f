package llm

import (
	"github.com/windlass-run/windlass/echo"
)

// wireUsage is the usage object in the shapes that providers send.
type wireUsage struct {
	PromptTokens     tokens `json:"prompt_tokens"`
	CompletionTokens tokens `json:"completion_tokens"`
	InputTokens      tokens `json:"input_tokens"`
	OutputTokens     tokens `json:"output_tokens"`
	PromptDetails    struct {
		Cached tokens `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning tokens `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit    tokens  `json:"prompt_cache_hit_tokens"` // DeepSeek
	CachedFlat  tokens  `json:"cached_tokens"`           // Moonshot and others
	CacheRead   tokens  `json:"cache_read_input_tokens"`
	Reasoning   tokens  `json:"reasoning_tokens"`
	Cost        dollars `json:"cost"` // OpenRouter: what was charged, in US dollars
	CostDetails struct {
		Upstream dollars `json:"upstream_inference_cost"`
	} `json:"cost_details"`
	IsBYOK bool `json:"is_byok"`
}

// usage returns the tokens; ok is false when the provider gave no figures, or none that can be
// true.
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
