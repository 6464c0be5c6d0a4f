package autocontext

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// made is a shape that was applied to a message.
type made struct {
	shape
	asked  shape // what was to be done; shape says what came of it
	sent   *echo.Message
	after  []*echo.Message
	tokens int64
}

// same reports whether two mades send the same bytes.
func (m *made) same(o *made) bool {
	return sameMessage(m.sent, o.sent) && slices.EqualFunc(m.after, o.after, sameMessage)
}

func sameMessage(a, b *echo.Message) bool {
	return a == b || a != nil && b != nil && a.Digest() == b.Digest()
}

// make carries a shape out on message i, which is sent in full when that is no shorter.
func (d *draft) make(i int, s shape) made {
	n := &d.nodes[i]
	m := made{shape: s, asked: s}
	if s.form == FormDropped || s.form == FormSummary {
		m.sent = d.standIn(i, s)
		return d.withAfter(i, m)
	}
	switch s {
	case n.cur.asked:
		return n.cur
	case n.next.asked:
		return n.next
	}
	m.sent = n.full()
	if s.form != FormFull {
		m.sent = cut(n, s, d.settings.Dialect, d.settings.FailuresInText)
		if m.sent == nil { // nothing is left to say
			m.form = FormDropped
			return d.withAfter(i, m)
		}
		if n.foreign != "" && d.settings.NameText {
			m.sent = isolated(m.sent)
		}
		m.sent = n.as.in(m.sent)
		if Tokens(d.render.message(m.sent)) >= n.size && !mustCut(n, s) {
			m.sent = n.full()
			m.shape = full(uncut(s))
		}
	}
	if n.foreign != "" {
		m.sent = isolated(m.sent)
	}
	if m.form == FormFull && m.sent != n.full() && d.settings.NameText {
		m.form = FormText
	}
	return d.withAfter(i, m)
}

// full is what is sent for a message when nothing of it is left out.
func (n *node) full() *echo.Message {
	if n.own != nil {
		return n.own
	}
	return n.meant()
}

// meant is the message as models may know it: without what it quotes of what a person has taken out.
func (n *node) meant() *echo.Message {
	if n.instead != nil {
		return n.instead
	}
	return n.msg
}

// mustCut reports whether an answer of an earlier attempt loses its calls with their results.
func mustCut(n *node, s shape) bool { return s.reason == ReasonRetry && len(n.msg.ToolCalls()) > 0 }

func uncut(s shape) Reason {
	if s.reason == ReasonRetry {
		return ReasonRetry
	}
	return ReasonSmall
}

func cut(n *node, s shape, told dialect.Dialect, inText bool) *echo.Message {
	m := n.meant()
	switch {
	case s.form == FormStub:
		return stub(m, s.limit, told)
	case s.form == FormMasked && m.Role() == echo.RoleAssistant:
		return withText(m, leftOut(m))
	case s.form == FormMasked && s.bare:
		return bare(m)
	case s.form == FormMasked && s.reason == ReasonDuplicate:
		return sameAsLater(m)
	case s.form == FormMasked:
		return placeholder(m)
	case isToolResult(n) && n.failed(inText) && !m.Failed():
		return excerptAround(m, s.limit)
	case s.reason == ReasonRetry:
		d := m.Derived()
		if d.ToolCalls = nil; m.Text() == "" {
			return nil
		}
		return excerpt(echo.Seal(d), s.limit)
	}
	return excerpt(m, s.limit)
}

// withAfter adds what the group of a message lacks, and counts what is sent.
func (d *draft) withAfter(i int, m made) made {
	n := &d.nodes[i]
	if m.form != FormDropped && m.form != FormSummary && len(n.after) > 0 && m.reason != ReasonRetry {
		m.after = n.after
		if n.foreign != "" {
			m.after = isolateAll(n.after)
		}
		if m.form.whole() {
			m.reason = ReasonRepaired
		}
	}
	m.tokens = 0
	switch m.sent {
	case nil:
	case n.full():
		m.tokens = n.size
	default:
		m.tokens = Tokens(d.render.message(m.sent))
	}
	for _, a := range m.after {
		m.tokens += Tokens(d.render.message(a))
	}
	return m
}
