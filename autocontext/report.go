package autocontext

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Report sums the view up for the record. Its spans name what changed since the call before.
func (v *View) Report() echo.Selection { return v.report }

func (b *Builder) report(shared, fullShared int64) echo.Selection {
	d := b.draft
	r := echo.Selection{
		FullHistorySize: d.full, ContextSize: d.sent, TokensSaved: d.full - d.sent,
		MessageCount: d.sends, MaskedCount: d.masked, SharedSize: shared, FullSharedSize: fullShared,
		Delta: d.view.before > 0,
	}
	if d.limit() > 0 {
		r.Limit = d.limit()
		if d.count.on || b.settings.Count == nil {
			r.RequestSize = d.size()
		}
	}
	if p := b.settings.Price; p != nil {
		r.PriceAs = p.As
		r.SentUSD = usd(p, d.sent, shared)
		r.FullUSD = usd(p, d.full, fullShared)
	}
	return r
}

func (it *Item) count() int {
	n := len(it.After)
	if it.Sent != nil {
		n++
	}
	return n
}

// usd is what a request costs when a part of it is read from the cache.
func usd(p *echo.Price, size, shared int64) *float64 {
	return new((float64(size-shared)*p.Input + float64(shared)*p.Cached) / 1e6)
}

// spans names the messages that are new or of which something else became than in the call before.
func (b *Builder) spans() []echo.Span {
	v := &b.draft.view
	slices.Sort(v.touched)
	var out []echo.Span
	for _, i := range slices.Compact(v.touched) {
		if n := &b.draft.nodes[i]; n.was.shape != n.cur.shape || !n.was.same(&n.cur) {
			out = v.extend(out, i)
		}
	}
	for i := v.before; i < len(v.Items); i++ {
		out = v.extend(out, i)
	}
	return out
}

// extend adds item i to the last span when it continues it, else begins one.
func (v *View) extend(spans []echo.Span, i int) []echo.Span {
	it := &v.Items[i]
	last := len(spans) - 1
	if last < 0 || !continues(&spans[last], i, it) {
		s := echo.Span{From: i, Form: string(it.Form), Reason: string(it.Reason)}
		if !it.plain() {
			s.Sent = [][]*echo.Message{}
		}
		spans = append(spans, s)
		last++
	}
	s := &spans[last]
	s.Count++
	s.Hashes = append(s.Hashes, it.Message.Hash())
	s.Tokens = append(s.Tokens, it.Tokens)
	if s.Sent != nil {
		s.Sent = append(s.Sent, it.messages(nil))
	}
	return spans
}

func continues(s *echo.Span, i int, it *Item) bool {
	return s.From+s.Count == i && s.Form == string(it.Form) && s.Reason == string(it.Reason) && (s.Sent == nil) == it.plain()
}

// messages appends what is sent for the item.
func (it *Item) messages(dst []*echo.Message) []*echo.Message {
	if it.Sent != nil {
		dst = append(dst, it.Sent)
	}
	return append(dst, it.After...)
}
