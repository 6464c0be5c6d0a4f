package sounding

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// minShared is how many tokens a prefix must have before providers keep it in their caches.
const minShared = 1024

// First is the first request of a candidate's conversation, and what came of it.
type First struct {
	Model    string
	Messages []*echo.Message
	Tools    [sha256.Size]byte         // their digest, see [effect.ModelRequest]
	Fixed    int64                     // tokens of the request without its messages
	Count    func(*echo.Message) int64 // nil: four bytes are a token
	Price    *echo.Price
	Usage    *echo.Usage // of the answer; nil: there is none
}

// shared returns how many tokens two first requests begin with alike, as the first one counts them.
func (f *First) shared(g *First) int64 {
	if f.Model != g.Model || f.Tools != g.Tools {
		return 0
	}
	n := f.Fixed
	for i := range min(len(f.Messages), len(g.Messages)) {
		a, b := f.Messages[i], g.Messages[i]
		if a.Digest() != b.Digest() {
			return n + f.tokens(a)*int64(alike(a.JSON(), b.JSON()))/int64(len(a.JSON()))
		}
		n += f.tokens(a)
	}
	return n
}

// alike returns how many bytes two texts begin with alike.
func alike(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func (f *First) tokens(m *echo.Message) int64 {
	if f.Count == nil {
		return autocontext.Tokens(m)
	}
	return f.Count(m)
}

// worthIt reports whether waiting for a prefix of so many tokens saves money.
func (f *First) worthIt(shared int64) bool {
	return shared > minShared && f.Price != nil && f.Price.Cached < f.Price.Input
}

// Gate has candidates wait whose first request begins as that of another one does which is not answered
// yet, so that the provider has that prefix in its cache. It says when requests leave, and changes
// nothing that is recorded. Any goroutine may use it: the mutex guards waiting.
type Gate struct {
	mu      sync.Mutex
	waiting []*leader
}

// leader is the first request of its kind. begun is closed when its answer begins, or it has ended.
type leader struct {
	*First
	once  sync.Once
	begun chan struct{}
}

func (l *leader) open() { l.once.Do(func() { close(l.begun) }) }

// Enter returns when a first request may leave, or ctx ends. Leave is called when its call has ended.
func (g *Gate) Enter(ctx context.Context, f *First, req *effect.ModelRequest) (leave func(), err error) {
	before, l := g.join(f)
	if before != nil {
		select {
		case <-before.begun:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return func() {}, nil
	}
	if l == nil {
		return func() {}, nil
	}
	tell := req.OnDelta
	req.OnDelta = func(d effect.Delta) {
		if d.Text != "" || d.ToolCall != "" {
			l.open()
		}
		if tell != nil {
			tell(d)
		}
	}
	return l.open, nil
}

// join returns the leader that a request is to wait for, or makes it one.
func (g *Gate) join(f *First) (before, now *leader) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.waiting {
		if l.worthIt(l.shared(f)) {
			return l, nil
		}
	}
	now = &leader{First: f, begun: make(chan struct{})}
	g.waiting = append(g.waiting, now)
	return nil, now
}

// Saved returns what candidates saved that shared the beginning of their first requests, nil when none
// did. It follows from what is recorded: of those that share a prefix, the one that read least from the
// cache counts as the one that the others waited for.
func Saved(firsts []*First) *echo.Prefix {
	var out echo.Prefix
	known, usd := true, 0.0
	for _, g := range groupsOf(firsts) {
		out.Shared = max(out.Shared, g.shared)
		out.Waited += len(g.firsts) - 1
		cached, sound := cachedOf(g.firsts)
		out.Cached += cached
		known = known && sound
		usd += float64(float64(cached)*g.margin()) / 1e6
	}
	if out.Waited == 0 {
		return nil
	}
	if known {
		out.SavedUSD = &usd
	}
	return &out
}

// group are first requests that share a prefix, which one of them pays for all. It has at least two.
type group struct {
	firsts []*First
	shared int64 // tokens that all of them begin with
}

// margin returns what a million tokens cost less that come from the cache, in USD.
func (g *group) margin() float64 { return g.firsts[0].Price.Input - g.firsts[0].Price.Cached }

// groupsOf returns the first requests that share a prefix worth waiting for, in their order.
func groupsOf(firsts []*First) []group {
	var out []group
	left := append([]*First{}, firsts...)
	for len(left) > 0 {
		g, others := group{firsts: left[:1:1]}, []*First(nil)
		for _, f := range left[1:] {
			n := left[0].shared(f)
			if !left[0].worthIt(n) {
				others = append(others, f)
				continue
			}
			if g.firsts = append(g.firsts, f); g.shared == 0 || n < g.shared {
				g.shared = n
			}
		}
		left = others
		if len(g.firsts) > 1 {
			out = append(out, g)
		}
	}
	return out
}

// Even returns what is to be added to the cost of each candidate with a first request, in USD, so that those
// which share a prefix have paid the same for it: which of them paid it is chance, and a choice by cost must
// not depend on that. The sum is 0.
func Even(firsts []*First) map[*First]float64 {
	out := map[*First]float64{}
	for _, g := range groupsOf(firsts) {
		saved, mean, calls := map[*First]float64{}, 0.0, 0
		for _, f := range g.firsts {
			if f.Usage == nil {
				continue // its call has failed
			}
			saved[f] = float64(float64(min(f.Usage.Cached, g.shared))*g.margin()) / 1e6
			mean += saved[f]
			calls++
		}
		for f, usd := range saved {
			out[f] = usd - mean/float64(calls)
		}
	}
	return out
}

// cachedOf returns the tokens that all but one of a group read from the cache; sound is false when the
// provider did not count those of some.
func cachedOf(group []*First) (cached int64, sound bool) {
	least := int64(-1)
	sound = true
	for _, f := range group {
		if f.Usage == nil {
			continue // its call has failed
		}
		sound = sound && !f.Usage.Estimated
		cached += f.Usage.Cached
		if least < 0 || f.Usage.Cached < least {
			least = f.Usage.Cached
		}
	}
	return cached - max(least, 0), sound
}
