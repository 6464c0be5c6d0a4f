package autocontext

import (
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// oversizeLimits are the lengths, in characters, to which results that do not fit are cut in turn.
var oversizeLimits = [...]int{4000, 1000, 300}

// oversize cuts tool results that alone would not have fitted, unless age cuts them shorter.
func oversize(p *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	limit := cutTo(m.carry, i)
	if limit < 0 || !isToolResult(n) {
		return shape{}, false
	}
	for _, pass := range [...]pass{aged, tiered} {
		if s, ok := pass(p, i, n, m); ok && (s.form == FormMasked || s.limit < limit) {
			return s, true
		}
	}
	return shape{form: FormExcerpt, reason: ReasonOversize, limit: limit}, true
}

// cutTo is the length to which a message is cut because it alone would not fit; -1: it is not.
func cutTo(c *echo.Carry, i int) int {
	if at := slices.IndexFunc(c.Cut, func(t echo.Cut) bool { return t.At == i }); at >= 0 {
		return c.Cut[at].To
	}
	return -1
}

// cutOversize cuts tool results, the largest first, until the request has less than most tokens.
func (g *guard) cutOversize(most int64) {
	for _, limit := range oversizeLimits {
		for g.size() >= most {
			i := g.largestResult(limit)
			if i < 0 {
				break
			}
			cut := slices.DeleteFunc(slices.Clone(g.carry.Cut), func(t echo.Cut) bool { return t.At == i })
			cut = append(cut, echo.Cut{At: i, To: limit})
			g.carry.Cut = cut
			g.reshapeOne(i)
		}
	}
}

// largestResult returns the largest tool result sent with more than limit characters, or -1.
func (g *guard) largestResult(limit int) int {
	at, largest := -1, int64(0)
	for i := range g.nodes {
		n := &g.nodes[i]
		long := n.cur.form == FormFull && !shorter(n.msg.Text(), limit+1) || n.cur.form == FormExcerpt && n.cur.limit > limit
		if to := cutTo(&g.carry, i); isToolResult(n) && long && !n.pinned && n.cur.tokens > largest && (to < 0 || to > limit) {
			at, largest = i, n.cur.tokens
		}
	}
	return at
}
