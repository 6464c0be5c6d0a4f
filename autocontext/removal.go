package autocontext

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// removed masks the tool results in the stretch that the guard removed, whatever the settings say.
func removed(_ *cascade.Intra, i int, n *node, m *state) (shape, bool) {
	r := m.carry.Removed
	return shape{form: FormMasked, reason: ReasonRemoved, bare: true}, r != nil && r.From <= i && i < r.To && isToolResult(n)
}

// removeByLevel removes tool results from the middle outward, by the guard's levels, until the
// request has target tokens, and returns the level: the middle is missed least.
func (g *guard) removeByLevel(target int64) int {
	level := 0
	list := g.removable()
	if len(list) == 0 {
		return 0
	}
	for _, level = range g.settings.Policy.Guard.RemovalLevels {
		k := (len(list)*level + 99) / 100
		if k == 0 {
			continue
		}
		first := (len(list) - k) / 2
		g.remove(list[first], list[first+k-1]+1, level)
		if g.size() <= target {
			break
		}
	}
	return level
}

// removeOldest removes the oldest tool results until the request has target tokens, if any.
func (g *guard) removeOldest(target int64) bool {
	list := g.removable()
	size := g.size()
	for at, i := range list {
		n := &g.nodes[i]
		size -= g.scaled(g.count.of(&n.cur) - g.count.of(new(g.make(i, shape{form: FormMasked, reason: ReasonRemoved, bare: true}))))
		if size <= target || at == len(list)-1 {
			g.remove(0, i+1, 100)
			return true
		}
	}
	return false
}

// remove takes the tool results out of a stretch joined with what was removed before.
func (g *guard) remove(from, to, level int) {
	r := &echo.Removal{From: from, To: to, Level: level}
	if old := g.carry.Removed; old != nil {
		r.From, r.To, r.Level = min(from, old.From), max(to, old.To), max(level, old.Level)
	}
	g.carry.Removed = r
	g.reshape()
}

// removable lists the tool results but those among the newest messages.
func (g *guard) removable() []int {
	var list []int
	end := len(g.nodes) - g.settings.Policy.Guard.KeepRecentMessages
	for i := 0; i < end; i++ {
		if n := &g.nodes[i]; isToolResult(n) && n.cur.sent != nil && !g.survives(i) {
			list = append(list, i)
		}
	}
	return list
}

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

// cutOversize cuts tool results, the largest first, until the request has less than compact_percent of the limit.
func (g *guard) cutOversize() {
	most := percent(g.limit(), g.settings.Policy.Guard.CompactPercent)
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
		long := n.cur.form.whole() && !shorter(n.msg.Text(), limit+1) || n.cur.form == FormExcerpt && n.cur.limit > limit
		if to := cutTo(&g.carry, i); isToolResult(n) && long && !n.pinned && n.cur.tokens > largest && (to < 0 || to > limit) {
			at, largest = i, n.cur.tokens
		}
	}
	return at
}

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
