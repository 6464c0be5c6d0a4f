package autocontext

import (
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// slid leaves out the turns that a token_budget let go.
func slid(_ *cascade.Intra, _ int, n *node, m *moment) (shape, bool) {
	if n.turn > 0 && n.turn <= m.carry.Slid {
		return shape{form: FormDropped, reason: ReasonSlid}, true
	}
	return shape{}, false
}

// slide leaves out whole turns, the oldest first, until the request has target tokens. The newest turn stays. It reports
// whether it left out any.
func (b *Builder) slide(target int64) bool {
	size := b.size()
	upto := b.carry.Slid
	for t := upto + 1; t < len(b.turns) && size > target; t++ {
		for i := b.turns[t-1]; i < b.turns[t]; i++ {
			if !b.survives(i, &b.moment) {
				size -= b.scaled(b.countMade(&b.nodes[i].cur))
			}
		}
		upto = t
	}
	if upto == b.carry.Slid {
		return false
	}
	b.carry.Slid = upto
	b.reshape()
	return true
}

// slidNote stands for the turns that were left out.
func slidNote(turns int) *echo.Message {
	return echo.NewText(echo.RoleUser, echo.KindNotice,
		fmt.Sprintf("[The first %d turns of this conversation are left out, to stay within its token budget.]", turns))
}
