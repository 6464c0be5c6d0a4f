package autocontext

import (
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// slid leaves out the turns that a token_budget let go.
func slid(_ *cascade.Intra, _ int, n *node, m *state) (shape, bool) {
	return shape{form: FormDropped, reason: ReasonSlid}, n.turn > 0 && n.turn <= m.carry.Slid
}

// slide leaves out the oldest whole turns until the request has target tokens, if there are any.
func (g *guard) slide(target int64) bool {
	size := g.size()
	upto := g.carry.Slid
	for t := upto + 1; t < len(g.turns) && size > target; t++ {
		for i := g.turns[t-1]; i < g.turns[t]; i++ {
			if !g.survives(i) {
				size -= g.scaled(g.count.of(&g.nodes[i].cur))
			}
		}
		upto = t
	}
	if upto == g.carry.Slid {
		return false
	}
	g.carry.Slid = upto
	g.reshape()
	return true
}

// slidNote is the message in place of turns left out, made once for each number of them.
type slidNote struct {
	message *echo.Message
	turns   int
}

func (n *slidNote) of(turns int) *echo.Message {
	if n.message == nil || n.turns != turns {
		text := fmt.Sprintf("[The first %d turns of this conversation are left out, to stay within its token budget.]", turns)
		n.message, n.turns = echo.NewText(echo.RoleUser, echo.KindNotice, text), turns
	}
	return n.message
}
