package autocontext

import (
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// errorLimit is the length to which an old failure is cut, in characters.
const errorLimit = 800

// aged is the sliding window as of the frontier: tool results are masked, failures excerpted, long
// arguments and answers cut. What was selected of earlier phases is left alone: it matters.
func aged(p *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	if n.kept {
		return shape{}, false
	}
	switch n.msg.Role() {
	case echo.RoleTool:
		return agedResult(p, i, n, m)
	case echo.RoleAssistant:
		return agedAnswer(p, n, m.asOf-n.turn)
	}
	return shape{}, false
}

func agedResult(p *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	switch {
	case m.asOf-n.turn <= p.MaskAfter:
		return shape{}, false
	case spared(p, n) != "":
		return shape{}, false
	case n.msg.Failed() && p.PreserveErrors:
		limit := errorLimit
		if t, ok := tiered(p, i, n, m); ok { // what its tier has cut shorter does not grow again
			limit = min(limit, t.limit)
		}
		return shape{form: FormExcerpt, reason: ReasonError, limit: limit}, true
	}
	return shape{form: FormMasked, reason: ReasonAged}, true
}

func spared(p *cascade.Intra, n *node) Reason {
	switch {
	case excluded(p.ExcludeTools, n):
		return ReasonExcluded
	case shorter(n.msg.Text(), p.MinMaskedSize) && !hasImages(n.msg):
		return ReasonSmall
	}
	return ""
}

// stayed says of an old tool result that no other pass has shortened why it is sent as it is.
func stayed(p *cascade.Intra, _ int, n *node, m *state) (shape, bool) {
	if !isToolResult(n) || m.asOf-n.turn <= p.MaskAfter {
		return shape{}, false
	}
	why := spared(p, n)
	return full(why), why != ""
}

func agedAnswer(p *cascade.Intra, n *node, age int) (shape, bool) {
	limit := p.ReasoningLimit
	if !p.PreserveReasoning {
		limit = -1
	}
	switch {
	case age <= p.Window:
		return shape{}, false
	case len(n.msg.ToolCalls()) > 0:
		return shape{form: FormStub, reason: ReasonAged, limit: limit}, true
	case limit < 0:
		return shape{form: FormMasked, reason: ReasonAged}, true
	}
	return shape{form: FormExcerpt, reason: ReasonAged, limit: limit}, true
}

func shorter(s string, n int) bool {
	return len(s) < n || len(s) < 4*n && utf8.RuneCountInString(s) < n
}

func hasImages(m *echo.Message) bool { return imagesIn(m) > 0 }
