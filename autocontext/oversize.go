package autocontext

import (
	"slices"

	"github.com/windlass-run/windlass/cascade"
)

// oversizeLimit is the length to which a tool result is cut that alone would not fit, in characters.
const oversizeLimit = 4000

// oversize cuts tool results that alone would not have fitted.
func oversize(_ *cascade.Intra, i int, n *node, m *moment) (shape, bool) {
	if !slices.Contains(m.carry.Cut, i) {
		return shape{}, false
	}
	return shape{form: FormExcerpt, reason: ReasonOversize, limit: oversizeLimit}, isToolResult(n)
}

// cutOversize cuts tool results, the largest first, until the request has less than most tokens.
func (b *Builder) cutOversize(most int64) {
	for b.size() >= most {
		at, largest := -1, int64(0)
		for i := range b.nodes {
			n := &b.nodes[i]
			if isToolResult(n) && n.cur.sent == n.msg && n.cur.tokens > largest && !shorter(n.msg.Text(), oversizeLimit+1) &&
				!n.pinned && !slices.Contains(b.carry.Cut, i) {
				at, largest = i, n.cur.tokens
			}
		}
		if at < 0 {
			return
		}
		b.carry.Cut = append(slices.Clone(b.carry.Cut), at)
		b.reshapeOne(at)
	}
}
