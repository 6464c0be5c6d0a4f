package autocontext

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// counting sums up a request's tokens by [Settings.Count], four bytes a token without it. A
// tokenizer takes time, so it is only asked, once a message, when the length in bytes comes near
// the limit. What is not exact is corrected by the provider's figures.
type counting struct {
	settings *Settings
	render   *Renderer
	on       bool
	sum      int64
}

// imageTokens is the most that an image is taken to cost, whose bytes say nothing of its tokens.
const imageTokens = 2000

func (k *counting) add(m *made) {
	if k.on {
		k.sum += k.of(m)
	}
}

func (k *counting) remove(m *made) {
	if k.on {
		k.sum -= k.of(m)
	}
}

func (k *counting) of(m *made) int64 {
	if k.settings.Count == nil {
		return m.tokens
	}
	n := int64(0)
	if m.sent != nil {
		n = k.one(m.sent)
	}
	for _, a := range m.after {
		n += k.one(a)
	}
	return n
}

func (k *counting) one(m *echo.Message) int64 {
	if r := m.Redacted(); r != nil && r.Tokens > 0 {
		return r.Tokens
	}
	return k.settings.Count(k.render.message(m))
}

func (d *draft) counted() int64 {
	k := &d.count
	if d.settings.Count == nil {
		return d.settings.Fixed + d.sent
	}
	if !k.on {
		k.on = true
		for i := range d.nodes {
			k.sum += k.of(&d.nodes[i].cur)
		}
	}
	return d.settings.Fixed + k.sum
}

// size returns the tokens of the request in the model's own count, as well as it is known.
func (d *draft) size() int64 { return d.scaled(d.counted()) }

// scaled corrects a count by what the provider counted: this request, or one before.
func (d *draft) scaled(n int64) int64 {
	switch a := d.carry.Answered; {
	case a != nil && a.Actual > 0 && a.Counted > 0:
		return n * a.Actual / a.Counted
	case d.carry.Scale > 0:
		return n * d.carry.Scale / 1000
	}
	return n
}

// scale is the correction by the provider's count, for a thousand counted here, rounded up.
func scale(actual, counted int64) int64 { return (actual*1000 + counted - 1) / counted }

// surelyBelow reports, without counting, that the request has less than n tokens.
func (d *draft) surelyBelow(n int64) bool {
	if d.settings.Count == nil || d.count.on {
		return d.size() < n
	}
	return d.scaled(d.settings.Fixed+4*d.sent+int64(d.images)*imageTokens) < n
}

func imagesIn(m *echo.Message) int {
	n := 0
	for _, p := range m.Parts() {
		if p.Type != echo.PartText {
			n++
		}
	}
	return n
}

// Most returns the most tokens that a message may take in a request: as it is, with other ids of calls,
// or written as text.
func (s *Settings) Most(r *Renderer, m *echo.Message) int64 {
	count := s.Count
	if count == nil {
		count = Tokens
	}
	n := count(r.message(m))
	if m.Role() == echo.RoleTool || len(m.ToolCalls()) > 0 {
		n = max(n, count(isolated(m)))
		if s.OwnIDs && r.dialect == dialect.Native {
			n = max(n, count(withOwnIDs(m)))
		}
	}
	return n
}
