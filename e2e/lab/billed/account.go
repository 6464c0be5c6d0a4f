//go:build unix

package billed

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// account is what a server knows of the money of a run: what it has charged, and what the answers that are still to come
// may cost at most. It is part of a provider, under its lock.
type account struct {
	prices  func(model string) *llmtest.Prices
	expects func(*llmtest.Request) (tokens int64, ok bool)
	limit   int64         // of both together, in billionths of a dollar; 0: none
	most    map[int]int64 // what an answer may cost, by the number of its request
	over    []string
}

// asks opens the account of a request: what is spent, and what may still come of all that are open, is within the limit.
func (a *account) asks(r *llmtest.Request, bill []llmtest.Charge) {
	if a.limit == 0 {
		return
	}
	longest, ok := a.longest(r)
	if !ok {
		a.over = append(a.over, fmt.Sprintf("request %d has no max_completion_tokens", r.Number))
		return
	}
	if a.most == nil {
		a.most = map[int]int64{}
	}
	a.most[r.Number] = longest * a.prices(r.Model).Output // and what it sends: cached it costs next to nothing
	spent, open := int64(0), int64(0)
	for i := range bill {
		spent += bill[i].Nano
		delete(a.most, bill[i].Number)
	}
	for _, n := range a.most {
		open += n
	}
	if spent+open > a.limit {
		a.over = append(a.over, fmt.Sprintf("request %d: $%.6f are spent, and %d answers that are open may cost $%.6f: more than $%.6f",
			r.Number, float64(spent)/llmtest.Nano, len(a.most), float64(open)/llmtest.Nano, float64(a.limit)/llmtest.Nano))
	}
}

// longest returns how many tokens an answer may have, or is expected to have where the suite says that.
func (a *account) longest(r *llmtest.Request) (int64, bool) {
	if a.expects != nil {
		if n, ok := a.expects(r); ok {
			return n, true
		}
	}
	n, ok := r.Options["max_completion_tokens"].(float64)
	return int64(n), ok
}

// Limit bounds what the server may have charged, and still charge for answers that are open, in US dollars; 0: it does not.
func (p *Provider) Limit(usd float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.account.limit = int64(usd * llmtest.Nano)
}

// Over returns the requests that went beyond the limit, and why.
func (p *Provider) Over() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.account.over)
}
