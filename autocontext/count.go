package autocontext

import "github.com/windlass-run/windlass/echo"

// counting sums up what a request has in tokens of the model, by [Settings.Count]. That may be a tokenizer, which takes
// its time: so it is only asked once a request may come near its limit, which its length in bytes tells, as no tokenizer
// makes more tokens than there are bytes. From then on each message is counted once. Without Count four bytes are a token.
// What is not exact is corrected by what the provider reported.
type counting struct {
	on  bool
	sum int64
}

// imageTokens is the most that an image is taken to cost, whose bytes say nothing of its tokens.
const imageTokens = 2000

func (k *counting) add(b *Builder, m *made) {
	if k.on {
		k.sum += b.countMade(m)
	}
}

func (k *counting) remove(b *Builder, m *made) {
	if k.on {
		k.sum -= b.countMade(m)
	}
}

// size returns the tokens of the request as it is counted here.
func (k *counting) size(b *Builder) int64 {
	if b.settings.Count == nil {
		return b.settings.Fixed + b.sent
	}
	if !k.on {
		k.on = true
		for i := range b.nodes {
			k.sum += b.countMade(&b.nodes[i].cur)
		}
	}
	return b.settings.Fixed + k.sum
}

// countMade counts what is sent for a message.
func (b *Builder) countMade(m *made) int64 {
	if b.settings.Count == nil {
		return m.tokens
	}
	n := int64(0)
	if m.sent != nil {
		n = b.settings.Count(b.render.message(m.sent))
	}
	for _, a := range m.after {
		n += b.settings.Count(b.render.message(a))
	}
	return n
}

// size returns the tokens of the request in the model's own count, as well as it is known.
func (b *Builder) size() int64 { return b.scaled(b.count.size(b)) }

// scaled corrects a count by what the provider counted: this request, or one before.
func (b *Builder) scaled(n int64) int64 {
	switch a := b.carry.Answered; {
	case a != nil && a.Actual > 0 && a.Counted > 0:
		return n * a.Actual / a.Counted
	case b.carry.Scale > 0:
		return n * b.carry.Scale / 1000
	}
	return n
}

// scale is the correction by what the provider counted of a request, for a thousand counted here. It is rounded up, so
// that a request is rather taken to be too large than too small.
func scale(actual, counted int64) int64 { return (actual*1000 + counted - 1) / counted }

// surelyBelow reports, without counting, that the request has less than n tokens.
func (b *Builder) surelyBelow(n int64) bool {
	if b.settings.Count == nil || b.count.on {
		return b.size() < n
	}
	return b.scaled(b.settings.Fixed+4*b.sent+int64(b.images)*imageTokens) < n
}

func imagesIn(m *echo.Message) int {
	n := 0
	for _, p := range m.Parts() {
		if p.Type == echo.PartImage {
			n++
		}
	}
	return n
}
