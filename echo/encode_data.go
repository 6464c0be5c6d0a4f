package echo

import "encoding/json"

// appender is a payload that a turn may write: it is encoded without reflection.
type appender interface{ append(w *writer) }

// encodePayload returns what [json.Marshal] makes of a payload.
func encodePayload(p Payload) (json.RawMessage, error) {
	if a, ok := p.(appender); ok {
		w := writer{buf: make([]byte, 0, 128)}
		if a.append(&w); !w.refused {
			return w.buf, nil
		}
	}
	return json.Marshal(p)
}

func (c Carry) append(w *writer) { //nolint:funlen // a line for each member
	w.open()
	w.optNum("as_of", int64(c.AsOf))
	w.optNum("sent", int64(c.Sent))
	w.optNum("debt", c.Debt)
	w.optNum("paid", c.Paid)
	w.optNum("full", c.Full)
	w.optNum("cleared", int64(c.Cleared))
	if r := c.Removed; r != nil {
		w.key("removed")
		w.open()
		w.num("from", int64(r.From))
		w.num("to", int64(r.To))
		w.num("level", int64(r.Level))
		w.close()
	}
	w.optNum("slid", int64(c.Slid))
	w.optSummary(c.Summary)
	optList(w, "cut", c.Cut, func(c *Cut) {
		w.open()
		w.num("at", int64(c.At))
		w.num("to", int64(c.To))
		w.close()
	})
	w.optBool("warned", c.Warned)
	w.optBool("told", c.Told)
	w.optNum("scale", c.Scale)
	w.optNum("acting", c.Acting)
	w.optBool("cold", c.Cold)
	w.optNum("ceiling", c.Ceiling)
	w.optNum("refused", int64(c.Refused))
	w.optNum("summaries", int64(c.Summaries))
	w.optNum("recounts", int64(c.Recounts))
	if a := c.Answered; a != nil {
		w.key("answered")
		w.open()
		w.optNum("counted", a.Counted)
		w.optNum("actual", a.Actual)
		w.optSummary(a.Summary)
		w.close()
	}
	w.close()
}

func (w *writer) optSummary(s *Summary) {
	if s == nil {
		return
	}
	w.key("summary")
	w.open()
	w.num("covers", int64(s.Covers))
	w.str("hash", string(s.Hash))
	w.str("by", s.By)
	w.close()
}

func (g Guard) append(w *writer) {
	w.open()
	w.str("event", string(g.Event))
	w.num("tokens", g.Tokens)
	w.optNum("before", g.Before)
	w.num("limit", g.Limit)
	w.optStr("detail", g.Detail)
	w.close()
}

func (m ModelCall) append(w *writer) {
	if w.refused = w.refused || m.Thought != nil; w.refused {
		return
	}
	w.open()
	w.optStr("model", m.Model)
	w.optStr("finish_reason", m.FinishReason)
	w.optNum("retries", int64(m.Retries))
	optList(w, "retry_kinds", m.RetryKinds, func(k *ModelErrorKind) { w.buf = appendHTMLString(w.buf, string(*k)) })
	w.optNum("cache_written", m.CacheWritten)
	w.optStr("ignored", m.Ignored)
	w.optNum("status", int64(m.Status))
	w.optStr("hint", m.Hint)
	w.optBool("failed", m.Failed)
	w.close()
}

func (v Verdict) append(w *writer) {
	if w.refused = w.refused || v.Ward != "" || v.Mode != "" || v.CostUSD != nil; w.refused {
		return
	}
	w.open()
	w.str("reason", v.Reason)
	w.bool("valid", v.Valid)
	w.str("validator", v.Validator)
	w.close()
}

func (s State) append(w *writer) {
	w.open()
	w.str("key", s.Key)
	w.key("value")
	w.any(s.Value)
	w.close()
}

func (c CalloutMark) append(w *writer) {
	w.open()
	w.str("name", c.Name)
	w.close()
}

func (v Warning) append(w *writer) {
	if w.refused = w.refused || v.Fallback != nil; w.refused { // too rare
		return
	}
	w.open()
	w.str("message", v.Message)
	w.close()
}

func (c Clock) append(w *writer) { w.number(float64(c)) }

func (b BackgroundTotals) append(w *writer) {
	w.open()
	w.num("model_calls", int64(b.Calls))
	w.key("usage")
	w.usage(&b.Usage)
	w.float("cost_usd", b.CostUSD)
	w.num("unknown_costs", int64(b.UnknownCosts))
	w.optBool("scripted", b.Scripted)
	w.optBool("limited_usd", b.Limited)
	w.close()
}

func (i Idle) append(w *writer) {
	w.open()
	w.float("idle_seconds", i.Seconds)
	w.close()
}
