package echo

import (
	"strconv"
	"time"
)

func (w *writer) entry(e *Entry) {
	w.open()
	w.str("session_id", e.SessionID)
	w.key("seq")
	w.buf = strconv.AppendUint(w.buf, e.Seq, 10)
	w.key("at")
	w.at(e.At)
	w.str("node_type", string(e.NodeType))
	w.str("key", e.Key.text)
	w.optStr("cascade_id", e.CascadeID)
	w.optStr("phase", e.Phase)
	w.optNum("attempt", int64(e.Attempt))
	w.optNum("turn", int64(e.Turn))
	w.optNum("sounding", int64(e.Sounding))
	if e.Message != nil {
		w.key("message")
		w.draft(&e.Message.draft)
	}
	w.optStr("content_hash", string(e.ContentHash))
	w.outcome(e)
	w.optRaw("data", e.Data)
	w.close()
}

// at appends a time, which JSON can express in the years up to 9999.
func (w *writer) at(t time.Time) {
	w.buf = append(w.buf, '"')
	text, err := t.AppendText(w.buf)
	if err != nil {
		w.refused = true
		return
	}
	w.buf = text
	w.buf = append(w.buf, '"')
}

// outcome appends what an entry has of a call and of a selection.
func (w *writer) outcome(e *Entry) {
	w.optStr("model", e.Model)
	w.optStr("provider", e.Provider)
	w.optBool("scripted", e.Scripted)
	if e.Usage != nil {
		w.key("usage")
		w.usage(e.Usage)
	}
	w.optFloatAt("cost_usd", e.CostUSD)
	if p := e.Pretend; p != nil {
		w.key("pretend")
		w.open()
		w.str("model", p.Model)
		w.float("usd", p.USD)
		w.close()
	}
	w.optFloat("duration_ms", e.DurationMS)
	w.optStr("request_hash", e.RequestHash)
	if t := e.Tool; t != nil {
		w.key("tool")
		w.open()
		w.str("name", t.Name)
		w.str("call_id", t.CallID)
		w.str("arguments", t.Arguments)
		w.close()
	}
	if e.Selection != nil {
		w.key("selection")
		w.selection(e.Selection)
	}
	if f := e.Error; f != nil {
		w.key("error")
		w.open()
		w.str("kind", f.Kind)
		w.str("message", f.Message)
		w.close()
	}
}

func (w *writer) usage(u *Usage) {
	w.open()
	w.num("in", u.In)
	w.optNum("cached", u.Cached)
	w.num("out", u.Out)
	w.optNum("reasoning", u.Reasoning)
	w.optBool("estimated", u.Estimated)
	w.close()
}

func (w *writer) message(m *Message) {
	if m == nil {
		w.buf = append(w.buf, "null"...)
		return
	}
	w.draft(&m.draft)
}

func (w *writer) draft(d *Draft) {
	w.open()
	w.str("role", string(d.Role))
	optList(w, "parts", d.Parts, func(p *Part) {
		w.open()
		w.str("type", string(p.Type))
		w.optStr("text", p.Text)
		w.optStr("url", p.URL)
		w.optStr("name", p.Name)
		w.close()
	})
	optList(w, "tool_calls", d.ToolCalls, func(c *ToolCall) {
		w.open()
		w.str("id", c.ID)
		w.str("name", c.Name)
		w.str("arguments", c.Arguments)
		w.close()
	})
	w.optStr("tool_call_id", d.ToolCallID)
	w.optStr("kind", string(d.Kind))
	w.optStr("tool", d.Tool)
	w.optBool("failed", d.Failed)
	if r := d.Redacted; r != nil {
		w.key("redacted")
		w.any(r)
	}
	w.close()
}

func (w *writer) selection(s *Selection) {
	w.open()
	w.num("full_history_size", s.FullHistorySize)
	w.num("context_size", s.ContextSize)
	w.num("tokens_saved", s.TokensSaved)
	w.num("message_count", int64(s.MessageCount))
	w.num("masked_count", int64(s.MaskedCount))
	w.num("shared_size", s.SharedSize)
	w.num("full_shared_size", s.FullSharedSize)
	w.optFloatAt("sent_usd", s.SentUSD)
	w.optFloatAt("full_usd", s.FullUSD)
	w.optStr("price_as", s.PriceAs)
	w.optNum("request_size", s.RequestSize)
	w.optNum("limit", s.Limit)
	w.optBool("delta", s.Delta)
	w.key("spans")
	list(w, s.Spans, w.span)
	w.close()
}

func (w *writer) span(s *Span) {
	w.open()
	w.num("from", int64(s.From))
	w.num("count", int64(s.Count))
	w.str("form", s.Form)
	w.str("reason", s.Reason)
	w.key("hashes")
	list(w, s.Hashes, func(h *Hash) { w.buf = appendHTMLString(w.buf, string(*h)) })
	w.key("tokens")
	list(w, s.Tokens, func(n *int64) { w.buf = strconv.AppendInt(w.buf, *n, 10) })
	optList(w, "sent", s.Sent, func(ms *[]*Message) {
		list(w, *ms, func(m **Message) { w.message(*m) })
	})
	w.close()
}
