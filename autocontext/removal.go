package autocontext

import (
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
